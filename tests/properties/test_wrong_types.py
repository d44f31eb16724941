"""Wrong types in every field of every message the core consumes: each turn ends once, and the next one is answered.

`MESSAGES`, `CONTEXT` and `SESSION` show every such message with every field as it should be. The generator goes
through all places in them, however deep, and puts there everything that JSON has and the place does not.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hark.builtin import Cancel, ClockSkill, HelpSkill, KeywordMatcher, Normalize, ParrotSkill
from hark.model import MalformedMessage, Message, Session, decode
from hark.model.session_codec import FIELDS
from hark.plugins import (
    Ctx,
    Declined,
    DialogTransformer,
    IntentTransformer,
    Match,
    MetadataTransformer,
    PipelinePlugin,
    Round,
    Toolbox,
    Turn,
    UtteranceTransformer,
    handles,
    tool,
)
from hark.skills import Skill, intent
from hark.spec import TRANSFORMER_TYPES, topics
from hark.spec.names import CANCEL_KEYS, STAMP_KEYS
from hark.testing import Assistant, WireBus, settle

Tree = Any
"""JSON as Python has it."""
Where = tuple[str | int, ...]
"""The way to a place in a tree."""

# What is right.

TURN = "the turn under way"
"""Stands for the `utterance_id` of the turn that a message is thrown at."""
OTHER = {"skill_id": "other.skill", "intent_name": "thing", "lang": "en-US"}
ENTITY = {"skill_id": "other.skill", "entity_name": "room", "lang": "en-US"}
RIDERS = {
    "required_slots": ["room"],
    "requires_context": ["k", {"key": "k", "scope": "shared"}],
    "excludes_context": ["l"],
}
PONG = "rig.pong"

MESSAGES: Mapping[str, Mapping[str, Any]] = {
    topics.UTTERANCE_HANDLE: {"utterances": ["how are you", "who are you"], "lang": "en-US"},
    topics.UTTERANCE_SPEAK: {"utterance": "By the way.", "lang": "en-US", "listen": True},
    topics.REGISTER_KEYWORD: {
        **OTHER,
        **RIDERS,
        **{part: [{"name": part, "samples": ["dim"]}] for part in ("required", "optional", "excluded")},
        "one_of": [[{"name": "one", "samples": ["dim"]}]],
    },
    topics.REGISTER_TEMPLATE: {
        **OTHER,
        **RIDERS,
        "samples": ["(open|close) the {room} thing", "thing"],
        "blacklist": ["never"],
        "required_keywords": ["thing"],
        "slot_blacklist": {"room": ["attic"]},
    },
    topics.ENTITY_REGISTER: {**ENTITY, "samples": ["kitchen", "hall"], "blacklist": ["attic"]},
    topics.INTENT_DEREGISTER: OTHER,
    topics.ENTITY_DEREGISTER: ENTITY,
    topics.SKILL_DEREGISTER: {"skill_id": "other.skill"},
    topics.INTENT_ENABLE: OTHER,
    topics.INTENT_DISABLE: OTHER,
    topics.SKILL_LOADED: {"skill_id": "other.skill", "capabilities": ["fallback", "converse"]},
    topics.INTENT_LIST: {"session_id": "visitor", "skill_id": "other.skill", "lang": "en-US"},
    topics.INTENT_DESCRIBE: {**OTHER, "method": "template", "session_id": "visitor"},
    topics.SKILLS_LIST: {"session_id": "visitor"},
    topics.INTENT_PREVIEW: {"query": "one", "utterance": "who are you", "lang": "en-US"},
    **{topics.transformer_list(kind): {} for kind in TRANSFORMER_TYPES},
    **{
        topics.pipeline_intents_list(matcher): {"skill_id": "other.skill", "lang": "en-US"}
        for matcher in ("template", "keyword", "pollster", "stop", "converse", "common_query", "fallback")
    },
    topics.CONTEXT_SET: {"key": "k", "value": "v", "scope": "shared", "turns": 2, "ttl_seconds": 5.5},
    topics.CONTEXT_UNSET: {"key": "k", "scope": "private"},
    topics.CONTEXT_CLEAR: {},
    topics.CONVERSE_PING: {"utterances": ["how are you", "who are you"], "lang": "en-US"},
    topics.CONVERSE_ACTIVE_LIST: {},
    topics.STOP: {},
    topics.STOP_PING: {},
    topics.FALLBACK_REGISTER: {"skill_id": "other.skill", "priority": 50},
    topics.FALLBACK_DEREGISTER: {"skill_id": "other.skill"},
    topics.FALLBACK_PING: {"utterances": ["how are you"], "lang": "en-US"},
    topics.COMMON_QUERY_PING: {"utterance": "who are you", "lang": "en-US"},
    topics.COMMON_QUERY_REQUEST: {"utterance": "who are you", "skill_id": "other.skill", "lang": "en-US"},
    topics.HANDLER_WAITING: {"topic": "steady.skill:wait", "waits": True},
    topics.HANDLER_ACCEPTED: {"topic": "steady.skill:wait", "host": "some host"},
    topics.HANDLER_DONE: {"topic": "steady.skill:wait", "exception": "it broke"},
    topics.HOST_ALIVE: {"host": "some host", "open": [["some turn", "steady.skill:wait"]]},
    topics.BUS_AGAIN: {},
    topics.SPEECH_RENDERED: {"outcome": "rendered"},
    topics.READY: {},
    topics.HANDLER_ACTIVE: {"skill_id": "other.skill", "waits_until": 5.5},
    topics.SKILL_ATTACHED: {"skill_ids": ["other.skill"], "completes": ["other.skill"], "started": True},
    topics.SKILL_DETACHED: {"skill_ids": ["other.skill"]},
    topics.QUESTION_WITHDRAWN: {"skill_id": "other.skill"},
    topics.PRESENCE: {"session_id": "visitor", "here": True},
    topics.SESSION_CHANGED: {"removed": ["site_id"]},
    topics.SCHEDULED_CALL: {"call": "other.skill.ring 1", "runs": True},
    topics.AUDIO_OUTPUT_STARTED: {},
    topics.AUDIO_OUTPUT_ENDED: {},
    topics.CONVERSE_PONG: {"skill_id": "other.skill", "can_handle": True, "result": True},
    topics.CLOCK_SYNCED: {},
    topics.SCHEDULER_SCHEDULE: {
        "id": "one",
        "event": "other.skill.ring",
        "local": {"time": "07:30", "zone": "Europe/Berlin", "days": ["mon", "fri"]},
        "data": {"why": ["work"]},
        "until": "2100-01-01T00:00:00Z",
        "count": 3,
        "misfire": "skip",
        "grace_s": 5.5,
        "ephemeral": True,
    },
    topics.SCHEDULER_CANCEL: {"id": "one"},
    topics.SCHEDULER_GET: {"id": "one"},
    topics.SCHEDULER_LIST: {},
    topics.PERSONA_TOOLS_DISCOVER: {},
    topics.response_topic(topics.PERSONA_TOOLS_DISCOVER): {"toolbox_id": "box", "tools": [{"name": "tell"}]},
    topics.PERSONA_TOOLS_CALL: {"toolbox_id": "box", "name": "tell", "kwargs": {"count": 1, "word": "hi"}},
    topics.old_tools_call("box"): {"name": "tell", "kwargs": {"count": 1, "word": "hi"}},
    topics.TOOLS_LIST: {},
    topics.TOOLS_GET: {"name": "tell"},
    topics.TOOLS_INVOKE: {"name": "tell", "args": {"count": 1, "word": "hi"}},
    topics.TOOLS_RELOAD: {},
    "steady.skill:fine": {"utterance": "how are you", "lang": "en-US", "slots": {"who": "you"}},
    PONG: {"skill_id": "other.skill", "can_handle": True},
}
"""Each topic that some part of the core listens to, with its payload."""

CONTEXT: Mapping[str, Any] = {
    "source": "a satellite",
    "destination": "a core",
    "utterance_id": TURN,
    "skill_id": "other.skill",
    "pipeline_id": "template",
    "hark_ask": "a mark",
    "hark_turn": "a mark too",
    "hark_response": "another mark",
    **dict.fromkeys(CANCEL_KEYS, "some text"),
    "canceled": True,
    **{key: ["some_transformer"] for key in STAMP_KEYS.values()},
}
"""Every context key that something in the core reads, its session apart."""

SESSION: Mapping[str, Any] = {
    "session_id": "visitor",
    **{name: ["nobody"] for name in FIELDS if name.startswith("blacklisted_")},
    **{name: "en-US" for name in FIELDS if name.endswith("lang")},
    "secondary_langs": ["de-DE"],
    "pipeline": ["pollster", "template"],
    "intent_context": {
        "k": {"value": "v", "expires_at": 4e9, "turns_remaining": 3},
        "other.skill:k": {"value": None},
        "gone": None,
    },
    "active_handlers": [{"skill_id": "other.skill", "activated_at": 1.5}],
    "converse_handlers": [{"skill_id": "other.skill", "activated_at": 2}],
    "response_mode": {"skill_id": "other.skill", "expires_at": 1},
    "fallback_handlers": ["other.skill"],
    "persona_id": "butler",
    "audio_transformers": ["nobody"],
    "utterance_transformers": ["normalize", "cancel", "count"],
    "metadata_transformers": ["note"],
    "intent_transformers": ["same"],
    "dialog_transformers": ["polite"],
    "tts_transformers": ["nobody"],
    "site_id": "kitchen",
    "location": {"lat": 52.5, "lon": 13, "tz": "Europe/Berlin"},
    "of_tomorrow": {"a": [1]},
}
"""Every session field, and an unknown one."""

REGISTERED = (topics.SKILL_LOADED, topics.REGISTER_KEYWORD, topics.REGISTER_TEMPLATE, topics.ENTITY_REGISTER)
WITH_SESSION = (topics.UTTERANCE_HANDLE, topics.UTTERANCE_SPEAK, topics.HANDLER_DONE, topics.REGISTER_TEMPLATE, PONG)
"""Who looks into the session; the others carry it, and its id is all that matters."""

# What is wrong.

ABSENT: Any = object()
DEEP = json.loads("[" * 12 + "{}" + "]" * 12)
WRONG: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**63, 10**400, 0.5, -1e308, "", "text", "\x00é"),
    *([], [None], [7], ["a", 7], [[[]]], [{}], {}, {"": ""}, {"a": {"b": [None]}}, DEEP, ABSENT),
)


def kind(value: Any) -> str:
    """The JSON type of a value."""
    return "number" if type(value) in (int, float) else type(value).__name__


def wrong_for(right: Any) -> list[Any]:
    """Everything a place can hold instead. Of its own type that is what is empty, huge or wrong inside."""
    inside = ("list", "dict")
    return [value for value in WRONG if kind(value) != kind(right) or kind(right) in inside or value in ("", 10**400)]


def right(topic: str) -> dict[str, Any]:
    """A message with everything as it should be."""
    session = SESSION if topic in WITH_SESSION else {"session_id": "visitor"}
    return {"type": topic, "data": MESSAGES[topic], "context": {**CONTEXT, "session": session}}


def places(tree: Tree, above: Where = ()) -> Iterator[tuple[Where, Any]]:
    """Every place in a tree with what is there, and in each object one place that is not taken."""
    if isinstance(tree, dict):
        yield (*above, "surplus"), ABSENT
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield (*above, key), value
        if isinstance(value, (dict, list)):
            yield from places(value, (*above, key))


def put(tree: Tree, where: Where, value: Any) -> Tree:
    """A copy of `tree` with `value` in that place; where an earlier change has removed the place, `tree` itself."""
    key, *rest = where
    if not isinstance(tree, (dict, list)) or (
        isinstance(tree, list) and not (isinstance(key, int) and key < len(tree))
    ):
        return tree
    copy: Any = tree.copy()
    if rest:
        if isinstance(tree, dict) and key not in tree:
            return tree
        copy[key] = put(tree[key], tuple(rest), value)
    elif value is not ABSENT:
        copy[key] = value
    elif isinstance(copy, list) or key in copy:
        del copy[key]
    return copy


# What may come out.

EMITTED: Mapping[str, Mapping[str, type | tuple[type, ...]]] = {
    topics.UTTERANCE_HANDLED: {},
    topics.INTENT_MATCHED: {
        **dict.fromkeys(("skill_id", "intent_name", "lang", "utterance", "pipeline_id"), str),
        "slots": dict,
    },
    topics.INTENT_UNMATCHED: {"utterances": tuple},
    topics.HANDLER_START: {"skill_id": str, "intent_name": str},
    topics.HANDLER_COMPLETE: {"skill_id": str, "intent_name": str},
    topics.HANDLER_ERROR: {"skill_id": str, "intent_name": str, "exception": str},
    topics.UTTERANCE_CANCELLED: {"cancel_reason": str, "cancel_by": str},
    topics.SESSION_REJECTED: {"msg_type": str, "reason": str},
    topics.response_topic(topics.INTENT_LIST): {"ok": bool, "intents": tuple},
    topics.response_topic(topics.SKILLS_LIST): {"ok": bool, "skills": tuple},
    topics.response_topic(topics.INTENT_DESCRIBE): {"ok": bool},
    topics.response_topic(topics.pipeline_intents_list("template")): {"pipeline_id": str, "intents": tuple},
    **{
        topics.response_topic(topics.transformer_list(name)): {"loaded": tuple, "priorities": dict}
        for name in TRANSFORMER_TYPES
    },
}
"""What the core says itself, and the type of each field in it."""


def check_emitted(message: Message) -> None:
    """However wrong what came in was, nothing wrong comes out."""
    for name, promised in EMITTED.get(message.type, {}).items():
        assert isinstance(message.data.get(name), promised), f"{name} of {message}"


# Who is exposed to it.


class Steady(Skill):
    """Gives the same answer every time, and can be kept waiting."""

    id = "steady.skill"
    quick = True

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    @intent("how are you")
    def fine(self, turn: Turn) -> str:
        return "Fine."

    @intent("wait for it")
    async def wait(self, turn: Turn) -> str:
        await turn.speak("Wait.", wait=True)
        await self.gate.wait()
        return "It came."


class Box(Toolbox):
    id = "box"

    @tool
    def tell(self, count: int, word: str = "") -> str:
        """Say something several times."""
        return " ".join([word] * (count % 3))


class Pollster(PipelinePlugin):
    """Asks around when it hears "who is there"."""

    id = "pollster"

    async def match(self, utterances: Any, lang: str, session: Session, round: Round) -> Match | Declined:
        assert isinstance(lang, str)
        check_session(session)
        if utterances[0] != "who is there":
            return Declined("nothing to ask")
        answers = await round.poll("rig.ping", {}, ["other.skill", "another.skill"], 1.0)
        return self.claim("count", lang=lang, utterance=utterances[0], slots={"found": str(len(answers))})

    @handles("count")
    async def count(self, turn: Turn) -> str:
        return f"{turn.slots['found']} answered."


class Count(UtteranceTransformer):
    id = "count"
    quick = True

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        assert isinstance(utterances, list)
        assert all(isinstance(utterance, str) for utterance in utterances)
        assert ctx.lang is None or isinstance(ctx.lang, str)
        return utterances


class Note(MetadataTransformer):
    id = "note"
    quick = True

    def transform(self, ctx: Ctx) -> None:
        check_session(ctx.session)
        ctx.set("note.seen", ctx.session.session_id)


class Same(IntentTransformer):
    id = "same"
    quick = True

    def transform(self, match: Match, ctx: Ctx) -> Match:
        assert match.defect() is None
        return match.with_slots(same="yes")


class Polite(DialogTransformer):
    id = "polite"
    quick = True

    def transform(self, text: str, ctx: Ctx) -> str:
        assert isinstance(text, str)
        assert ctx.lang is None or isinstance(ctx.lang, str)
        check_session(ctx.session)
        return text.strip()


TYPED = Session.read(SESSION)


def check_session(session: Session) -> None:
    """What a plugin finds in a session is of the type that was promised to it, whatever was sent."""
    for name, field in FIELDS.items():
        value = getattr(session, name)
        assert value is field.empty or type(value) is type(TYPED.get(name)), f"{name} is {value!r}"


class Faults(logging.Handler):
    """Collects what must not happen: the core logs it when it has caught something it did not expect."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        # What a handler makes of a forged dispatch is its own affair, and the watchdog takes the jumps of a test's
        # clock for a blocked event loop. A failure of any plugin's listener or transformer is ours.
        if record.name in ("hark.act", "hark.watchdog"):
            return
        if record.levelno >= logging.ERROR or record.name == "hark.hosting":
            raised = record.exc_info[1] if record.exc_info else None
            self.found.append(f"{record.name}: {text} {raised!r}"[:2_000])


AT_ONCE = 60
"""How many messages are thrown at one turn."""
ANSWERS = {
    "wait for it": (["Wait.", "It came."],),
    "who is there": (["0 answered."], ["1 answered."]),
    "call nobody": ([],),
}


class RecordingBus(WireBus):
    """Records the topics that are listened to."""

    listened_to: ClassVar[set[str]] = set()

    def on(self, topic: str | Sequence[str], *arguments: Any, **options: Any) -> Any:
        self.listened_to.update([topic] if isinstance(topic, str) else topic)
        return super().on(topic, *arguments, **options)


class Exposed:
    """A running assistant that messages are thrown at, and the checks that they did it no harm."""

    def __init__(self, bus: type[WireBus] = WireBus) -> None:
        self.steady = Steady()
        skills = (ClockSkill(), ParrotSkill(), HelpSkill())
        plugins = (Normalize(), Cancel(), KeywordMatcher(), *skills, Count(), Note(), Same(), Polite(), Box())
        self.assistant = Assistant(self.steady, Pollster(), *plugins, bus=bus)
        self.faults = Faults()
        self.answered = 0

    async def __aenter__(self) -> Exposed:
        self.loop = asyncio.get_running_loop()
        self.loop.set_exception_handler(lambda _loop, event: self.faults.found.append(f"the event loop: {event}"))
        logger = logging.getLogger("hark")
        logger.addHandler(self.faults)
        logger.propagate = False
        self.before = asyncio.all_tasks()
        await self.assistant.__aenter__()
        await settle()
        self.at_rest = asyncio.all_tasks()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.steady.gate.set()
        await self.assistant.__aexit__(kind, error, trace)
        await settle()
        logger = logging.getLogger("hark")
        logger.removeHandler(self.faults)
        logger.propagate = True
        self.loop.set_exception_handler(None)
        if error is None:
            assert not self.faults.found
            assert asyncio.all_tasks() == self.before, "a task is left"

    def throw(self, tree: Tree, turn: str | None) -> None:
        """Put a message on the bus, as bytes, in the turn with this id; what is no message stops at the codec."""
        written = json.dumps(tree).replace(json.dumps(TURN), json.dumps(turn))
        try:
            message = decode(written)
        except MalformedMessage:
            return
        self.assistant.bus.emit(message)

    async def withstands(
        self, thrown: Iterable[tuple[Where, Tree]], said: str = "wait for it", probe: str = ""
    ) -> None:
        """Throw messages into the middle of a turn; then that turn ends once, and the next one is answered."""
        thrown = list(thrown)
        try:
            await self._withstands([tree for _, tree in thrown], said, probe)
        except AssertionError as error:
            error.add_note("what was wrong: " + ", ".join(sorted({".".join(map(str, where)) for where, _ in thrown})))
            raise

    async def _withstands(self, trees: list[Tree], said: str, probe: str) -> None:
        assistant = self.assistant
        assistant.messages.clear()
        self.steady.gate.clear()
        for topic in REGISTERED:  # there is something that can be found, and replaced, and removed
            self.throw(right(topic), None)
        hearing = assistant.say(said, session="ordinary")
        await settle()
        turn = assistant.trace().utterance_id
        for tree in trees:
            self.throw(tree, turn)
            if probe:
                assert await self.hears(probe, "visitor")
        await settle()
        self.steady.gate.set()
        await assistant.clock.advance(30.0)
        assert hearing.over.is_set(), f"the turn did not end:\n{assistant.why(turn)}"
        assert hearing.spoken in ANSWERS[said]
        self.answered += 1
        session = "ordinary" if self.answered % 2 else None
        assert await self.hears("how are you", session) == ["Fine."], assistant.why()
        assert await assistant.bus.settled() == []  # who answers on a worker thread is done as well
        self.check()

    async def hears(self, text: str, session: str | None) -> list[str]:
        """What is answered; time passes, because polls wait for skills that only a forged message has made known."""
        hearing = self.assistant.say(text, session=session)
        await settle()
        while not hearing.over.is_set():
            await self.assistant.clock.advance(0.5)
            await asyncio.sleep(0.001)
        return hearing.spoken

    def check(self) -> None:
        """One marker for each utterance, nothing unforeseen, nothing left over."""
        assert not self.faults.found
        entries = self.assistant.of(topics.UTTERANCE_HANDLE)
        markers = [message.utterance_id for message in self.assistant.of(topics.UTTERANCE_HANDLED)]
        assert len(markers) == len(set(markers)) == len(entries), f"{len(entries)} utterances, markers {markers}"
        assert None not in markers
        for message in self.assistant.messages:
            check_emitted(message)
        assert self.assistant.runtime.orchestrator.open_turns == 0
        assert asyncio.all_tasks() == self.at_rest, "a task is left"


# One place at a time, everything that is wrong there.


async def test_the_table_has_every_topic_that_is_listened_to() -> None:
    async with Exposed(RecordingBus):
        listened_to = RecordingBus.listened_to
    passing = {topic for topic in listened_to if ":" in topic or topic.startswith("hark.fence.")}
    assert topics.UTTERANCE_HANDLE in listened_to
    assert listened_to - passing - EMITTED.keys() <= MESSAGES.keys()
    assert {*FIELDS} <= SESSION.keys()


async def test_the_table_is_right() -> None:
    async with Exposed() as exposed:
        for topic in MESSAGES:
            assert decode(json.dumps(right(topic))).type == topic
            await exposed.withstands([((), right(topic))])
        assert exposed.assistant.runtime.orchestrator.manifest.skills


def spoilt(tree: Tree) -> Iterator[tuple[Where, Tree]]:
    """`tree` with one place wrong, for each place and everything that is wrong there."""
    for where, value in places(tree):
        base = narrowed(tree, where)
        for wrong in wrong_for(value):
            yield where, put(base, where, wrong)


def narrowed(tree: Tree, where: Where) -> Tree:
    """`tree` with no more of its session than the field that this place is in: there is less to carry."""
    match where:
        case ("context", "session", str(field), *_):
            session = {name: SESSION[name] for name in ("session_id", field) if name in SESSION}
            return put(tree, ("context", "session"), session)
    return tree


@pytest.mark.parametrize("topic", MESSAGES)
async def test_a_wrong_type_anywhere_ends_no_turn_twice_and_keeps_no_turn_from_being_answered(topic: str) -> None:
    wrong = list(spoilt(right(topic)))
    async with Exposed() as exposed:
        for at in range(0, len(wrong), AT_ONCE):
            await exposed.withstands(wrong[at : at + AT_ONCE])


async def test_a_wrong_type_in_a_done_signal_ends_its_turn_at_most_once() -> None:
    async with Exposed() as exposed:
        for where, tree in spoilt(right(topics.HANDLER_DONE)):
            if {"data", "utterance_id"} & {*where[:2]}:
                await exposed.withstands([(where, tree)])


async def test_a_wrong_type_in_a_registration_keeps_introspection_working() -> None:
    wrong = [(where, tree) for where, tree in spoilt(right(topics.REGISTER_TEMPLATE)) if where[0] == "data"]
    async with Exposed() as exposed:
        for at in range(0, len(wrong), AT_ONCE):
            await exposed.withstands(wrong[at : at + AT_ONCE], probe="what can you do")
            assert len(exposed.assistant.of("help.skill:what_can_you_do")) == len(wrong[at : at + AT_ONCE])


@pytest.mark.parametrize(("levels", "fits"), [(95, True), (96, False), (98, False)])
async def test_a_registration_as_deep_as_a_message_can_be_leaves_no_question_unanswered(
    levels: int, fits: bool
) -> None:
    deep = put(right(topics.REGISTER_TEMPLATE), ("data", "surplus"), json.loads("[" * levels + "]" * levels))
    async with Exposed() as exposed:
        await exposed.withstands([((), deep), ((), right(topics.INTENT_DESCRIBE)), ((), right(topics.INTENT_LIST))])
        [answer] = exposed.assistant.of(topics.response_topic(topics.INTENT_DESCRIBE))
        assert answer.data["ok"] is fits
        [answer] = exposed.assistant.of(topics.response_topic(topics.INTENT_LIST))
        assert "thing" in [found["intent_name"] for found in answer.data["intents"]]


@pytest.mark.parametrize("topic", [topics.HANDLER_ACCEPTED, topics.HANDLER_DONE, topics.HOST_ALIVE])
async def test_a_wrong_type_in_a_signal_leaves_no_turn_waiting_for_a_handler_that_is_not_there(topic: str) -> None:
    tree = put(put(right(topic), ("data", "topic"), "other.skill:thing"), ("context", "session"), {})
    async with Exposed() as exposed:
        exposed.assistant.bus.emit(Message(topics.REGISTER_TEMPLATE, {**OTHER, "samples": ["call nobody"]}))
        for where, signal in spoilt(tree):
            if where[0] == "data" or where[-1] == "utterance_id":
                await exposed.withstands([(where, signal)], said="call nobody")
                assert len(exposed.assistant.of("other.skill:thing")) == 1


async def test_a_wrong_type_in_an_answer_keeps_no_poll_from_ending() -> None:
    async with Exposed() as exposed:
        for where, tree in spoilt(put(right(PONG), ("context", "session"), {"session_id": "ordinary"})):
            if {"data", "session", "utterance_id"} & {*where[:2]}:
                await exposed.withstands([(where, tree)], said="who is there")


# Several places at a time, anything at all.

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(texts, children, max_size=3),
    max_leaves=6,
) | st.sampled_from(WRONG)
PLACES = {topic: [where for where, _ in places(right(topic)) if where != ("type",)] for topic in MESSAGES}


@st.composite
def spoilt_messages(draw: st.DrawFn) -> Tree:
    topic = draw(st.sampled_from(sorted(MESSAGES)))
    tree: Tree = right(topic)
    for where in draw(st.lists(st.sampled_from(PLACES[topic]), min_size=1, max_size=6)):
        tree = put(tree, where, draw(anything))
    return tree


@given(st.lists(spoilt_messages(), min_size=1, max_size=12), st.sampled_from(["wait for it", "who is there"]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_however_much_is_wrong_at_once_each_turn_ends_once(trees: list[Tree], said: str) -> None:
    async def throw_them() -> None:
        async with Exposed() as exposed:
            await exposed.withstands([((), tree) for tree in trees], said)

    asyncio.run(throw_them())


# What the fuzzer has found worth keeping.

FUZZ = Path(__file__).parents[2] / "fuzz"


def checks() -> Any:
    """The checks of the fuzz targets; they need no fuzzer."""
    spec = spec_from_file_location("fuzz_checks", FUZZ / "checks.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("target", ["codec", "session"])
def test_everything_the_fuzzer_kept_still_holds(target: str) -> None:
    kept = sorted((FUZZ / "corpus" / target).iterdir())
    check = getattr(checks(), f"check_{target}")
    logging.disable(logging.CRITICAL)
    try:
        for path in kept:
            check(path.read_bytes())
    finally:
        logging.disable(logging.NOTSET)
    assert len(kept) > 20
