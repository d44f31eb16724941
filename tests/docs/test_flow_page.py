"""Every file that docs/flow.md names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "flow.md").read_text()
FILES = sorted(set(re.findall(r"`([\w/]+\.py)`", PAGE)))


@pytest.mark.parametrize("file", FILES)
def test_a_file_of_the_page_exists(file: str) -> None:
    assert (ROOT / "src" / "hark" / file).is_file()


def test_the_page_answers_where_things_are() -> None:
    section = PAGE.partition("## Where is ...?")[2].partition("\n## ")[0]
    answers = re.findall(r"^\| Where .*\? \| `[\w/]+\.py` \|$", section, re.MULTILINE)
    assert len(answers) >= 10
