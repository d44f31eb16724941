"""Bytes to Message and back: the cases worth telling one by one."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from hark.model import MalformedMessage, Message, Session, decode, encode
from hark.model.codec import depth
from hark.model.frozen import MAX_DEPTH


@pytest.mark.parametrize(
    "raw", [b'{"type":"a.b"}', bytearray(b'{"type":"a.b"}'), memoryview(b'{"type":"a.b"}'), '{"type":"a.b"}']
)
def test_bytes_of_any_kind_and_text_decode(raw: Any) -> None:
    assert decode(raw) == Message("a.b")


@pytest.mark.parametrize(
    "raw", ["\ufeff" + '{"type":"a.b"}', b'\xef\xbb\xbf{"type":"a.b"}', b' \r\n\t{"type":"a.b"} \n']
)
def test_a_byte_order_mark_and_white_space_around_are_tolerated(raw: Any) -> None:
    assert decode(raw) == Message("a.b")


def test_text_that_utf_8_cannot_carry_is_malformed() -> None:
    with pytest.raises(MalformedMessage):
        decode('{"type":"a.b","data":{"x":"\ud800"}}')


@pytest.mark.parametrize("escape", [r"\ud800", r"\udc00", r"\ud800A", r"\udc00\ud800", r"a\ud83d", r"\ud83dx\ude00"])
@pytest.mark.parametrize(
    "place", ['{"type":"a.b","data":{"x":"%s"}}', '{"type":"a.b","data":{"%s":1}}', '{"type":"a.b","%s":1}']
)
def test_half_a_surrogate_pair_is_malformed_wherever_it_is(place: str, escape: str) -> None:
    with pytest.raises(MalformedMessage):
        decode(place % escape)


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert decode(r'{"type":"a.b","data":{"x":"\ud83e\udd9c"}}').data == {"x": "🦜"}


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 400 + ".0", "9" * 4301, "-" + "9" * 5000, "1e99999999999"])
def test_a_number_too_large_is_malformed(number: str) -> None:
    with pytest.raises(MalformedMessage):
        decode('{"type":"a.b","data":{"n":' + number + "}}")


@pytest.mark.parametrize("number", [10**300, 2**64, -(2**63) - 1, 10**4300 - 1, 1e308, 5e-324, -0.0, 1e22, 0.1])
def test_a_large_number_survives_the_wire(number: float) -> None:
    message = Message("a.b", {"n": number})

    assert decode(encode(message)) == message
    assert type(decode(encode(message)).data["n"]) is type(number)


def test_of_a_key_that_is_there_twice_the_last_one_counts() -> None:
    message = decode(b'{"type":"x.y","data":{"n":1,"n":2},"data":{"m":1,"m":3},"type":"a.b"}')

    assert message == Message("a.b", {"m": 3})


def test_the_keys_of_the_envelope_may_be_escaped() -> None:
    assert decode(rb'{"\u0074ype":"a.b","d\u0061ta":{"n":1}}') == Message("a.b", {"n": 1})


def test_a_decoded_message_does_not_share_what_was_decoded() -> None:
    message = decode(b'{"type":"a.b","data":{"n":[1]},"context":{"x":{},"session":{"x_new":[1]}}}')
    wire = message.forward("c.d", message.data).wire()

    with pytest.raises(TypeError):
        wire["data"]["n"] = 2
    with pytest.raises(TypeError):
        wire["context"]["x"]["y"] = 2
    with pytest.raises(TypeError):
        wire["context"]["session"]["x_new"] = 2


def deep(levels: int) -> bytes:
    return b'{"type":"a.b","data":{"x":' + b"[" * levels + b"]" * levels + b"}}"


def test_the_limit_on_nesting_does_not_depend_on_who_calls() -> None:
    def from_below(frames: int, raw: bytes) -> Message:
        return from_below(frames - 1, raw) if frames else decode(raw)

    frames = sys.getrecursionlimit() // 2
    assert from_below(frames, deep(MAX_DEPTH - 2)) == decode(deep(MAX_DEPTH - 2))
    for calls in (0, frames):
        with pytest.raises(MalformedMessage, match="nested deeper"):
            from_below(calls, deep(MAX_DEPTH - 1))


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 1_000_000,
        b'{"type":"a.b","x":' + b'{"a":' * 200_000,
        b'{"type":"a.b","data":{"x":' + b"[" * 500_000 + b"]" * 500_000 + b"}}",
        b'{"type":"a.b","data":{"x":"' + b'\\"' * 500_000,
        b'{"type":"a.b","data":{"x":"' + b"\\" * 999_999,
        b'"' * 1_000_000,
        b"[]" * 500_000,
    ],
    ids=["open", "ignored key", "closed", "quotes", "backslashes", "strings", "pairs"],
)
def test_a_hostile_megabyte_is_malformed(raw: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode(raw)


def test_a_large_flat_message_is_no_deep_one() -> None:
    data = {"x": [{"text": '[[[{{{"\\'} for _ in range(10_000)]}
    raw = json.dumps({"type": "a.b", "data": data}).encode()

    assert depth(raw) == 4
    assert decode(raw) == Message("a.b", data)


def test_brackets_in_strings_do_not_nest() -> None:
    data = {"x": "[" * 500 + '"' + "{" * 500, "[" * 300: "\\" * 7 + '"[['}

    assert decode(encode(Message("a.b", data))) == Message("a.b", data)


def test_what_is_as_deep_as_it_may_be_survives_the_wire_wherever_it_stands() -> None:
    def lists(levels: int) -> Any:
        return [lists(levels - 1)] if levels else 1

    message = Message(
        "a.b", {"x": lists(MAX_DEPTH - 2)}, {"x": lists(MAX_DEPTH - 2)}, Session(x_new=lists(MAX_DEPTH - 3))
    )

    assert decode(encode(message)) == message
    assert decode(encode(message.carrying(y=lists(MAX_DEPTH - 2)))).context["y"]
    too_deep = lists(MAX_DEPTH - 1)
    with pytest.raises(MalformedMessage, match="nested deeper"):
        Message("a.b", {"x": too_deep})
    with pytest.raises(MalformedMessage, match="nested deeper"):
        Message("a.b", {}, {"x": too_deep})
    with pytest.raises(MalformedMessage, match="nested deeper"):
        message.carrying(y=too_deep)
