"""What may be said that is nearly what was heard."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_lowercase

import pytest

from hark.builtin.engines.speech_grammar.grammar import SpokenTemplate, grammar_of
from hark.builtin.engines.speech_grammar.graph import WordGraph
from hark.builtin.engines.speech_grammar.nearest import nearest
from hark.builtin.engines.speech_grammar.spoken_forms import read_aloud, rewritten

VALUES = {"room": ("kitchen", "living room", "attic"), "device": ("dishwasher", "ceiling fan")}


def graph(*templates: str) -> WordGraph:
    return grammar_of(
        SpokenTemplate(text, "en-US", lambda slot: VALUES.get(slot, ()), fill=True) for text in templates
    ).graph


HOUSE = graph(
    "turn the {device} (on|off)",
    "dim the {room} lights to {number:level} percent",
    "what are the headlines",
    "add {text} to my to do list",
    "is susan at home",
)


def like(text: str, share: float = 0.4, most: int = 3) -> list[str]:
    return [" ".join(near.words) for near in nearest(HOUSE, read_aloud(text, "en-US"), share, most)]


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        ("turn the dish wash your off", "turn the dishwasher off"),
        ("Turn the sealing fan on.", "turn the ceiling fan on"),
        ("Dim the living womb lights to 30%", "dim the living room lights to thirty percent"),
        ("What on the headlines?", "what are the headlines"),
        ("It's using that home.", "is susan at home"),
    ],
)
def test_the_nearest_sentence_is_found(heard: str, meant: str) -> None:
    assert like(heard)[0] == meant


def test_what_may_be_said_as_it_is_costs_nothing() -> None:
    [first, *_] = nearest(HOUSE, ["turn", "the", "dishwasher", "off"], 0.4, 3)
    assert (first.cost, first.words) == (0.0, ("turn", "the", "dishwasher", "off"))


def test_an_open_slot_keeps_what_was_heard() -> None:
    assert like("at olive oil to my to do list")[0] == "add olive oil to my to do list"
    assert like("add to my to do list", share=0.0) == []


def test_letters_in_an_open_slot_do_not_make_a_sentence_more_like() -> None:
    long = "the man who came to dinner last sunday evening with his whole family"
    assert like(f"odd {long} on the top of this", share=0.2) == []


@pytest.mark.parametrize(
    "talk", ["we had dinner in the living room last night", "my neighbour bought a new bicycle", "", "yes"]
)
def test_other_talk_is_near_nothing(talk: str) -> None:
    assert like(talk, share=0.3) == []


def test_nearer_sentences_come_first_and_each_once() -> None:
    found = nearest(HOUSE, ["turn", "the", "dishwasher", "of"], 0.5, 5)
    assert [near.cost for near in found] == sorted(near.cost for near in found)
    assert len({near.words for near in found}) == len(found)
    assert " ".join(found[0].words) == "turn the dishwasher off"


def test_the_work_is_bounded_in_the_largest_grammar() -> None:
    compared: list[str] = []

    class Counted(str):
        """A word that notes which of its letters are looked at."""

        __slots__ = ()

        def __iter__(self) -> Iterator[str]:
            for letter in str(self):
                compared.append(letter)
                yield letter

    titles = [f"{one}{two}song" for one in ascii_lowercase for two in ascii_lowercase]
    many = WordGraph(({"play": 1}, {Counted(title): 2 for title in titles}, {}), frozenset({2}))
    nearest(many, ["play", "zzsing"], 0.4, 4, work=300)
    assert 250 < len(compared) <= 310
    compared.clear()
    assert nearest(many, ["play", "zzsing"], 0.4, 4, work=20_000)[0].words == ("play", "zzsong")
    assert len(compared) < 5_000


@pytest.mark.parametrize(
    ("text", "words", "written"),
    [
        ("Burn on the kitchen lights.", "turn on the kitchen lights", "Turn on the kitchen lights."),
        ("Then the lights to 30%.", "dim the lights to thirty percent", "Dim the lights to 30%."),
        ("dim the lights to 30%", "dim the lights to forty percent", "dim the lights to forty percent"),
        ("Set an alarming two hours.", "set an alarm in two hours", "Set an alarm in two hours."),
        ("What's on TV?", "what is on tv", "What's on TV?"),
        ("What's up", "what are the headlines", "What are the headlines"),
        ("", "lights out", "lights out"),
    ],
)
def test_as_little_as_possible_is_written_anew(text: str, words: str, written: str) -> None:
    assert rewritten(text, words.split(), "en-US") == written
    assert read_aloud(written, "en-US") == words.split()


def test_in_other_languages_figures_stay_figures() -> None:
    assert read_aloud("Licht auf 30%", "de-DE") == ["licht", "auf", "30%"]
