"""A command that is nearly as likely as what was heard was said."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hark.builtin.engines import rescoring
from hark.builtin.engines.speech_grammar.grammar import SpokenTemplate, grammar_of

GRAPH = grammar_of(
    SpokenTemplate(text, "en-US", lambda slot: ("kitchen", "attic") if slot == "room" else (), fill=True)
    for text in (
        "turn on the {room} lights",
        "lock the front door",
        "call my mother",
        "dim the lights to {number:n} percent",
    )
).graph


def preferred(heard: Sequence[str], margin: float, model: Model) -> str:
    return rescoring.rescore(GRAPH, heard, "en-US", margin, model)[0]


class Model:
    """Finds the first text this likely, and the others less likely by what is said here."""

    def __init__(self, **less: float) -> None:
        self.less = {text.replace("_", " "): number for text, number in less.items()}
        self.asked: list[Sequence[str]] = []

    def __call__(self, texts: Sequence[str]) -> Sequence[float]:
        self.asked.append(texts)
        return [-1.0 - self.less.get(text.lower().rstrip("."), 0.0 if text == texts[0] else 50.0) for text in texts]


def test_a_command_that_is_nearly_as_likely_was_said() -> None:
    model = Model(turn_on_the_kitchen_lights=4.0)
    heard = ["Burn on the kitchen lights."]
    assert preferred(heard, 5.0, model) == "Turn on the kitchen lights."
    assert preferred(heard, 3.0, model) == "Burn on the kitchen lights."


def test_the_model_decides_between_commands() -> None:
    model = Model(turn_on_the_kitchen_lights=4.0, turn_on_the_attic_lights=2.0)
    assert preferred(["turn on the kittick lights"], 5.0, model) == "turn on the attic lights"


def test_what_is_a_command_as_it_was_heard_is_not_asked_about() -> None:
    model = Model()
    assert preferred(["Lock the front door."], 5.0, model) == "Lock the front door."
    assert model.asked == []


@pytest.mark.parametrize(
    "talk",
    [
        "we had dinner in the kitchen",
        "nobody knows",
        "",
        "lock " * 17,  # nobody gives so long a command by mistake
    ],
)
def test_other_talk_costs_the_model_nothing(talk: str) -> None:
    model = Model()
    assert preferred([talk], 5.0, model) == talk
    assert model.asked == []


def test_what_was_heard_is_handed_on_as_well() -> None:
    model = Model(turn_on_the_kitchen_lights=4.0)
    handed_on = rescoring.rescore(GRAPH, ["Burn on the kitchen lights."], "en-US", 5.0, model)
    assert handed_on == ("Turn on the kitchen lights.", "Burn on the kitchen lights.")


def test_figures_are_handed_on_in_words_as_well() -> None:
    model = Model(**{"dim_the_lights_to_30%": 1.0})
    assert rescoring.rescore(GRAPH, ["Dim the lights to 30%."], "en-US", 5.0, model) == (
        "Dim the lights to 30%.",
        "dim the lights to thirty percent",
    )
    assert rescoring.rescore(GRAPH, ["Then the lights to 30%."], "en-US", 5.0, model) == (
        "Dim the lights to 30%.",
        "dim the lights to thirty percent",
        "Then the lights to 30%.",
    )


def test_a_near_miss_is_not_taken_for_the_command() -> None:
    model = Model(call_my_mother=9.0)
    assert preferred(["Call my brother."], 5.0, model) == "Call my brother."
    assert model.asked == [("Call my brother.", "Call my mother.")]


def test_another_reading_leads_to_a_command_that_the_first_is_not_like() -> None:
    model = Model(lock_the_front_door=3.0)
    heard = ["Like a frown store.", "like a frown store", "Lock the front store."]
    assert preferred(heard, 5.0, model) == "Lock the front door."
