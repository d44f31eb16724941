"""OVOS-MSG-1: the envelope, its topics and its derivations, as far as they are a matter of values."""

from __future__ import annotations

import inspect
import json
import random
from typing import Any

import pytest

from hark.model import MalformedMessage, Message, Session, decode, encode
from hark.spec import dispatch_topic, is_dispatch_topic, is_intent_name, is_skill_id, is_topic, split_dispatch, topics

TOPICS = sorted(
    value for name, value in vars(topics).items() if name.isupper() and not name.startswith("_") and type(value) is str
)

OFF_PATTERN = [
    *("", " ", "a b", "a\tb", "a/b", "é", "a@b", "a.b\n", "\na.b", "a.b ", "ovos.utterance.händle", "a\x00b"),
    *(".a", "a.", ":a", "a:", ".", ":"),
    *("a..b", "a::b", "a.:b", "a:.b"),
    *("a:b:c", "a.b:c.d:e"),
]

CONTEXT = {
    "source": "sat-7",
    "destination": "core",
    "utterance_id": "u-1",
    "skill_id": "clock.skill",
    "x": {"a": [1, {"b": None}]},
}
CARRIER = {"session_id": "kitchen", "lang": "pt-PT", "x_unknown": {"deep": [1, 2]}}


def frame(**keys: Any) -> bytes:
    return json.dumps(keys).encode()


def on_wire(message: Message) -> Any:
    return json.loads(encode(message))


def received(**context: Any) -> Message:
    return decode(frame(type="a.b", data={"n": 1}, context=context))


DERIVATIONS = [
    pytest.param(lambda message: message.forward("c.d", {"m": 2}), id="forward"),
    pytest.param(lambda message: message.reply("c.d", {"m": 2}), id="reply"),
    pytest.param(lambda message: message.response({"m": 2}), id="response"),
]


# The envelope.


@pytest.mark.spec("MSG-1/2.a")
@pytest.mark.spec("MSG-1/5.4.a")
def test_a_frame_has_no_other_keys_than_type_data_and_context() -> None:
    bare = Message("a.b")
    full = decode(frame(type="a.b", data={"n": 1}, context=CONTEXT, id=7, in_reply_to=3))

    assert on_wire(bare).keys() == {"type"}
    assert on_wire(full).keys() == {"type", "data", "context"}
    assert on_wire(full.reply("c.d")).keys() == {"type", "context"}


@pytest.mark.spec("MSG-1/2.b")
@pytest.mark.parametrize("topic", ["", None, 7, b"a.b", ["a.b"], {"a": "b"}])
def test_a_topic_that_is_no_text_is_refused(topic: Any) -> None:
    with pytest.raises(MalformedMessage):
        Message(topic)
    with pytest.raises(MalformedMessage):
        Message("a.b").forward(topic)


@pytest.mark.spec("MSG-1/2.c")
@pytest.mark.parametrize("data", [[], [1], "text", None, 7, ("a",)])
def test_data_that_is_no_object_is_refused(data: Any) -> None:
    with pytest.raises(MalformedMessage):
        Message("a.b", data)
    with pytest.raises(MalformedMessage):
        Message("a.b").forward("c.d", data)


@pytest.mark.spec("MSG-1/2.d")
@pytest.mark.parametrize("context", [[], [1], "session", None, 7, ("session",)])
def test_a_context_that_is_no_object_is_refused(context: Any) -> None:
    with pytest.raises(MalformedMessage):
        Message("a.b", {}, context)


@pytest.mark.spec("MSG-1/2.e")
def test_empty_data_and_context_are_left_out_of_the_frame() -> None:
    assert encode(Message("a.b", {}, {})) == b'{"type":"a.b"}'
    assert encode(decode(b'{"type":"a.b"}')) == b'{"type":"a.b"}'


@pytest.mark.spec("MSG-1/2.f")
@pytest.mark.spec("MSG-1/7.a")
def test_missing_data_and_context_read_as_empty_objects() -> None:
    bare = decode(b'{"type":"a.b"}')

    assert bare.data == {}
    assert bare.context == {}
    assert bare == Message("a.b")


@pytest.mark.spec("MSG-1/2.g")
@pytest.mark.spec("MSG-1/2.h")
@pytest.mark.spec("MSG-1/3.4.b")
def test_unknown_top_level_keys_are_ignored_and_never_passed_on() -> None:
    message = decode(frame(type="a.b", data={"n": 1}, id=1, extra={"deep": [1]}, source="me"))

    assert message == Message("a.b", {"n": 1})
    assert on_wire(message) == {"type": "a.b", "data": {"n": 1}}
    assert on_wire(message.forward("c.d")) == {"type": "c.d"}


MALFORMED = {
    "nothing": b"",
    "blank": b"  ",
    "array": b'["a.b"]',
    "string": b'"a.b"',
    "number": b"7",
    "null": b"null",
    "true": b"true",
    "no type": b'{"data":{}}',
    "type null": b'{"type":null}',
    "type number": b'{"type":7}',
    "type array": b'{"type":["a.b"]}',
    "type empty": b'{"type":""}',
    "type off pattern": b'{"type":"a b"}',
    "data array": b'{"type":"a.b","data":[]}',
    "data null": b'{"type":"a.b","data":null}',
    "data string": b'{"type":"a.b","data":"{}"}',
    "context array": b'{"type":"a.b","context":[]}',
    "context null": b'{"type":"a.b","context":null}',
    "context number": b'{"type":"a.b","context":0}',
    "truncated": b'{"type":"a.b"',
    "trailing": b'{"type":"a.b"}x',
    "two objects": b'{"type":"a.b"}{"type":"a.b"}',
    "NaN": b'{"type":"a.b","data":{"n":NaN}}',
    "Infinity": b'{"type":"a.b","data":{"n":-Infinity}}',
    "overflow": b'{"type":"a.b","data":{"n":1e400}}',
    "lone surrogate": b'{"type":"a.b","data":{"n":"\\ud800 "}}',
    "invalid UTF-8": b'{"type":"a.b","data":{"n":"\xff"}}',
    "invalid UTF-8 in an ignored key": b'{"type":"a.b","ignored":"\xff"}',
    "UTF-16": '{"type":"a.b"}'.encode("utf-16"),
    "single quotes": b"{'type':'a.b'}",
    "string-encoded": json.dumps('{"type":"a.b"}').encode(),
}


@pytest.mark.spec("MSG-1/2.i")
@pytest.mark.spec("MSG-1/6.e")
@pytest.mark.spec("MSG-1/6.f")
@pytest.mark.parametrize("raw", MALFORMED.values(), ids=MALFORMED.keys())
def test_what_is_no_message_is_malformed_and_never_coerced(raw: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode(raw)


# Topics.


@pytest.mark.spec("MSG-1/2.1.a")
@pytest.mark.spec("MSG-1/2.1.b")
@pytest.mark.spec("MSG-1/2.1.c")
@pytest.mark.spec("MSG-1/2.1.d")
@pytest.mark.spec("MSG-1/2.1.1.a")
@pytest.mark.parametrize("topic", OFF_PATTERN)
def test_a_topic_off_the_pattern_is_refused_going_out_and_coming_in(topic: str) -> None:
    assert not is_topic(topic)
    with pytest.raises(MalformedMessage):
        Message(topic)
    with pytest.raises(MalformedMessage):
        decode(frame(type=topic))


@pytest.mark.spec("MSG-1/2.1.a")
@pytest.mark.parametrize("topic", ["a", "ovos.utterance.handle", "A-b_9.c", "skill-x.author:intent", "7:8"])
def test_a_topic_on_the_pattern_is_taken(topic: str) -> None:
    assert Message(topic).type == decode(frame(type=topic)).type == topic


@pytest.mark.spec("MSG-1/1.a")
@pytest.mark.spec("MSG-1/2.1.e")
@pytest.mark.spec("MSG-1/2.1.1.d")
@pytest.mark.spec("MSG-1/2.1.1.j")
@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_we_name_is_a_dotted_literal_in_lower_case(topic: str) -> None:
    assert is_topic(topic)
    assert not is_dispatch_topic(topic)
    assert topic == topic.lower()
    # OVOS skills end handlers by names of their own (ruling R18); SCHEDULER-1 names the signal of a clock that was set.
    assert topic.startswith(("ovos.", "hark.", "mycroft.skill.handler.")) or topic == topics.CLOCK_SYNCED


@pytest.mark.spec("MSG-1/2.1.1.j")
def test_the_only_topics_built_from_identifiers_are_those_the_specification_admits() -> None:
    def takes_an_identifier(function: Any) -> bool:
        return any(name.endswith(("_id", "_name")) for name in inspect.signature(function).parameters)

    built = {name for name, value in vars(topics).items() if inspect.isfunction(value) and takes_an_identifier(value)}

    assert built == {"dispatch_topic", "pipeline_intents_list"}
    assert topics.pipeline_intents_list("padatious") == "ovos.pipeline.padatious.intents.list"
    with pytest.raises(ValueError, match="no transformer type"):
        topics.transformer_list("clock.skill")  # type: ignore[arg-type]


@pytest.mark.spec("MSG-1/2.1.1.e")
@pytest.mark.spec("MSG-1/2.1.1.h")
def test_a_colon_makes_a_dispatch_and_the_skill_id_may_hold_dots() -> None:
    topic = dispatch_topic("wiki.test", "ask")

    assert is_topic(topic)
    assert is_dispatch_topic(topic)
    assert split_dispatch(topic) == ("wiki.test", "ask")
    assert not is_dispatch_topic("ovos.utterance.handle")


@pytest.mark.spec("MSG-1/2.1.1.g")
@pytest.mark.spec("MSG-1/2.1.1.h")
@pytest.mark.parametrize("name", ["a:b", ":", "wiki test", "", "a.", "a\n", None, 7])
def test_an_identifier_that_would_break_a_dispatch_topic_is_refused(name: Any) -> None:
    assert not is_skill_id(name)
    assert not is_intent_name(name)


# Objects and keys.


@pytest.mark.spec("MSG-1/2.2.a")
@pytest.mark.spec("MSG-1/6.b")
@pytest.mark.spec("MSG-1/7.c")
def test_the_order_of_keys_means_nothing() -> None:
    def shuffled(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        keys = list(value)
        random.Random(7).shuffle(keys)
        return {key: shuffled(value[key]) for key in reversed(keys)}

    wire = {"type": "a.b", "data": {"x": 1, "y": {"p": 1, "q": 2}}, "context": {**CONTEXT, "session": CARRIER}}
    message = decode(frame(**wire))

    assert list(shuffled(wire)["context"]) != list(wire["context"])
    assert decode(frame(**shuffled(wire))) == message
    assert decode(frame(**shuffled(wire))).reply("c.d") == message.reply("c.d")


@pytest.mark.spec("MSG-1/2.3.a")
@pytest.mark.parametrize("derive", DERIVATIONS)
def test_a_context_key_nobody_understands_survives_every_derivation(derive: Any) -> None:
    message = received(**CONTEXT)

    assert on_wire(derive(message))["context"]["x"] == {"a": [1, {"b": None}]}


@pytest.mark.spec("MSG-1/2.3.b")
@pytest.mark.parametrize("value", [None, "", 0, 1.5, True, [], {}, [[{}]], "x" * 10_000])
@pytest.mark.parametrize("key", ["source", "destination", "utterance_id", "skill_id", "scheduler", "x", ""])
def test_no_value_of_a_context_key_costs_the_message(key: str, value: Any) -> None:
    message = received(**{key: value})

    assert message.data == {"n": 1}
    assert message.reply("c.d").type == "c.d"
    assert decode(encode(message)) == message


@pytest.mark.spec("MSG-1/2.3.c")
@pytest.mark.parametrize("carrier", ["s", 7, [], True])
def test_a_session_that_is_no_object_marks_the_message_as_not_for_handling(carrier: Any) -> None:
    assert received(session=carrier).malformed_session is not None
    assert received(session={}).malformed_session is None


# Routing.


@pytest.mark.spec("MSG-1/3.3.a")
@pytest.mark.parametrize("empty", ["", None, []])
@pytest.mark.parametrize("key", ["source", "destination"])
def test_an_empty_routing_key_never_reaches_the_wire(key: str, empty: Any) -> None:
    written = Message("a.b", {}, {key: empty, "x": 1})
    relayed = received(**{key: empty, "x": 1})

    for message in (written, written.reply("c.d"), relayed, relayed.forward("c.d"), written.carrying(**{key: empty})):
        assert on_wire(message)["context"] == {"x": 1}


@pytest.mark.spec("MSG-1/3.3.b")
@pytest.mark.parametrize("empty", ["", None, [], ["", ""], 7, {}])
def test_an_empty_destination_is_answered_like_a_broadcast(empty: Any) -> None:
    answer = received(source="sat-7", destination=empty).reply("c.d")

    assert answer.context == {"source": "sat-7", "destination": "sat-7"}


@pytest.mark.spec("MSG-1/3.3.f")
@pytest.mark.parametrize("key", ["source", "destination"])
def test_a_list_of_names_cannot_be_sent(key: str) -> None:
    with pytest.raises(MalformedMessage, match=f"{key} is one name"):
        Message("a.b", {}, {key: ["x", "y"]})
    with pytest.raises(MalformedMessage, match=f"{key} is one name"):
        Message("a.b").carrying(**{key: ["x", "y"]})


@pytest.mark.spec("MSG-1/3.3.f")
@pytest.mark.spec("MSG-1/7.b")
def test_a_list_that_was_received_is_passed_on_as_its_first_name() -> None:
    message = received(source="a", destination=["", "b", "c"])

    assert on_wire(message.forward("c.d"))["context"] == {"source": "a", "destination": "b"}


@pytest.mark.spec("MSG-1/3.4.a")
@pytest.mark.parametrize("name", ["a.b:c", "sat-7/kitchen", " spaced ", "名前", "a,b", "*"])
def test_a_routing_name_is_opaque(name: str) -> None:
    there = received(source=name, destination="core")

    assert there.reply("c.d").context == {"source": "core", "destination": name}


# Derivations.


@pytest.mark.spec("MSG-1/5.1.a")
@pytest.mark.spec("MSG-1/4.1.b")
def test_forward_changes_topic_and_data_and_nothing_else() -> None:
    message = received(**CONTEXT, session=CARRIER)
    derived = message.forward("c.d", {"m": 2})

    assert on_wire(derived) == {"type": "c.d", "data": {"m": 2}, "context": {**CONTEXT, "session": CARRIER}}
    assert on_wire(message.forward("c.d")) == {"type": "c.d", "context": {**CONTEXT, "session": CARRIER}}


@pytest.mark.spec("MSG-1/5.2.a")
@pytest.mark.spec("MSG-1/5.2.b")
@pytest.mark.parametrize(
    ("there", "back"),
    [
        ({"source": "A", "destination": "B"}, {"source": "B", "destination": "A"}),
        ({"source": "A"}, {"source": "A", "destination": "A"}),
        ({"destination": "B"}, {"source": "B", "destination": "B"}),
        ({}, {}),
        ({"source": "A", "destination": ["B", "C"]}, {"source": "B", "destination": "A"}),
        ({"source": "A", "destination": ["", 7, "C"]}, {"source": "C", "destination": "A"}),
    ],
)
def test_reply_swaps_the_pair(there: dict[str, Any], back: dict[str, Any]) -> None:
    assert received(**there).reply("c.d").context == back


@pytest.mark.spec("MSG-1/5.2.a")
def test_a_second_reply_swaps_back() -> None:
    message = received(source="A", destination="B")

    assert message.reply("c.d").reply("e.f").context == message.context


@pytest.mark.spec("MSG-1/5.2.c")
@pytest.mark.spec("MSG-1/4.1.b")
def test_reply_keeps_every_other_key_and_the_session() -> None:
    answer = on_wire(received(**CONTEXT, session=CARRIER).reply("c.d"))

    assert answer["context"] == {**CONTEXT, "source": "core", "destination": "sat-7", "session": CARRIER}


@pytest.mark.spec("MSG-1/5.2.d")
def test_reply_knows_nothing_but_the_incoming_context() -> None:
    first = received(**CONTEXT)
    second = decode(frame(type="quite.another", data={"n": 9}, context=CONTEXT))

    assert first.reply("c.d").context == second.reply("e.f", {"z": 1}).context


@pytest.mark.spec("MSG-1/5.3.a")
def test_response_is_reply_on_the_topic_plus_response() -> None:
    message = received(**CONTEXT, session=CARRIER)

    assert message.response({"m": 2}) == message.reply("a.b.response", {"m": 2})


@pytest.mark.spec("MSG-1/5.3.b")
@pytest.mark.spec("MSG-1/5.3.c")
@pytest.mark.spec("MSG-1/5.3.d")
@pytest.mark.parametrize("topic", ["a.b.response", "clock.skill:time"])
def test_there_is_no_response_to_an_answer_or_a_dispatch_but_a_reply(topic: str) -> None:
    message = Message(topic, {}, {"source": "A"})

    with pytest.raises(ValueError, match="use reply"):
        message.response()
    assert message.reply("e.f").context == {"source": "A", "destination": "A"}


@pytest.mark.spec("MSG-1/4.1.b")
@pytest.mark.spec("SESSION-1/4.a")
@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("context", [{}, {"session": {}}, {"session": CARRIER}], ids=["absent", "empty", "full"])
@pytest.mark.parametrize("derive", DERIVATIONS)
def test_the_session_travels_as_it_was_found(derive: Any, context: dict[str, Any], opened: bool) -> None:
    message = received(**context)
    if opened:
        _ = message.session

    assert on_wire(derive(message)).get("context", {}) == context


@pytest.mark.spec("MSG-1/4.1.c")
@pytest.mark.parametrize("derive", DERIVATIONS)
def test_deriving_leaves_the_source_message_as_it_was(derive: Any) -> None:
    message = received(**CONTEXT, session=CARRIER)
    before = on_wire(message)

    derived = derive(message).carrying(Session("other"), x=None, y=1)

    assert on_wire(message) == before
    assert derived.session_id == "other"


@pytest.mark.spec("MSG-1/4.1.d")
def test_a_component_that_owns_a_field_changes_it_on_what_it_derives() -> None:
    message = received(session=CARRIER)
    assert message.session is not None

    derived = message.forward("c.d").carrying(message.session.replace(lang="en-US"))

    assert on_wire(derived)["context"]["session"] == {**CARRIER, "lang": "en-US"}


@pytest.mark.spec("MSG-1/4.1.e")
@pytest.mark.spec("MSG-1/5.2.c")
def test_an_unknown_session_field_survives_a_chain_of_derivations() -> None:
    message = received(session=CARRIER)
    for _ in range(3):
        message = message.forward("a.b").carrying(message.session, skill_id="a").reply("c.d").with_data({"hop": 1})
        message = decode(encode(message)).response()
        message = message.forward("a.b")

    assert on_wire(message)["context"]["session"] == CARRIER


# The wire.


@pytest.mark.spec("MSG-1/6.a")
@pytest.mark.spec("MSG-1/6.d")
def test_a_frame_is_utf_8_json_without_a_byte_order_mark() -> None:
    raw = encode(Message("a.b", {"text": "olá 🦜"}, session=Session("sala", lang="pt-PT")))

    assert not raw.startswith(b"\xef\xbb\xbf")
    assert json.loads(raw.decode("utf-8", errors="strict"))["data"] == {"text": "olá 🦜"}


@pytest.mark.spec("MSG-1/6.a")
def test_a_byte_order_mark_is_tolerated_coming_in() -> None:
    assert decode(b'\xef\xbb\xbf{"type":"a.b"}') == Message("a.b")


@pytest.mark.spec("MSG-1/6.c")
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_refused(number: float) -> None:
    with pytest.raises(MalformedMessage, match="JSON has no number"):
        Message("a.b", {"n": [number]})
    with pytest.raises(MalformedMessage, match="JSON has no number"):
        Message("a.b").carrying(n=number)


@pytest.mark.spec("MSG-1/6.d")
@pytest.mark.parametrize("data", [{"text": "\ud800"}, {"\udfff": 1}, {"deep": [{"text": "a\udc00b"}]}])
def test_a_lone_surrogate_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(MalformedMessage, match="lone surrogate"):
        Message("a.b", data)
