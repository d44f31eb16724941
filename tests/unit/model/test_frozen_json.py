"""Immutable JSON."""

from __future__ import annotations

import copy
import enum
import json
import pickle
import types
from collections import OrderedDict
from typing import Any

import msgspec
import pytest

from hark.model import Frozen, Handler, MalformedMessage, freeze, thaw
from hark.model.frozen import EMPTY, MAX_DEPTH, Sealed, adopt, freeze_object


class Colour(str, enum.Enum):  # noqa: UP042 (the older kind, whose str() is not its value)
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Ratio(float):
    def __float__(self) -> float:
        return 99.0


class Unclear(msgspec.Struct):
    what: object


WRITES: list[Any] = [
    lambda frozen: frozen.__setitem__("a", 2),
    lambda frozen: frozen.__delitem__("a"),
    lambda frozen: frozen.__ior__({"b": 1}),
    lambda frozen: frozen.update(b=1),
    lambda frozen: frozen.pop("a"),
    lambda frozen: frozen.popitem(),
    lambda frozen: frozen.clear(),
    lambda frozen: frozen.setdefault("b", 1),
]


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("kind", [Frozen, Sealed])
def test_every_write_is_refused(kind: Any, write: Any) -> None:
    frozen = kind({"a": 1})

    with pytest.raises(TypeError, match="frozen"):
        write(frozen)
    assert frozen == {"a": 1}


def test_a_frozen_object_takes_no_attributes() -> None:
    with pytest.raises(AttributeError):
        EMPTY.note = 1  # type: ignore[attr-defined]


def test_freezing_goes_all_the_way_down() -> None:
    frozen = freeze({"a": [{"b": [1, {}]}]})

    assert type(frozen) is Frozen
    assert type(frozen["a"]) is tuple
    assert type(frozen["a"][0]) is Frozen
    assert frozen == {"a": ({"b": (1, {})},)}


def test_what_was_frozen_does_not_follow_its_source() -> None:
    source: dict[str, Any] = {"a": [1], "b": {}}
    frozen = freeze(source)
    source["a"].append(2)
    source["b"]["c"] = 3

    assert frozen == {"a": (1,), "b": {}}


def test_what_is_frozen_already_is_shared() -> None:
    inner = freeze({"a": {"b": [1, {"c": 2}]}})

    assert freeze(inner) is inner
    assert freeze_object(inner) is inner
    assert freeze({"x": inner})["x"] is inner


def test_thawing_gives_a_copy_that_can_be_changed() -> None:
    frozen = freeze({"a": [{"b": 1}]})
    thawed = thaw(frozen)
    thawed["a"][0]["b"] = 2
    thawed["a"].append(3)

    assert thawed == {"a": [{"b": 2}, 3]}
    assert frozen == {"a": ({"b": 1},)}


def test_adopting_what_a_decoder_made_equals_freezing_it() -> None:
    wire = '{"a": [1, 2.5, null, true, "é", {"b": []}], "c": {"d": {}}}'

    assert adopt(json.loads(wire)) == freeze(json.loads(wire))
    assert type(adopt(json.loads(wire))["c"]["d"]) is Frozen
    assert type(adopt(json.loads(wire))["a"][5]["b"]) is tuple


@pytest.mark.parametrize(
    ("value", "plain"),
    [(Colour.RED, "red"), (Level.HIGH, 3), (Ratio(2.5), 2.5), (types.MappingProxyType({"a": 1}), {"a": 1})],
)
def test_a_relative_of_a_plain_value_becomes_the_plain_value(value: Any, plain: Any) -> None:
    frozen = freeze({"x": value})["x"]

    assert frozen == plain
    assert type(frozen) in (str, int, float, Frozen)


def test_a_key_that_is_a_relative_of_text_becomes_plain_text() -> None:
    (key,) = freeze({Colour.RED: 1})

    assert key == "red"
    assert type(key) is str


def test_an_ordered_dict_and_a_typed_record_are_objects() -> None:
    assert freeze([OrderedDict(a=1), Handler("a", 1.5)]) == ({"a": 1}, {"skill_id": "a", "activated_at": 1.5})


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        ((float("nan"),), "nan"),
        ([10**4300], "4300 digits"),
        ([-(10**4300)], "4300 digits"),
        ("\ud800", "lone surrogate"),
        ({"\udc00": 1}, "lone surrogate"),
        ({1: 2}, "key must be text, not int"),
        ({None: 2}, "key must be text, not NoneType"),
        ({("a",): 2}, "key must be text, not tuple"),
        (b"bytes", "bytes"),
        ({1, 2}, "set"),
        (object(), "object"),
        (1j, "complex"),
        (Unclear(object()), "Unclear"),
        (Unclear(float("nan")), "nan"),
    ],
)
def test_what_json_cannot_say_is_refused_by_name(value: Any, complaint: str) -> None:
    for wrapped in (value, [value], {"a": {"b": value}}):
        with pytest.raises(MalformedMessage, match=complaint):
            freeze(wrapped)


def test_a_value_whose_repr_fails_is_refused_like_any_other() -> None:
    class Mean:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(MalformedMessage, match="Mean"):
        freeze([Mean()])


@pytest.mark.parametrize("value", [[], "a", None, 1, ({},)])
def test_only_an_object_is_an_object(value: Any) -> None:
    with pytest.raises(MalformedMessage, match=type(value).__name__):
        freeze_object(value)


def test_nesting_has_an_end() -> None:
    assert thaw(freeze(nested(MAX_DEPTH - 1))) == nested(MAX_DEPTH - 1)
    with pytest.raises(MalformedMessage, match="nested deeper"):
        freeze(nested(MAX_DEPTH))


def test_a_cycle_ends_as_deep_nesting() -> None:
    cycle: dict[str, Any] = {}
    cycle["again"] = [cycle]

    with pytest.raises(MalformedMessage, match="nested deeper"):
        freeze(cycle)


def test_wrapping_what_is_frozen_again_and_again_does_not_get_round_the_limit() -> None:
    frozen = EMPTY
    for _ in range(MAX_DEPTH - 2):
        frozen = freeze({"a": frozen})
    with pytest.raises(MalformedMessage, match="nested deeper"):
        freeze({"a": frozen})


def test_a_record_that_hides_in_a_frozen_object_comes_out_as_json() -> None:
    assert freeze({"x": Frozen({"h": Handler("a", 1)})}) == {"x": {"h": {"skill_id": "a", "activated_at": 1}}}


@pytest.mark.parametrize("frozen", [EMPTY, freeze({"a": [1, {"b": None}]}), Sealed({"a": Handler("b", 1)})])
def test_a_frozen_object_can_be_hashed_copied_and_pickled(frozen: Any) -> None:
    assert hash(frozen) == hash(type(frozen)(dict(frozen)))
    assert copy.copy(frozen) is copy.deepcopy(frozen) is frozen
    again = pickle.loads(pickle.dumps(frozen))
    assert again == frozen
    assert type(again) is type(frozen)
