"""Shapes of identifiers and reserved names."""

from __future__ import annotations

from typing import Any

import pytest

from hark.spec import RESERVED_INTENT_NAMES, is_intent_name, is_pipeline_id, is_skill_id, is_transformer_id, stamp_key
from hark.spec.names import (
    DENYLISTS,
    HANDLER_WRITES,
    PUSHING_RESERVED_NAMES,
    REIMPOSED,
    RUNTIME_KEYS,
    TRANSFORMER_TYPES,
)

NO_ID = ["", " ", "a b", "a:b", "a\n", "é", None, 7, b"a", ["a"]]


@pytest.mark.parametrize("value", NO_ID)
@pytest.mark.parametrize("is_id", [is_pipeline_id, is_transformer_id, is_skill_id, is_intent_name])
def test_what_would_break_a_topic_is_no_identifier(is_id: Any, value: Any) -> None:
    assert is_id(value) is False


@pytest.mark.parametrize("value", ["a", "A-b_9", "template-high"])
@pytest.mark.parametrize("is_id", [is_pipeline_id, is_transformer_id, is_skill_id, is_intent_name])
def test_letters_digits_underscore_and_hyphen_make_an_identifier(is_id: Any, value: str) -> None:
    assert is_id(value) is True


@pytest.mark.spec("PIPELINE-1/3.a")
@pytest.mark.spec("TRANSFORM-1/1.1.b")
def test_a_pipeline_id_has_no_dot_but_the_others_may() -> None:
    assert not is_pipeline_id("a.b")
    assert is_transformer_id("a.b")
    assert is_skill_id("a.b")
    assert is_intent_name("a.b")


@pytest.mark.parametrize("value", [".a", "a.", "a..b", "."])
def test_a_skill_id_is_words_joined_by_single_dots(value: str) -> None:
    assert not is_skill_id(value)


@pytest.mark.parametrize("name", sorted(RESERVED_INTENT_NAMES))
def test_a_reserved_name_is_no_name_for_an_intent(name: str) -> None:
    assert not is_intent_name(name)
    assert is_skill_id(name)


def test_of_the_reserved_names_fallback_alone_makes_its_skill_active() -> None:
    assert frozenset({"fallback"}) == PUSHING_RESERVED_NAMES < RESERVED_INTENT_NAMES


def test_each_transformer_type_has_its_stamp_which_only_hark_writes() -> None:
    stamps = [stamp_key(kind) for kind in TRANSFORMER_TYPES]

    assert stamps[0] == "audio_transformer_ids"
    assert len(set(stamps)) == 6
    assert set(stamps) < RUNTIME_KEYS


def test_a_handler_may_write_no_field_that_a_claim_may_not() -> None:
    assert not set(HANDLER_WRITES) & set(REIMPOSED)
    assert set(DENYLISTS) < set(REIMPOSED)
