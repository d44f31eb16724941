"""Any bytes at all decode or are malformed; any Message at all survives the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hark.model import Frozen, MalformedMessage, Message, Session, decode, encode, thaw
from hark.model.codec import depth
from hark.model.frozen import MAX_DEPTH

# How long an example takes says something about the machine, not about us.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.integers() | st.integers(-(10**400), 10**400) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(texts, children, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(texts, json_values, max_size=5)
words = st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True)
topics = st.lists(words, min_size=1, max_size=4).map(".".join) | st.tuples(words, words).map(":".join)
names = texts.filter(bool)
carriers = st.dictionaries(
    st.sampled_from(["session_id", "lang", "pipeline", "intent_context", "active_handlers", "location", "x_new"])
    | texts,
    json_values
    | texts
    | st.lists(texts, max_size=3)
    | st.lists(st.fixed_dictionaries({"skill_id": texts, "activated_at": numbers}), max_size=2)
    | st.dictionaries(texts, st.fixed_dictionaries({"value": st.none() | texts}, optional={"x": json_values})),
    max_size=5,
)
contexts = st.fixed_dictionaries(
    {}, optional={"source": names, "destination": names, "utterance_id": texts, "skill_id": texts, "x": json_values}
)
messages = st.builds(Message, topics, objects, contexts, st.none() | carriers.map(Session.read))


def open_all(message: Message) -> None:
    for part in (message.data, message.context, message.wire()):
        assert type(part) is Frozen
    hash(message)
    repr(message)
    assert message.session is None or message.session.session_id
    assert message.session_id
    assert message.utterance_id is None or isinstance(message.utterance_id, str)


def check(raw: bytes) -> None:
    try:
        message = decode(raw)
    except MalformedMessage:
        return
    unopened = encode(message)
    open_all(message)
    assert decode(encode(message)) == message
    assert decode(unopened) == message


@given(st.binary())
@example(b"")
@example(b"\xef\xbb\xbf")
@example(b"\xef\xbb\xbf\xef\xbb\xbf{}")
@example(b"\xff\xfe{\x00}\x00")
@example(b'{"type":"a","data":{"a":"\\ud83d\\ude00"}}')
def test_any_bytes_decode_or_are_malformed(raw: bytes) -> None:
    check(raw)


@given(st.lists(st.sampled_from([*'{}[]",:\\ ', '"type"', '"a.b"', '"data":', '"context":', '"session"', "1e9", "é"])))
def test_anything_that_looks_like_json_decodes_or_is_malformed(pieces: list[str]) -> None:
    check("".join(pieces).encode())
    check(('{"type":"a","data":' + "".join(pieces) + "}").encode())


@given(json_values, json_values, json_values)
def test_any_envelope_decodes_or_is_malformed(topic: Any, data: Any, context: Any) -> None:
    check(json.dumps({"type": topic, "data": data, "context": context}).encode())
    check(json.dumps({"type": "a.b", "data": {"a": data}, "context": {"session": context, "x": data}}).encode())


@given(messages)
def test_a_message_survives_the_wire(message: Message) -> None:
    again = decode(encode(message))

    assert again == message
    assert hash(again) == hash(message)
    assert thaw(again.wire()) == json.loads(encode(message))
    assert decode(encode(again)) == message


@given(messages, topics, objects)
def test_what_is_derived_before_the_wire_equals_what_is_derived_after(message: Message, topic: str, data: Any) -> None:
    again = decode(encode(message))

    assert again.forward(topic, data) == message.forward(topic, data)
    assert again.reply(topic, data) == message.reply(topic, data)
    assert again.carrying(x=data) == message.carrying(x=data)
    assert again.with_data(data) == message.with_data(data)


@given(messages, st.data())
def test_one_damaged_byte_never_does_more_than_damage_the_message(message: Message, data: st.DataObject) -> None:
    raw = bytearray(encode(message))
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    check(bytes(raw))
    check(bytes(raw[: data.draw(st.integers(0, len(raw)))]))


def nesting(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(nesting, value.values()), default=0)
    return 1 + max(map(nesting, value), default=0) if isinstance(value, list) else 0


@given(
    st.recursive(
        st.text(st.sampled_from('[]{}"\\ n')),
        lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text('[]{}"\\'), children, max_size=3),
    )
)
def test_brackets_count_outside_of_strings_only(value: Any) -> None:
    assert depth(json.dumps(value).encode()) == nesting(value)


@given(st.integers(1, 3 * MAX_DEPTH), st.sampled_from([("[", "]"), ('{"a":', "}"), ('[{"]\\\\":', "}]")]))
def test_nesting_is_refused_beyond_one_depth(levels: int, brackets: tuple[str, str]) -> None:
    opening, closing = (bracket * levels for bracket in brackets)
    depth = levels * len(brackets[1])
    raw = f'{{"type":"a.b","data":{{"x":{opening}1{closing}}}}}'
    fits = depth + 2 <= MAX_DEPTH

    if fits:
        message = decode(raw)
        open_all(message)
        assert Message("a.b", json.loads(raw)["data"]) == message
        assert decode(encode(message)) == message
    else:
        with pytest.raises(MalformedMessage, match="nested deeper"):
            decode(raw)
        with pytest.raises(MalformedMessage, match="nested deeper"):
            Message("a.b", json.loads(raw)["data"])
