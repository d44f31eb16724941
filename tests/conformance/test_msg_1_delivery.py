"""OVOS-MSG-1: Messages on their way: topics, payloads, routing and answers in a whole assistant and on both buses."""

from __future__ import annotations

import ast
import asyncio
import json
from pathlib import Path
from typing import Any, Final

import pytest

import hark
from flow.stage import UNMATCHED, MakeAssistant, claims, declines, public, transformer, turn_of
from hark.builtin import Cancel, ClockSkill, HelpSkill, Normalize, ParrotSkill
from hark.bus import LocalBus, ask
from hark.model import MalformedMessage, Message, Session, decode, encode
from hark.plugins import Ctx, Turn
from hark.skills import Skill, intent
from hark.spec import TRANSFORMER_TYPES, is_topic, topics
from hark.testing import FakeClock, settle

SOURCES = Path(hark.__file__).parent


# §2.1: topics.


def constants() -> dict[str, str]:
    """Every topic that has a name in `hark.spec.topics`."""
    return {name: value for name, value in vars(topics).items() if name[0].isupper() and isinstance(value, str)}


@pytest.mark.spec("MSG-1/2.1.1.m")
def test_topics_are_dotted_words_under_one_of_two_roots() -> None:
    named = constants()
    assert len(named) > 20
    for topic in named.values():
        assert is_topic(topic)
        assert topic == topic.lower()
        assert ":" not in topic
        # OVOS skills end handlers by names of their own (ruling R18); SCHEDULER-1 names the signal of a set clock.
        assert topic.startswith(("ovos.", "hark.", "mycroft.skill.handler.")) or topic == topics.CLOCK_SYNCED
    assert named["UTTERANCE_HANDLED"].startswith(named["UTTERANCE_HANDLE"])
    assert topics.response_topic(named["INTENT_LIST"]) == "ovos.intent.list.response"


@pytest.mark.spec("MSG-1/2.1.1.c")
@pytest.mark.spec("MSG-1/2.1.1.d")
async def test_every_topic_with_a_colon_is_the_dispatch_of_a_claim(assistant: MakeAssistant) -> None:
    shipped = (Normalize(), Cancel(), ClockSkill(), HelpSkill(), ParrotSkill())
    async with assistant(*shipped, claims("last")) as house:
        for text in ("what time is it", "say hello", "help", "never mind", "something else"):
            await house.hears(text)
        claimed = [f"{m.data['skill_id']}:{m.data['intent_name']}" for m in house.of(topics.INTENT_MATCHED)]
        with_colon = [topic for topic in house.topics() if ":" in topic]
    assert with_colon == claimed
    assert len(claimed) == 4


@pytest.mark.spec("MSG-1/2.1.1.c")
async def test_a_transformer_cannot_invent_one(assistant: MakeAssistant) -> None:
    def transform(ctx: Ctx) -> None:
        ctx.emit("somebody.skill:go")

    async with assistant(transformer("metadata", "t", transform), claims()) as house:
        assert await house.hears("hello") == ["hello"]
        assert "somebody.skill:go" not in house.topics()


@pytest.mark.spec("MSG-1/2.1.1.k")
async def test_the_target_of_a_shared_topic_is_in_the_payload(assistant: MakeAssistant) -> None:
    class Hall(Skill):
        id = "hall.skill"

        @intent("light the hall")
        def light(self, turn: Turn) -> str:
            return "hall"

    class Attic(Skill):
        id = "attic.skill"

        @intent("light the attic")
        def light(self, turn: Turn) -> str:
            return "attic"

    async with assistant(Hall(), Attic()) as house:
        house.bus.emit(Message(topics.INTENT_DISABLE, {"skill_id": "hall.skill", "intent_name": "light"}))
        assert await house.hears("light the hall") == []
        assert await house.hears("light the attic") == ["attic"]


# §3: the pair.


def looked_up(node: ast.AST) -> list[ast.expr | None]:
    """What a piece of code takes as a key: in brackets, in a dict, compared with `in`, or asked for by name."""
    if isinstance(node, ast.Subscript):
        return [node.slice]
    if isinstance(node, ast.Dict):
        return list(node.keys)
    if isinstance(node, ast.Compare):
        return [node.left]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
        return list(node.args[:1])
    return []


def is_pair(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and key.value in ("source", "destination")


@pytest.mark.spec("MSG-1/2.1.1.l")
@pytest.mark.spec("MSG-1/3.2.b")
def test_nobody_but_the_derivations_looks_at_the_pair() -> None:
    users = set()
    for path in SOURCES.rglob("*.py"):
        if "skills" in path.parts:  # there it is a word of a dialog: a skill writes no context
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            named = isinstance(node, ast.Name) and node.id in ("SOURCE", "DESTINATION")
            if named or any(map(is_pair, looked_up(node))):
                users.add(str(path.relative_to(SOURCES)))
    # What listens says who it is on a Message that comes from nowhere.
    listens = {"hear/options.py"}
    # A token may be bound to a source: the server refuses Messages of others.
    accepts = {"bus/websocket/auth.py"}
    # A dispatch that is called for again, by a Message to no client, is the dispatch as it was.
    repeats = {"understand/remote_dispatches.py", "act/handler_host.py"}
    # Transformers a deployment asks to tell its devices apart: what they decide concerns the turn, not its way.
    # A plugin of OVOS gets the context as OVOS has it.
    policies = {"bridges/opm/transformers.py"} | {
        f"builtin/transformers/{name}.py" for name in ("conditions", "metadata/rate_limit")
    }
    # A word of a payload: where an answer is from, or what is translated.
    payloads = {"act/polls.py", "builtin/common_query/plugin.py", "builtin/persona/look_up.py"}
    payloads.add("builtin/transformers/translation.py")
    assert users == {"spec/names.py", "model/message.py", *listens, *accepts, *repeats, *policies, *payloads}


@pytest.mark.spec("MSG-1/3.3.c")
@pytest.mark.spec("MSG-1/3.3.d")
@pytest.mark.parametrize("context", [{}, {"destination": "y"}, {"source": "x", "destination": "x"}])
async def test_every_subscriber_receives_whoever_is_addressed(bus_type: type[LocalBus], context: Any) -> None:
    bus = bus_type()
    await bus.open()
    received: list[str] = []
    for name in ("x", "y", "z"):
        bus.on("test.note", lambda message, name=name: received.append(name))
    bus.emit(Message("test.note", {}, context))
    await settle()
    await bus.close()
    assert received == ["x", "y", "z"]


@pytest.mark.spec("MSG-1/3.3.c")
@pytest.mark.spec("MSG-1/3.4.c")
@pytest.mark.parametrize(
    "context",
    [
        {"source": "sat-7"},
        {"source": "sat-7", "destination": "somebody.else"},
        {"destination": "nobody"},
        {"source": "a", "destination": "b", "peer": {"id": 7}, "hops": ["x", "y"]},
    ],
)
async def test_the_assistant_works_the_same_whoever_brings_the_utterance(
    assistant: MakeAssistant, context: dict[str, Any]
) -> None:
    async with assistant(transformer("utterance", "t", lambda texts, ctx: texts), claims()) as house:
        plain = await house.hears("hello", session="x")
        there = [(m.type, m.data, m.session) for m in turn_of(house)]
        brought = await house.hears("hello", session="x", context=context)
        here = [(m.type, m.data, m.session) for m in turn_of(house)]
    assert plain == brought == ["hello"]
    assert there == here


# §4: the session rides along.


@pytest.mark.spec("MSG-1/4.1.a")
@pytest.mark.spec("SESSION-2/3.2.a")
async def test_every_message_of_a_turn_carries_its_session(assistant: MakeAssistant) -> None:
    def handler(turn: Turn) -> str:
        turn.emit("test.aside")
        return "yes"

    async with assistant(claims(handler=handler), transformer("dialog", "d", lambda text, ctx: text)) as house:
        await settle()  # what is announced at the start belongs to no session
        house.messages.clear()
        await house.hears("hello", session=Session("x", site_id="kitchen", unheard_of=[1]))
        turn = list(house.messages)
    assert len(turn) > 8
    assert "test.aside" in [message.type for message in turn]
    for message in turn:
        assert message.session is not None, message.type
        assert (message.session_id, message.session.site_id) == ("x", "kitchen"), message.type
        assert message.session.get("unheard_of") == (1,), message.type


# §2.2: payloads, topic by topic.

TEXT, FLAG, TEXTS, OBJECT, OBJECTS = str, bool, [str], dict, [dict]

IDENTITY: Final = {"skill_id": TEXT, "intent_name": TEXT}
REGISTERED: Final = {**IDENTITY, "lang": TEXT}
LISTED: Final = {"loaded": TEXTS, "priorities": OBJECT}

PAYLOADS: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    # What each topic's payload has to hold, and what it may hold besides.
    "ovos.utterance.handle": ({"utterances": TEXTS}, {"lang": TEXT}),
    "ovos.utterance.handled": ({}, {}),
    "ovos.utterance.speak": ({"utterance": TEXT}, {"lang": TEXT, "listen": FLAG}),
    "ovos.utterance.cancelled": ({"cancel_reason": TEXT, "cancel_by": TEXT}, {}),
    "ovos.intent.matched": ({**REGISTERED, "utterance": TEXT, "slots": OBJECT, "pipeline_id": TEXT}, {}),
    "ovos.intent.unmatched": ({"utterances": TEXTS}, {"lang": TEXT}),
    "ovos.intent.handler.start": (IDENTITY, {}),
    "ovos.intent.handler.complete": (IDENTITY, {}),
    "ovos.intent.handler.error": ({**IDENTITY, "exception": TEXT}, {}),
    "ovos.intents.ready": ({}, {}),
    "ovos.scheduler.ready": ({"schedules": int, "missed": int, "clock": TEXT}, {}),
    "ovos.session.rejected": ({"msg_type": TEXT, "reason": TEXT}, {}),
    "ovos.intent.register.template": (
        {**REGISTERED, "samples": TEXTS},
        {"blacklist": TEXTS, "required_slots": TEXTS, "requires_context": list, "excludes_context": list},
    ),
    "ovos.skill.loaded": ({"skill_id": TEXT}, {"capabilities": TEXTS}),
    "ovos.skill.deregister": ({"skill_id": TEXT}, {}),
    "ovos.intent.enable": (IDENTITY, {"lang": TEXT}),
    "ovos.intent.disable": (IDENTITY, {"lang": TEXT}),
    "ovos.intent.list": ({}, {}),
    "ovos.intent.list.response": ({"ok": FLAG, "intents": OBJECTS}, {}),
    "ovos.intent.describe": ({"skill_id": TEXT}, {}),
    "ovos.intent.describe.response": ({"ok": FLAG, "definitions": OBJECTS}, {}),
    "ovos.skills.list": ({}, {}),
    "ovos.skills.list.response": ({"ok": FLAG, "skills": OBJECTS}, {}),
    "ovos.pipeline.template.intents.list": ({}, {}),
    "ovos.pipeline.template.intents.list.response": ({"pipeline_id": TEXT, "intents": OBJECTS}, {}),
    **{f"ovos.transformer.{kind}.list": ({}, {}) for kind in TRANSFORMER_TYPES},
    **{f"ovos.transformer.{kind}.list.response": (LISTED, {}) for kind in TRANSFORMER_TYPES},
}

DIALOGUE: Final = ("CONVERSE_", "STOP", "FALLBACK_", "COMMON_QUERY_", "PERSONA_", "TOOLS_", "SCHEDULER_")

SOUND: Final = ("AUDIO_", "LISTENER_", "MIC_", "STT_", "UTTERANCE_SPEAK_B64")

NOT_EMITTED: Final = {
    topics.REGISTER_KEYWORD,
    topics.ENTITY_REGISTER,
    topics.ENTITY_DEREGISTER,
    topics.INTENT_DEREGISTER,
    topics.CONTEXT_SET,
    topics.CONTEXT_UNSET,
    topics.CONTEXT_CLEAR,
}
"""Topics Hark reads but never writes."""

ELSEWHERE: Final = {topic for name, topic in constants().items() if name.startswith((*DIALOGUE, *SOUND))}
"""Topics of a dialogue, and of voice: their payloads are looked at in the tests of their specifications."""


def is_a(kind: Any, value: Any) -> bool:
    if isinstance(kind, list):
        return isinstance(value, list) and all(is_a(kind[0], item) for item in value)
    return type(value) is kind


@pytest.mark.spec("MSG-1/2.2.b")
async def test_what_is_emitted_has_the_payload_its_topic_prescribes(assistant: MakeAssistant) -> None:
    class Lamp(Skill):
        id = "lamp.skill"

        @intent("lamp {state}", required_slots=["state"], blacklist=["lamp oil"], requires=["lit"])
        def lamp(self, turn: Turn) -> None: ...

        @intent("break it")
        def fail(self, turn: Turn) -> None:
            raise RuntimeError("broken")

        @intent("ask me")
        async def ask(self, turn: Turn) -> None:
            await turn.speak("Yes?", listen=True)

    lamp = Lamp()
    async with assistant(Cancel(), lamp) as house:
        for text in ("ask me", "break it", "never mind", "nobody knows this"):
            await house.hears(text, lang="en-US")
        await house.hears([])
        lamp.disable("fail")
        lamp.enable("fail")
        house.bus.emit(decode(b'{"type": "some.note", "context": {"session": 7}}'))
        house.bus.emit(Message(topics.INTENT_LIST))
        house.bus.emit(Message(topics.INTENT_DESCRIBE, {"skill_id": "lamp.skill"}))
        house.bus.emit(Message(topics.SKILLS_LIST))
        house.bus.emit(Message(topics.pipeline_intents_list("template")))
        for kind in TRANSFORMER_TYPES:
            house.bus.emit(Message(topics.transformer_list(kind)))
        await settle()
    public_messages = [m for m in house.messages if m.type.startswith("ovos.")]
    assert {m.type for m in public_messages} == set(PAYLOADS)
    assert {topic for topic in constants().values() if topic.startswith("ovos.")} <= {
        *PAYLOADS,
        *NOT_EMITTED,
        *ELSEWHERE,
    }
    for message in public_messages:
        data = json.loads(encode(message)).get("data", {})
        required, optional = PAYLOADS[message.type]
        assert required.keys() <= data.keys() <= required.keys() | optional.keys(), (message.type, data)
        for key, value in data.items():
            assert is_a({**required, **optional}[key], value), (message.type, key, value)


# §5: answers.


@pytest.mark.spec("MSG-1/5.3.e")
async def test_an_asker_names_the_answer_topic_where_there_is_no_response(bus_type: type[LocalBus]) -> None:
    bus, clock = bus_type(), FakeClock()
    await bus.open()
    bus.on("some.skill:go", lambda message: bus.emit(message.reply("some.skill.went", {"n": 1})))
    answer = await ask(bus, clock, Message("some.skill:go"), topic="some.skill.went")
    assert answer.data == {"n": 1}
    for topic in ("some.skill:go", "some.thing.response"):
        with pytest.raises(ValueError, match="response"):
            await ask(bus, clock, Message(topic))
    await bus.close()


@pytest.mark.spec("MSG-1/5.3.e")
@pytest.mark.parametrize(
    ("question", "answer"),
    [("ovos.stop.ping", "ovos.stop.pong"), ("ovos.intent.list", "ovos.intent.list.response")],
)
def test_a_poll_is_answered_where_its_specification_says(question: str, answer: str) -> None:
    assert topics.answer_topic(question) == answer


@pytest.mark.spec("MSG-1/5.3.f")
async def test_queries_are_answered_on_their_response(assistant: MakeAssistant) -> None:
    queries = [topics.INTENT_LIST, topics.SKILLS_LIST, topics.pipeline_intents_list("template")]
    queries += [topics.transformer_list(kind) for kind in TRANSFORMER_TYPES]
    async with assistant() as house:
        await settle()
        for query in queries:
            house.messages.clear()
            house.bus.emit(Message(query, {}, {"source": "asker"}))
            await settle()
            assert [m.type for m in house.messages] == [query, f"{query}.response"]
            assert house.messages[-1].context["destination"] == "asker"


@pytest.mark.spec("MSG-1/5.4.b")
async def test_parallel_questions_get_their_own_answers(bus_type: type[LocalBus]) -> None:
    bus, clock = bus_type(), FakeClock()
    await bus.open()
    waiting: list[Message] = []
    bus.on("test.sum", waiting.append)
    asked = [
        asyncio.ensure_future(ask(bus, clock, Message("test.sum", {"n": n}, session=Session("x")))) for n in range(3)
    ]
    await settle()
    for question in reversed(waiting):
        bus.emit(question.response({"n": question.data["n"] * 10}))
    answers = await asyncio.gather(*asked)
    await bus.close()
    assert [answer.data["n"] for answer in answers] == [0, 10, 20]
    assert all(set(json.loads(encode(answer))) <= {"type", "data", "context"} for answer in answers)


# §6.1: malformed frames.

BAD_FRAMES = [
    b"",
    b"[]",
    b"{",
    b'{"type": ""}',
    b'{"type": "ovos.utterance.handle", "data": null}',
    b"\xff\xfe",
    b'{"type": "a.b", "data": {"n": NaN}}',
]


@pytest.mark.spec("MSG-1/6.1.a")
@pytest.mark.spec("MSG-1/6.1.b")
async def test_a_malformed_frame_becomes_no_message_and_the_next_good_one_is_handled(assistant: MakeAssistant) -> None:
    good = b'{"type": "ovos.utterance.handle", "data": {"utterances": ["hello"]}}'
    async with assistant(claims()) as house:
        await settle()
        house.messages.clear()
        before = house.runtime.store.current
        for frame in BAD_FRAMES:
            with pytest.raises(MalformedMessage):
                house.bus.emit(decode(frame))
        await settle()
        assert house.messages == []
        assert house.runtime.store.current is before
        house.bus.emit(decode(good))
        await settle()
        assert house.of(topics.UTTERANCE_SPEAK)[0].data["utterance"] == "hello"
        assert len(house.of(topics.UTTERANCE_HANDLED)) == 1


@pytest.mark.spec("MSG-1/7.a")
async def test_an_utterance_needs_nothing_in_its_context(assistant: MakeAssistant) -> None:
    async with assistant(declines()) as house:
        house.bus.emit(decode(b'{"type": "ovos.utterance.handle", "data": {"utterances": ["hello"]}}'))
        await settle()
        assert public(turn_of(house)) == UNMATCHED
