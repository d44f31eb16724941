"""docs/assistant.md is written from the skills: every example on it is understood, and the page is up to date."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from hark.builtin import DEFAULT_PLUGINS, TemplateMatcher
from hark.plugins import Session
from hark.skills import Skill
from hark.testing import Assistant

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "assistant.md"


def test_the_page_is_what_the_script_writes() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts" / "assistant", "--check"], timeout=120, check=False)
    assert done.returncode == 0, "run scripts/assistant"


async def test_every_example_on_the_page_is_understood_by_its_skill() -> None:
    sections = re.split(r"^### ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
    examples = {part.split("\n")[0]: re.findall(r'^\| "(.*?)" \|', part, re.MULTILINE) for part in sections}
    assert examples
    skills = [kind() for kind in DEFAULT_PLUGINS if issubclass(kind, Skill)]
    async with Assistant(*skills) as assistant:
        matcher = next(one.plugin for one in assistant.runtime.pipeline if one.plugin.id == TemplateMatcher.id)
        wrong = {}
        for skill_id, said in examples.items():
            for text in said:
                found = matcher.match([text], "en-US", Session(), None)
                if getattr(found, "skill_id", None) != skill_id:
                    wrong[text] = found
    assert not wrong
