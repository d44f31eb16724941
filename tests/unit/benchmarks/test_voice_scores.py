"""How the voice benchmark counts."""

from __future__ import annotations

from pathlib import Path

from voice import house
from voice.scores import is_command, plain, wrong_words

OTHERS = (Path(house.__file__).parent / "others.txt").read_text(encoding="utf-8").splitlines()


def test_every_command_is_one_and_no_other_sentence_is() -> None:
    assert len(house.COMMANDS) == 20
    assert all(map(is_command, house.COMMANDS))
    assert len(set(OTHERS)) == 200
    assert not any(map(is_command, OTHERS))
    assert not is_command("")


def test_figures_count_as_the_words_people_say() -> None:
    assert is_command("Dim the living room lights to 30%.")
    assert plain("What's 21 degrees?") == ["what", "is", "twenty", "one", "degrees"]


def test_wrong_words_are_counted() -> None:
    assert wrong_words("turn on the light", "Turn on the light.") == 0
    assert wrong_words("turn on the light", "turn the lights") == 2
    assert wrong_words("stop", "") == 1


def test_what_the_house_registers_names_its_slots() -> None:
    sent = list(house.registrations())
    assert ("ovos.entity.register", "light.skill") in {(topic, data["skill_id"]) for topic, data in sent}
