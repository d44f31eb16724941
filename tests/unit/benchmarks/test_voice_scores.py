"""How the voice benchmark counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from voice import house
from voice.scores import is_command, plain, wrong_words
from voice.sounds import HOUSES, lines
from voice.understanding import Claim, claims

OTHERS = (Path(house.__file__).parent / "others.txt").read_text(encoding="utf-8").splitlines()


def test_every_command_is_one_and_no_other_sentence_is() -> None:
    assert len(house.COMMANDS) == 20
    assert all(map(is_command, house.COMMANDS))
    assert len(set(OTHERS)) == 200
    assert not any(map(is_command, OTHERS))
    assert not is_command("")


@pytest.mark.parametrize("some", HOUSES.values(), ids=HOUSES)
def test_every_house_has_its_own_commands_and_a_turn_understands_them(some: house.House) -> None:
    assert all(is_command(command, some) for command in some.commands)
    assert not any(
        is_command(text, some) for text in (*lines(some.others), *lines(some.near)) if not text.startswith("who was")
    )
    assert all(claim is not None for claim in claims(some, [[command] for command in some.commands]))
    for other in HOUSES.values():
        assert other is some or not {*map(str.lower, some.commands)} & {*map(str.lower, other.commands)}


def test_what_was_understood_is_the_intent_and_its_slots() -> None:
    said = [
        ["Dim the office lights to 30 percent."],
        ["turn the lamp", "turn off the kitchen light"],
        ["bla bla"],
        [],
    ]
    found = claims(house.BENCHMARK, said)
    assert found == [
        Claim("light.dim", (("level", "thirty"), ("room", "office"))),
        Claim("light.off", (("room", "kitchen"),)),
        None,
        None,
    ]


def test_figures_count_as_the_words_people_say() -> None:
    assert is_command("Dim the living room lights to 30%.")
    assert plain("What's 21 degrees?") == ["what", "is", "twenty", "one", "degrees"]


def test_wrong_words_are_counted() -> None:
    assert wrong_words("turn on the light", "Turn on the light.") == 0
    assert wrong_words("turn on the light", "turn the lights") == 2
    assert wrong_words("stop", "") == 1


def test_what_the_house_registers_names_its_slots() -> None:
    sent = list(house.BENCHMARK.registrations())
    assert ("ovos.entity.register", "light.skill") in {(topic, data["skill_id"]) for topic, data in sent}
