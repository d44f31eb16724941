"""A claim, and what is wrong with it."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Any

import pytest

from hark.model import Match, Session

GOOD: dict[str, Any] = {
    "skill_id": "clock.skill",
    "intent_name": "time",
    "lang": "en-US",
    "utterance": "what time is it",
}


class Mean:
    def __repr__(self) -> str:
        raise RuntimeError

    def __bool__(self) -> bool:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = object.__hash__


class Text(str):
    pass


class MeanDict(dict[Any, Any]):
    def keys(self) -> Any:
        raise RuntimeError

    __iter__ = items = values = keys


ANYTHING = [None, 7, 1.5, True, b"x", [], ["a"], {}, {"a": "b"}, object(), Mean(), Text("clock")]


@pytest.mark.spec("PIPELINE-1/4.1.a")
def test_a_claim_with_its_five_fields_has_no_defect() -> None:
    match = Match(**GOOD, slots={"when": "now", "where": "São Paulo 🦜"})

    assert match.defect() is None
    assert match.topic == "clock.skill:time"
    assert Match(**GOOD).slots == {}
    assert Match(**GOOD, updated_session=Session("x")).defect() is None


@pytest.mark.parametrize("value", ANYTHING, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", GOOD)
def test_a_field_that_is_no_text_is_a_defect_and_never_an_error(name: str, value: Any) -> None:
    defect = Match(**{**GOOD, name: value}).defect()

    assert defect is not None
    assert defect == f"{name} must be text, not {type(value).__name__}"


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("skill_id", "", "dispatch topic"),
        ("skill_id", "a:b", "dispatch topic"),
        ("skill_id", "a b", "dispatch topic"),
        ("skill_id", "\ud800", "dispatch topic"),
        ("intent_name", "", "dispatch topic"),
        ("intent_name", "a:b", "dispatch topic"),
        ("intent_name", "a.", "dispatch topic"),
        ("lang", "", "BCP-47"),
        ("lang", "english!", "BCP-47"),
        ("lang", "en_US", "BCP-47"),
        ("utterance", "", "empty"),
        ("utterance", "\ud800", "surrogate"),
    ],
)
def test_a_text_of_the_wrong_shape_is_a_defect(name: str, value: str, complaint: str) -> None:
    defect = Match(**{**GOOD, name: value}).defect()

    assert defect is not None
    assert complaint in defect


@pytest.mark.parametrize(
    ("slots", "complaint"),
    [
        (None, "NoneType"),
        (7, "int"),
        ([("a", "b")], "list"),
        ("ab", "str"),
        (Mean(), "Mean"),
        ({"a": 1}, "slot 'a' must be text, not int"),
        ({"a": None}, "slot 'a' must be text, not NoneType"),
        ({"a": ["b"]}, "slot 'a' must be text, not list"),
        ({"a": Mean()}, "slot 'a' must be text, not Mean"),
        ({1: "a"}, "not int"),
        ({None: "a"}, "not NoneType"),
        ({Mean(): "a"}, "not Mean"),
        ({"a": "\ud800"}, "surrogate"),
        ({"\ud800": "a"}, "surrogate"),
        (MeanDict(a=1), "slot 'a' must be text, not int"),
        (defaultdict(list, a=[1]), "slot 'a' must be text, not list"),
    ],
)
def test_slots_that_are_not_text_to_text_are_a_defect(slots: Any, complaint: str) -> None:
    defect = Match(**GOOD, slots=slots).defect()

    assert defect is not None
    assert complaint in defect


@pytest.mark.parametrize("slots", [OrderedDict(a="b"), defaultdict(str, a="b"), MeanDict(a="b")])
def test_any_dict_of_text_to_text_will_do_for_slots(slots: Any) -> None:
    match = Match(**GOOD, slots=slots)

    assert match.defect() is None
    assert match.slots == {"a": "b"}


@pytest.mark.parametrize("session", [{}, {"session_id": "x"}, "x", 7, [], Mean()])
def test_an_updated_session_that_is_no_session_is_a_defect(session: Any) -> None:
    defect = Match(**GOOD, updated_session=session).defect()

    assert defect is not None
    assert type(session).__name__ in defect


def test_a_claim_does_not_change() -> None:
    slots = {"a": "b"}
    match = Match(**GOOD, slots=slots)
    slots["a"] = "c"

    assert match.slots == {"a": "b"}
    with pytest.raises(TypeError):
        match.slots["a"] = "c"  # type: ignore[index]
    with pytest.raises(AttributeError):
        match.lang = "pt-PT"  # type: ignore[misc]


def test_a_copy_may_differ() -> None:
    match = Match(**GOOD, slots={"a": "b"})

    assert match.replace(lang="pt-PT").lang == "pt-PT"
    assert match.replace(slots={"x": "y"}).with_slots(a="c").slots == {"x": "y", "a": "c"}
    assert match.with_slots(c="d").slots == {"a": "b", "c": "d"}
    assert match.with_slots().slots == match.slots
    with pytest.raises(TypeError):
        match.replace(slots={"x": "y"}).slots["x"] = "z"  # type: ignore[index]
    assert match == Match(**GOOD, slots={"a": "b"})
    assert hash(match) == hash(Match(**GOOD, slots={"a": "b"}))
