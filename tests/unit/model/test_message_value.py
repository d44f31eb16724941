"""The envelope."""

from __future__ import annotations

import copy
import enum
import json
import types
from typing import Any

import pytest

from hark.model import Frozen, Handler, MalformedMessage, Message, Session, decode, encode, freeze

RAW = b'{"type":"a.b","data":{"n":[1]},"context":{"source":"x","list":[{}],"session":{"session_id":"s","lang":"pt"}}}'


def messages() -> list[Message]:
    built = Message("a.b", {"n": [1]}, {"source": "x", "list": [{}]}, Session("s", lang="pt"))
    opened = decode(RAW)
    _ = opened.data, opened.context, opened.session
    return [built, decode(RAW), opened, decode(RAW).forward("a.b", {"n": [1]})]


@pytest.mark.parametrize("message", messages(), ids=["built", "decoded", "opened", "derived"])
def test_a_message_refuses_every_change(message: Message) -> None:
    for name in ("type", "data", "context", "session", "malformed_session", "_data", "_session", "new", "__class__"):
        with pytest.raises(AttributeError):
            setattr(message, name, None)
        with pytest.raises(AttributeError):
            delattr(message, name)
    for part in (message.data, message.context, message.context["list"][0], message.wire(), message.wire()["data"]):
        assert type(part) is Frozen
    assert type(message.data["n"]) is tuple
    assert message == Message("a.b", {"n": [1]}, {"source": "x", "list": [{}]}, Session("s", lang="pt"))


def test_a_message_does_not_follow_what_it_was_made_of() -> None:
    data: dict[str, Any] = {"n": [1]}
    context: dict[str, Any] = {"x": {}}
    carrier: dict[str, Any] = {"session_id": "s", "x_new": [1]}
    message = Message("a.b", data, {**context, "session": carrier})
    data["n"].append(2)
    context["x"]["y"] = 1
    carrier["x_new"].append(2)

    assert json.loads(encode(message)) == {
        "type": "a.b",
        "data": {"n": [1]},
        "context": {"x": {}, "session": {"session_id": "s", "x_new": [1]}},
    }


def test_the_session_is_no_key_of_the_context() -> None:
    session = Session("s")
    for message in (
        Message("a.b", {}, {"x": 1}, session),
        Message("a.b", {}, {"x": 1, "session": session}),
        Message("a.b", {}, {"x": 1, "session": {"session_id": "s"}}),
        Message("a.b", {}, {"x": 1, "session": types.MappingProxyType({"session_id": "s"})}),
        decode(b'{"type":"a.b","context":{"x":1,"session":{"session_id":"s"}}}'),
    ):
        assert message.context == {"x": 1}
        assert message.session == session
        assert message.session_id == "s"


def test_the_session_that_is_given_outranks_the_one_in_the_context() -> None:
    assert Message("a.b", {}, {"session": {"session_id": "s"}}, Session("t")).session_id == "t"


def test_a_null_session_in_the_context_is_none() -> None:
    assert Message("a.b", {}, {"session": None}) == Message("a.b")


def test_any_mapping_will_do_for_data_and_context() -> None:
    proxy = types.MappingProxyType({"n": 1})

    assert Message("a.b", proxy, proxy) == Message("a.b", {"n": 1}, {"n": 1})


def test_a_topic_that_is_a_relative_of_text_travels_as_text() -> None:
    class Topic(str, enum.Enum):  # noqa: UP042 (the older kind, whose str() is not its value)
        ASK = "a.b"

    class Word(str):
        __slots__ = ()

    for topic in (Topic.ASK, Word("a.b")):
        for message in (Message(topic), Message("x.y").forward(topic), Message("x.y").forward(topic).reply(topic)):
            assert encode(message) == b'{"type":"a.b"}'
            assert type(message.type) is str


def test_the_session_id_is_read_without_opening_the_session(caplog: pytest.LogCaptureFixture) -> None:
    message = decode(b'{"type":"a.b","context":{"session":{"session_id":"s","lang":7}}}')

    assert message.session_id == "s"
    assert not caplog.records
    assert message.session == Session("s")
    assert "lang" in caplog.text


@pytest.mark.parametrize("value", [None, 7, ["u"], {}])
def test_an_utterance_id_is_text_or_none(value: Any) -> None:
    assert decode(json.dumps({"type": "a.b", "context": {"utterance_id": value}})).utterance_id is None
    assert Message("a.b", {}, {"utterance_id": "u"}).utterance_id == "u"


def test_carrying_sets_and_removes_context_keys_and_the_session() -> None:
    message = Message("a.b", {"n": 1}, {"x": 1, "y": 2}, Session("s"))

    assert message.carrying(x=[3], z=None, y=None) == Message("a.b", {"n": 1}, {"x": [3]}, Session("s"))
    assert message.carrying(Session("t")) == message.carrying(session=Session("t"))
    assert message.carrying(Session("t")).session_id == "t"
    assert message.carrying(None).session is None
    assert message.carrying() == message


def test_carrying_refuses_what_json_cannot_say() -> None:
    with pytest.raises(MalformedMessage, match="set"):
        Message("a.b").carrying(x={1})


def test_a_message_within_another_context_keeps_topic_and_data() -> None:
    message = Message("a.b", {"n": 1}, {"x": 1}, Session("s"))

    assert message.within(freeze({"y": 2}), Session("t")) == Message("a.b", {"n": 1}, {"y": 2}, Session("t"))
    assert message.within(freeze({"y": 2}), None).session is None


def test_a_message_within_a_context_with_odd_routing_is_still_sendable() -> None:
    message = Message("a.b").within(freeze({"source": "", "destination": ["", "x"], "y": 1}), None)

    assert message.context == {"destination": "x", "y": 1}
    assert Message("a.b").within(freeze({"source": None, "y": 1}), None).context == {"y": 1}
    assert Message("a.b").within(freeze({"destination": None, "y": 1}), None).context == {"y": 1}


def test_with_data_keeps_topic_context_and_session() -> None:
    message = decode(RAW)

    assert message.with_data({"m": 2}) == message.forward("a.b", {"m": 2})


def test_wire_is_immutable_json() -> None:
    session = Session("s", active_handlers=[Handler("a", 1.5)], intent_context={"k": {"value": "v"}})
    wire = Message("a.b", {"n": 1}, session=session).wire()

    assert wire == {
        "type": "a.b",
        "data": {"n": 1},
        "context": {
            "session": {
                "session_id": "s",
                "active_handlers": ({"skill_id": "a", "activated_at": 1.5},),
                "intent_context": {"k": {"value": "v"}},
            }
        },
    }
    assert Message("a.b", {"session": session.wire()}).data["session"] == wire["context"]["session"]


def test_messages_are_equal_when_all_their_parts_are() -> None:
    message = Message("a.b", {"n": 1}, {"x": 1}, Session("s"))

    assert message == Message("a.b", {"n": 1}, {"x": 1}, Session("s"))
    assert hash(message) == hash(Message("a.b", {"n": 1}, {"x": 1}, Session("s")))
    for other in (
        message.forward("c.d", {"n": 1}),
        message.with_data({"n": 2}),
        message.carrying(x=2),
        message.carrying(Session("t")),
        message.carrying(None),
        "a.b",
    ):
        assert message != other


def test_a_copy_of_a_message_is_the_message() -> None:
    message = decode(RAW)

    assert copy.copy(message) is copy.deepcopy(message) is message
    assert "a.b" in repr(message)
    assert "'s'" in repr(message)
