"""Shapes of topics."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from hark.spec import dispatch_topic, is_dispatch_topic, is_topic, split_dispatch, topics
from hark.spec.names import TRANSFORMER_TYPES


@pytest.mark.parametrize("value", [None, 7, [], {}, b"a.b", object()])
def test_what_is_no_text_is_no_topic(value: Any) -> None:
    assert is_topic(value) is False


@pytest.mark.parametrize("length", [199, 200, 201, 100_000])
def test_a_topic_may_be_as_long_as_it_likes(length: int) -> None:
    assert is_topic("a" * length)
    assert not is_topic("a" * length + " ")


def test_long_topics_are_not_kept_in_memory() -> None:
    tracemalloc.start()
    try:
        for number in range(100):
            assert is_topic("a" * 100_000 + str(number))
        kept, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1_000_000


def test_a_dispatch_topic_splits_into_what_it_was_made_of() -> None:
    topic = dispatch_topic("clock.skill", "time_here")

    assert topic == "clock.skill:time_here"
    assert is_dispatch_topic(topic)
    assert split_dispatch(topic) == ("clock.skill", "time_here")


def test_there_is_one_list_query_per_transformer_type() -> None:
    queries = [topics.transformer_list(kind) for kind in TRANSFORMER_TYPES]

    assert queries[0] == "ovos.transformer.audio.list"
    assert len(set(queries)) == 6
    assert all(map(is_topic, queries))


def test_a_request_is_answered_on_its_topic_plus_response() -> None:
    assert topics.response_topic("ovos.transformer.tts.list") == "ovos.transformer.tts.list.response"


@pytest.mark.parametrize("topic", ["a.response", "a:b"])
def test_an_answer_or_a_dispatch_has_no_response_topic(topic: str) -> None:
    with pytest.raises(ValueError, match=r"no \.response topic"):
        topics.response_topic(topic)


def test_a_ping_is_answered_by_a_pong_and_anything_else_by_a_response() -> None:
    assert topics.answer_topic("ovos.converse.ping") == "ovos.converse.pong"
    assert topics.answer_topic("ovos.transformer.tts.list") == "ovos.transformer.tts.list.response"


def test_every_registration_topic_is_listed() -> None:
    assert len(set(topics.REGISTRATION)) == len(topics.REGISTRATION)
    assert topics.REGISTER_TEMPLATE in topics.REGISTRATION
