"""Every script the documentation shows can be played."""

import re
from pathlib import Path

import pytest

from hark.testing import play

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scripts.md"
SCRIPTS = re.findall(r"```talk\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_there_are_scripts() -> None:
    assert len(SCRIPTS) >= 5


@pytest.mark.parametrize("script", SCRIPTS, ids=range(1, len(SCRIPTS) + 1))
async def test_a_script_on_the_page_holds(script: str) -> None:
    await play(script)
