"""Reading keyword registrations."""

from __future__ import annotations

from typing import Any

import pytest
from keyword_pools import SEND_ROBOT, ask, label, register, slots, voc

from hark.intents import Rejected
from hark.intents.keyword import KeywordPool


@pytest.fixture
def pool() -> KeywordPool:
    return KeywordPool()


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "neither required nor one_of"),
        ({"optional": [voc("a")]}, "neither required nor one_of"),
        ({"required": [], "one_of": []}, "neither required nor one_of"),
        ({"required": [voc("a")], "excluded": [voc("a")]}, "'a' is both required and excluded"),
        ({"required": [voc("a")], "optional": [voc("a")]}, "'a' is both required and optional"),
        ({"one_of": [[voc("a")]], "required": [voc("a")]}, "'a' is both required and one_of"),
        ({"optional": [voc("a")], "excluded": [voc("a")], "required": [voc("b")]}, "'a' is both optional and excluded"),
        ({"one_of": [[]]}, "empty"),
        ({"one_of": [[voc("a")], []]}, "empty"),
        ({"one_of": [voc("a")]}, "no array"),
        ({"one_of": voc("a")}, "one_of is no array"),
        ({"required": "a"}, "required is no array"),
        ({"required": ["a"]}, "required takes vocabularies"),
        ({"required": [{"samples": ["a"]}]}, "has no name"),
        ({"required": [{"name": "", "samples": ["a"]}]}, "has no name"),
        ({"required": [{"name": 5, "samples": ["a"]}]}, "has no name"),
        ({"required": [{"name": "a"}]}, "'a' in required has no usable sample"),
        ({"required": [{"name": "a", "samples": []}]}, "'a' in required has no usable sample"),
        ({"required": [{"name": "a", "samples": "a"}]}, "samples is no array"),
        ({"required": [voc("a", "[x]")]}, "no usable sample"),
        ({"required": [voc("a", "{x}", "go to {x}", "(", 5)]}, "no usable sample"),
        ({"required": [voc("a", "...")]}, "no usable sample"),
        ({"required": [voc("a"), voc("a", "(")]}, "no usable sample"),
        ({"required": [voc("b")], "optional": [voc("a", "[x]")]}, "'a' in optional has no usable sample"),
        ({"required": [voc("b")], "excluded": [voc("a", "[x]")]}, "'a' in excluded has no usable sample"),
        ({"required": [voc("a")], "requires_context": "x"}, "requires_context is no array"),
    ],
)
def test_what_cannot_work_is_rejected_with_its_reason(pool: KeywordPool, fields: dict[str, Any], told: str) -> None:
    with pytest.raises(Rejected, match=told):
        register(pool, "a.b:i", **fields)
    assert list(pool.intents("default")) == []
    assert ask(pool, "a b") == "no keywords in en-US"


@pytest.mark.parametrize("name", ["skill_id", "intent_name", "lang"])
def test_who_and_in_which_language_has_to_be_said(pool: KeywordPool, name: str) -> None:
    broken: dict[str, Any] = {name: None}
    with pytest.raises(Rejected, match=f"{name} is missing"):
        register(pool, "a.b:i", required=[voc("a")], **broken)


def test_a_reserved_name_is_rejected(pool: KeywordPool) -> None:
    with pytest.raises(Rejected, match="reserved"):
        register(pool, "a.b:converse", required=[voc("a")])


def test_a_malformed_sample_is_skipped_and_reported_and_the_rest_counts(pool: KeywordPool) -> None:
    skipped = register(pool, "a.b:i", required=[voc("go", "go", "(walk", "{x}", 5, "run")])
    assert [item for item, _ in skipped] == ["(walk", "{x}", "5"]
    assert all("required 'go'" in reason for _, reason in skipped)
    assert slots(ask(pool, "run")) == {"go": "run"}
    assert label(ask(pool, "walk")) is None


def test_a_list_that_is_left_out_is_empty(pool: KeywordPool) -> None:
    assert register(pool, "a.b:i", required=[voc("go")]) == []
    assert register(pool, "a.b:j", one_of=[[voc("stay")]]) == []
    assert (label(ask(pool, "go")), label(ask(pool, "stay"))) == ("a.b:i", "a.b:j")


def test_unknown_fields_are_ignored_and_kept(pool: KeywordPool) -> None:
    register(pool, "a.b:i", required=[voc("go")], foo=1, blacklist=["go"], required_slots=["zzz"], samples=["never"])
    assert label(ask(pool, "go")) == "a.b:i"
    (intent,) = pool.intents("default")
    assert intent.payload is not None
    assert intent.payload["foo"] == 1


def test_descriptors_of_one_name_and_role_are_one_vocabulary(pool: KeywordPool) -> None:
    register(pool, "a.b:i", required=[voc("go", "go"), voc("go", "run")])
    assert slots(ask(pool, "run")) == {"go": "run"}
    assert slots(ask(pool, "go")) == {"go": "go"}


def test_a_vocabulary_may_be_in_two_groups_which_is_one_role(pool: KeywordPool) -> None:
    groups = [[voc("a", "one"), voc("b")], [voc("a", "two"), voc("c")]]
    register(pool, "a.b:i", one_of=groups)
    assert slots(ask(pool, "one")) == {"a": "one"}
    assert slots(ask(pool, "two")) == {"a": "two"}
    assert label(ask(pool, "b")) is None
    assert slots(ask(pool, "b c")) == {"b": "b", "c": "c"}


def test_samples_stand_for_all_their_phrases_in_one_case(pool: KeywordPool) -> None:
    register(pool, "a.b:i", required=[voc("go", "(Turn|switch) [it] ON", "go, please")])
    for text in ("turn on", "Switch it on!", "GO PLEASE"):
        assert label(ask(pool, text)) == "a.b:i"
    assert label(ask(pool, "turn it")) is None


def test_a_bad_replacement_leaves_the_old_definition(pool: KeywordPool) -> None:
    register(pool, "a.b:i", **SEND_ROBOT)
    with pytest.raises(Rejected):
        register(pool, "a.b:i", required=[])
    assert label(ask(pool, "move robot kitchen")) == "a.b:i"
