"""A folder that Python imports from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that Python imports from: a package, a module, and a package in a name that many share."""
    for name, text in {
        "ed_pack/__init__.py": "from . import part\n",
        "ed_pack/part.py": "value = 1\n",
        "ed_module.py": "value = 1\n",
        "ed_shared/theirs/__init__.py": "",
        "ed_shared/theirs/plugin.py": "value = 1\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("ed_")]:
        del sys.modules[name]
