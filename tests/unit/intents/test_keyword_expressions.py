"""Regular expressions in the vocabularies of keyword intents."""

from __future__ import annotations

from typing import Any

import pytest

from hark.intents.keyword import KeywordPool, Spotted, lookup_keywords
from hark.intents.keyword.expressions import compile_expression, without_lookarounds
from hark.intents.registration import Rejected
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.testing import FakeClock

SPELL = r"(spell the word|spelling of(?! the)|spell(?! the)) (?P<Word>\w+)"


def pool(*required: dict[str, Any]) -> KeywordPool:
    made = KeywordPool()
    data = {"skill_id": "spelling.skill", "intent_name": "spell", "lang": "en-US", "required": list(required)}
    assert made.apply(topics.REGISTER_KEYWORD, data, DEFAULT_SESSION_ID) == []
    return made


def found(made: KeywordPool, text: str) -> Spotted | str:
    return lookup_keywords(made, text, "en-US", Session(), FakeClock().wall)


def test_the_group_is_the_slot() -> None:
    made = pool({"name": "Spell", "samples": ["spell"]}, {"name": "Word", "samples": [], "patterns": [SPELL]})
    spotted = found(made, "please spell hello")
    assert isinstance(spotted, Spotted)
    assert spotted.slots == {"Spell": "spell", "Word": "hello"}
    assert isinstance(found(made, "spell"), str)


def test_an_intent_of_an_expression_alone_is_found() -> None:
    made = pool({"name": "Place", "samples": [], "patterns": [r"\b(at|in|for) (?P<Place>.*)"]})
    spotted = found(made, "weather in new york")
    assert isinstance(spotted, Spotted)
    assert spotted.slots == {"Place": "new york"}
    assert isinstance(found(made, "weather today"), str)


def test_phrases_and_expressions_of_one_vocabulary_both_count() -> None:
    made = pool({"name": "Place", "samples": ["home"], "patterns": [r"in (?P<Place>\w+)"]})
    for text, place in (("weather home", "home"), ("weather in lisbon", "lisbon")):
        spotted = found(made, text)
        assert isinstance(spotted, Spotted)
        assert spotted.slots == {"Place": place}


def test_words_beyond_ascii_keep_their_places() -> None:
    made = pool({"name": "Place", "samples": [], "patterns": [r"süden (?P<Place>\w+)"]})
    spotted = found(made, "über süden köln")
    assert isinstance(spotted, Spotted)
    assert spotted.slots == {"Place": "köln"}


@pytest.mark.parametrize("pattern", ["(?P<Word>", r"(?P<Word>a)\1", "(?P<Other>a)", "x" * 3_000, 5])
def test_what_cannot_be_searched_is_rejected(pattern: object) -> None:
    with pytest.raises(Rejected):
        compile_expression(pattern, "Word")


def test_conditions_on_what_is_around_are_left_out() -> None:
    assert without_lookarounds(r"a(?! (b|\)c))d(?<=e)f\(?!") == r"adf\(?!"


def test_no_expression_keeps_the_search_busy() -> None:
    expression = compile_expression(r"(?P<Word>(a+)+)$", "Word")
    assert list(expression.spans(["a" * 5_000 + "b"])) == [], "an engine that tries every way never comes to an end"
