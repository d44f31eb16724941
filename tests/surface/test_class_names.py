"""One name, one class."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import hark


def test_every_public_class_name_exists_once() -> None:
    sources = Path(hark.__file__).parent.rglob("*.py")
    names = Counter(
        name for path in sources for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(), re.MULTILINE)
    )
    assert [name for name, count in names.items() if count > 1] == []
