"""`hark run --dev`, as people start it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flow.dev_rig import WEATHER
from flow.hark_process import World, eventually

SKY = WEATHER.replace("weather", "sky")  # there is a builtin weather skill
HOW = "how is the sky"

COUNTING = """
from hark.skills import Skill, intent


class Counting(Skill):
    id = "counting.skill"

    @intent("count")
    def count(self, turn) -> str:
        kept = self.host.data_dir / "count"
        number = int(kept.read_text()) + 1 if kept.exists() else 1
        kept.write_text(str(number))
        return f"WORD {number}."
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A home directory of its own."""
    made = World(tmp_path)
    made.write_settings('[assistant]\nfiles = ["sky.py"]\n')
    (made.settings.parent / "sky.py").write_text(SKY)
    return made


def test_lines_from_a_pipe_are_answered_by_what_was_saved_last(world: World) -> None:
    file = world.settings.parent / "sky.py"
    with world.running("run", "--dev") as hark:
        assert hark.say(HOW) == "Sunny."
        file.write_text(SKY.replace("Sunny", "Rainy"))
        assert eventually(lambda: hark.say(HOW) == "Rainy.")
        file.write_text(SKY.replace("class", "clas"))
        assert hark.say(HOW) == "Rainy."
        file.write_text(SKY.replace("Sunny", "Foggy"))
        assert eventually(lambda: hark.say(HOW) == "Foggy.")
        status, errors = hark.end()
    assert status == 0
    assert errors.count("hark: reloaded sky.skill (1 intent) in ") == 2


def test_what_is_kept_on_disk_survives_the_edit_of_an_installed_plugin(world: World) -> None:
    world.install("counting", COUNTING, "skill: Counting", "pipeline: Missing")
    file = world.site / "counting.py"
    with world.running("run", "--dev") as hark:
        assert hark.say("count") == "WORD 1."
        file.write_text(COUNTING.replace("WORD", "Number"))
        answers: list[str] = []

        def counted() -> bool:
            answers.append(hark.say("count"))
            return answers[-1].startswith("Number")

        assert eventually(counted)
        assert answers[-1] == f"Number {len(answers) + 1}."
        _, errors = hark.end()
    assert "reloaded counting.skill (1 intent) in " in errors
    assert "hark.pipeline missing is not loaded: importing it failed: AttributeError" in errors


def test_a_person_at_a_terminal_reads_what_came_of_a_save(world: World) -> None:
    file = world.settings.parent / "sky.py"
    with world.at_terminal("run", "--dev") as hark:
        hark.until("> ")
        file.write_text(SKY.replace("def now(self, turn)", "def now(self, turn"))
        told = hark.until("the old version stays in service")
        assert "sky.skill not reloaded: importing it failed: SyntaxError" in told
        assert f"{file}:8" in told.replace("\r\n", "")
        file.write_text(SKY.replace("Sunny", "Rainy"))
        hark.until("reloaded sky.skill (1 intent) in ")
        hark.write(HOW)
        hark.until("Rainy.")


def test_the_option_is_explained(world: World) -> None:
    shown = world.hark("run", "--help").stdout
    assert "--dev" in shown
    assert "the old version stays" in " ".join(shown.split())
