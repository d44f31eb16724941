"""OVOS-INTENT-4: registrations on the bus, as the skill kit makes them and the matcher that ships reads them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from flow.stage import (
    MakeAssistant,
    claims,
    silent,
    skill,
    turn_of,
)
from hark.model import Message, Session
from hark.plugins import Plugin, Turn
from hark.skills import Skill, intent
from hark.skills.decorators import MalformedIntent
from hark.spec import RESERVED_INTENT_NAMES, topics
from hark.testing import Assistant, settle

LIGHTS = "lights.demo"


def dim(**changes: Any) -> dict[str, Any]:
    """The payload of a template registration; None leaves a field out."""
    data = {"skill_id": LIGHTS, "intent_name": "dim", "lang": "en-US", "samples": ["dim {room}"], **changes}
    return {key: value for key, value in data.items() if value is not None}


def keyword(**changes: Any) -> dict[str, Any]:
    """The payload of a keyword registration."""
    data = {"skill_id": LIGHTS, "intent_name": "dim", "lang": "en-US", **changes}
    data.setdefault("required", [{"name": "dim", "samples": ["dim"]}])
    return {key: value for key, value in data.items() if value is not None}


def lights(**handlers: Any) -> Plugin:
    """Somebody who handles what is registered by hand."""
    return skill(LIGHTS, quick=True, **{"dim": silent, "light": silent, **handlers})


def tell(hark: Assistant, topic: str, data: Mapping[str, Any], session_id: str = "default", **context: Any) -> None:
    """Put a Message on the bus, as a skill of another process would."""
    hark.bus.emit(Message(topic, data, context, Session(session_id)))


def register(hark: Assistant, session_id: str = "default", **changes: Any) -> None:
    tell(hark, topics.REGISTER_TEMPLATE, dim(**changes), session_id)


async def matched(hark: Assistant, text: str, session_id: str = "default", lang: str | None = None) -> str | None:
    """The dispatch topic an utterance leads to, or None."""
    await hark.hears(text, lang=lang, session=Session(session_id))
    return next((message.type for message in turn_of(hark) if ":" in message.type), None)


Key = tuple[str, str, str, str]


async def listed(hark: Assistant) -> dict[Key, bool]:
    """What the orchestrator says is registered: session, name, language and method, and whether it is enabled."""
    answer = f"{topics.INTENT_LIST}.response"
    before = len(hark.of(answer))
    hark.bus.emit(Message(topics.INTENT_LIST))
    async with asyncio.timeout(30):  # on a busy machine it may come from a thread, for which nothing else waits
        await settle()
        while len(hark.of(answer)) == before:
            await asyncio.to_thread(time.sleep, 0.001)
            await settle()
    entries = hark.of(answer)[-1].data["intents"]
    return {(e["session_id"], e["intent_name"], e["lang"], e["method"]): e["enabled"] for e in entries}


DIM = ("default", "dim", "en-US", "template")
DIM_BY_KEYWORD = ("default", "dim", "en-US", "keyword")


class Lamp(Skill):
    """A skill as authors write one."""

    id = "lamp.skill"
    quick = True

    @intent("lampe (an|aus)", lang="de-DE")
    @intent("lamp on", "turn on {room} lamp", required_slots=["room"], blacklist=["lamp shade"])
    def switch(self, turn: Turn) -> str:
        turn.emit("lamp.switched", {"room": "hall"})
        return "done"

    @intent("lamp quiet")
    def quiet(self, turn: Turn) -> None: ...


# §2: broadcasts.


@pytest.mark.spec("INTENT-4/2.a")
async def test_registrations_are_broadcast_and_nobody_answers_them(assistant: MakeAssistant) -> None:
    async with assistant(Lamp()) as hark:
        register(hark)
        tell(hark, topics.ENTITY_REGISTER, {"skill_id": LIGHTS, "entity_name": "room", "lang": "en-US", "samples": []})
        tell(hark, topics.INTENT_DISABLE, {"skill_id": LIGHTS, "intent_name": "dim"})
        await settle()
        seen = [message for message in hark.messages if message.type in topics.REGISTRATION]
        assert {topics.SKILL_LOADED, topics.REGISTER_TEMPLATE, topics.INTENT_DISABLE} <= {m.type for m in seen}
        assert all("destination" not in message.context for message in seen)
        answers = {f"{topic}.response" for topic in topics.REGISTRATION}
        assert answers.isdisjoint(hark.topics())


# §3: identity.


@pytest.mark.spec("INTENT-4/3.1.a")
@pytest.mark.spec("INTENT-4/3.1.c")
async def test_everything_a_skill_emits_names_it(assistant: MakeAssistant) -> None:
    class Rogue(Lamp):
        id = "rogue.skill"

        async def start(self) -> None:
            self.host.on("test.poke", self._poked)

        def _poked(self, message: Message) -> None:
            self.host.emit("rogue.fresh")
            self.host.send(message.forward("rogue.forwarded"))
            self.host.send(message.response().carrying(skill_id="somebody.else"))
            self.host.speak("aside")

    async with assistant(Rogue()) as hark:
        await hark.hears("turn on hall lamp")
        hark.bus.emit(Message("test.poke", {}, {"skill_id": "somebody.else"}))
        await settle()
        own = ("lamp.switched", "rogue.fresh", "rogue.forwarded", "test.poke.response", topics.UTTERANCE_SPEAK)
        registered = [m for m in hark.messages if m.type in topics.REGISTRATION]
        emitted = [m for m in hark.messages if m.type in own]
    assert [m.type for m in emitted].count(topics.UTTERANCE_SPEAK) == 2
    assert {m.type for m in emitted} == set(own)
    assert {m.context.get("skill_id") for m in [*emitted, *registered]} == {"rogue.skill"}


@pytest.mark.spec("INTENT-4/3.1.d")
async def test_a_message_that_leaves_its_dispatch_under_another_name_is_noticed(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    class Mimic(Skill):
        id = "mimic.skill"
        quick = True

        async def start(self) -> None:
            self.host.on("lamp.switched", lambda message: self.host.send(message.forward("mimic.echo")))

    async with assistant(Lamp(), Mimic()) as hark:
        with caplog.at_level(logging.WARNING):
            await hark.hears("turn on hall lamp")
            await settle()
        assert hark.of("mimic.echo")
    assert any("lamp.skill" in r.getMessage() and "mimic.skill" in r.getMessage() for r in caplog.records)


@pytest.mark.spec("INTENT-4/3.2.a")
@pytest.mark.spec("INTENT-4/5.1.b")
@pytest.mark.spec("INTENT-4/9.a")
async def test_the_kit_puts_identity_and_plain_data_into_the_payload(assistant: MakeAssistant) -> None:
    async with assistant(Lamp()) as hark:
        payloads = [message.data for message in hark.of(topics.REGISTER_TEMPLATE)]
    for payload in payloads:
        assert set(payload) >= {"skill_id", "intent_name", "lang", "samples"}
        assert set(payload) <= {"skill_id", "intent_name", "lang", "samples", "required_slots", "blacklist"}
        assert all(isinstance(sample, str) and "/" not in sample for sample in payload["samples"])
    assert {(p["skill_id"], p["intent_name"], p["lang"]) for p in payloads} == {
        ("lamp.skill", "switch", "en-US"),
        ("lamp.skill", "switch", "de-DE"),
        ("lamp.skill", "quiet", "en-US"),
    }


@pytest.mark.spec("INTENT-4/3.2.b")
@pytest.mark.spec("INTENT-4/11.1.a")
async def test_the_scope_comes_from_the_context_alone(assistant: MakeAssistant) -> None:
    async with assistant(lights()) as hark:
        tell(hark, topics.REGISTER_TEMPLATE, dim(session_id="sat-9"), "sat-3")
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, dim(intent_name="light", samples=["light {room}"])))
        assert set(await listed(hark)) == {("sat-3", *DIM[1:]), ("default", "light", "en-US", "template")}
        assert await matched(hark, "dim hall", "sat-3") == "lights.demo:dim"
        assert await matched(hark, "dim hall", "sat-9") is None
        assert await matched(hark, "light hall", "sat-9") == "lights.demo:light"


@pytest.mark.spec("INTENT-4/3.2.c")
@pytest.mark.spec("INTENT-4/8.1.a")
async def test_only_the_identical_key_is_replaced(assistant: MakeAssistant) -> None:
    async with assistant(lights()) as hark:
        register(hark)
        register(hark, lang="de-DE", samples=["dimme {room}"])
        register(hark, "sat-3", samples=["darken {room}"])
        tell(hark, topics.REGISTER_KEYWORD, keyword())
        register(hark, lang="EN-us", samples=["lower {room}"])
        german = ("default", "dim", "de-DE", "template")
        assert set(await listed(hark)) == {DIM, DIM_BY_KEYWORD, german, ("sat-3", *DIM[1:])}
        assert await matched(hark, "lower hall") == "lights.demo:dim"
        assert await matched(hark, "dim hall") is None
        assert await matched(hark, "darken hall", "sat-3") == "lights.demo:dim"
    settings = {"assistant": {"langs": ["de-DE"]}}
    async with assistant(lights(), settings=settings) as hark:
        register(hark, lang="de-DE", samples=["dimme {room}"])
        register(hark, samples=["lower {room}"])
        assert await matched(hark, "dimme flur", lang="de-DE") == "lights.demo:dim"


@pytest.mark.spec("INTENT-4/3.2.d")
@pytest.mark.spec("INTENT-4/3.2.e")
@pytest.mark.spec("INTENT-4/3.2.f")
@pytest.mark.parametrize("source", [None, LIGHTS, "installer.tool"])
async def test_the_payload_names_whom_it_is_about(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture, source: str | None
) -> None:
    context = {} if source is None else {"skill_id": source}
    with caplog.at_level(logging.DEBUG, "hark.plugin.template"):
        async with assistant(lights()) as hark:
            tell(hark, topics.REGISTER_TEMPLATE, dim(), **context)
            assert set(await listed(hark)) == {DIM}
            assert await matched(hark, "dim hall") == "lights.demo:dim"
            tell(hark, topics.INTENT_DEREGISTER, {"skill_id": LIGHTS, "intent_name": "dim"}, **context)
            assert await listed(hark) == {}
            assert await matched(hark, "dim hall") is None
    told = [r for r in caplog.records if r.levelno == logging.DEBUG and "installer.tool" in r.getMessage()]
    assert bool(told) == (source == "installer.tool")
    assert all(LIGHTS in record.getMessage() for record in told)


REQUIRED = [
    *[(topics.REGISTER_TEMPLATE, dim(), field) for field in ("skill_id", "intent_name", "lang")],
    *[(topics.REGISTER_KEYWORD, keyword(), field) for field in ("skill_id", "intent_name", "lang")],
    *[(topics.INTENT_DEREGISTER, dim(samples=None), field) for field in ("skill_id", "intent_name")],
    *[(topics.INTENT_DISABLE, dim(samples=None), field) for field in ("skill_id", "intent_name")],
    *[(topics.INTENT_ENABLE, dim(samples=None), field) for field in ("skill_id", "intent_name")],
    *[(topics.ENTITY_REGISTER, dim(entity_name="room"), field) for field in ("skill_id", "entity_name")],
    *[(topics.ENTITY_DEREGISTER, dim(entity_name="room"), field) for field in ("skill_id", "entity_name")],
    (topics.SKILL_DEREGISTER, {"skill_id": LIGHTS}, "skill_id"),
    (topics.SKILL_LOADED, {"skill_id": LIGHTS}, "skill_id"),
]


@pytest.mark.spec("INTENT-4/3.2.g")
@pytest.mark.spec("INTENT-4/3.2.h")
@pytest.mark.spec("INTENT-4/3.2.i")
@pytest.mark.parametrize(("topic", "payload", "field"), REQUIRED, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("bad", [None, "", 7])
async def test_what_lacks_part_of_its_identity_has_no_effect(
    assistant: MakeAssistant,
    caplog: pytest.LogCaptureFixture,
    topic: str,
    payload: dict[str, Any],
    field: str,
    bad: Any,
) -> None:
    broken = {key: value for key, value in payload.items() if key != field}
    if bad is not None:
        broken[field] = bad
    # Everything that could stand in for the missing field is there, and must not.
    context = {"skill_id": LIGHTS, "intent_name": "dim", "lang": "en-US", "entity_name": "room"}
    async with assistant(lights()) as hark:
        if topic not in (topics.REGISTER_TEMPLATE, topics.REGISTER_KEYWORD):
            register(hark)
        before = await listed(hark)
        with caplog.at_level(logging.WARNING, "hark"):
            tell(hark, topic, broken, **context)
        assert await listed(hark) == before
        assert await matched(hark, "dim hall") == ("lights.demo:dim" if before else None)
    assert any(field in record.getMessage() and topic in record.getMessage() for record in caplog.records)


@pytest.mark.spec("INTENT-4/3.2.j")
@pytest.mark.parametrize("protected", [True, False])
async def test_the_removal_of_a_whole_skill_is_its_own_unless_the_deployer_says_otherwise(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture, protected: bool
) -> None:
    settings = {"plugins": {"template": {"protect_skills": protected}}}
    async with assistant(lights(), settings=settings) as hark:
        register(hark)
        with caplog.at_level(logging.WARNING, "hark"):
            tell(hark, topics.SKILL_DEREGISTER, {"skill_id": LIGHTS}, skill_id="vandal.skill")
        assert await matched(hark, "dim hall") == ("lights.demo:dim" if protected else None)
        tell(hark, topics.SKILL_DEREGISTER, {"skill_id": LIGHTS})
        assert await matched(hark, "dim hall") is None
    if protected:
        assert any("vandal.skill" in r.getMessage() and LIGHTS in r.getMessage() for r in caplog.records)


@pytest.mark.spec("INTENT-4/3.2.k")
@pytest.mark.spec("INTENT-4/3.2.l")
@pytest.mark.spec("INTENT-4/5.2.a")
async def test_one_intent_under_both_methods_is_two_entries_with_their_own_suppression(
    assistant: MakeAssistant,
) -> None:
    async with assistant(lights()) as hark:
        register(hark, blacklist=["dim sum"])
        tell(hark, topics.REGISTER_KEYWORD, keyword(excluded=[{"name": "no", "samples": ["hall"]}]))
        assert set(await listed(hark)) == {DIM, DIM_BY_KEYWORD}
        assert await matched(hark, "dim hall") == "lights.demo:dim"
        assert await matched(hark, "dim sum") is None


@pytest.mark.spec("INTENT-4/3.2.m")
@pytest.mark.spec("PIPELINE-1/7.3.a")
@pytest.mark.parametrize("name", sorted(RESERVED_INTENT_NAMES))
@pytest.mark.parametrize("topic", [topics.REGISTER_TEMPLATE, topics.REGISTER_KEYWORD])
async def test_a_reserved_name_is_not_indexed_by_anybody(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture, name: str, topic: str
) -> None:
    payload = dim(intent_name=name) if topic == topics.REGISTER_TEMPLATE else keyword(intent_name=name)
    async with assistant(lights(**{name: silent})) as hark:
        with caplog.at_level(logging.WARNING, "hark"):
            tell(hark, topic, payload)
        assert await listed(hark) == {}
        assert await matched(hark, "dim hall") is None
    assert any("reserved" in record.getMessage() and name in record.getMessage() for record in caplog.records)


@pytest.mark.spec("PIPELINE-1/7.3.a")
@pytest.mark.parametrize("name", sorted(RESERVED_INTENT_NAMES))
def test_the_kit_refuses_a_reserved_name(name: str) -> None:
    with pytest.raises(MalformedIntent, match="reserved"):
        intent("whatever", name=name)(lambda self, turn: None)


@pytest.mark.spec("INTENT-4/4.a")
def test_the_topics_are_those_of_the_specification() -> None:
    assert set(topics.REGISTRATION) == {
        "ovos.intent.register.keyword",
        "ovos.intent.register.template",
        "ovos.entity.register",
        "ovos.intent.deregister",
        "ovos.entity.deregister",
        "ovos.skill.deregister",
        "ovos.intent.enable",
        "ovos.intent.disable",
        "ovos.skill.loaded",
    }
    assert all(topic == topic.lower() and ":" not in topic for topic in topics.REGISTRATION)


# §§5, 6: definitions.


def told(caplog: pytest.LogCaptureFixture, **fields: Any) -> Iterator[logging.LogRecord]:
    """The warnings that carry these fields."""
    for record in caplog.records:
        if record.levelno == logging.WARNING and all(record.__dict__.get(k) == v for k, v in fields.items()):
            yield record


@pytest.mark.spec("INTENT-4/5.3.e")
@pytest.mark.spec("INTENT-4/6.3.c")
async def test_unknown_fields_do_no_harm_and_are_kept(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant(lights()) as hark:
        with caplog.at_level(logging.WARNING, "hark"):
            register(hark, foo=1, bar={"baz": [None]})
            tell(hark, topics.REGISTER_KEYWORD, keyword(foo=1))
        assert await matched(hark, "dim hall") == "lights.demo:dim"
        assert set(await listed(hark)) == {DIM, DIM_BY_KEYWORD}
    assert not caplog.records


@pytest.mark.spec("INTENT-4/5.3.g")
@pytest.mark.spec("INTENT-4/5.3.h")
@pytest.mark.spec("INTENT-4/6.3.c")
@pytest.mark.spec("INTENT-4/6.1.a")
@pytest.mark.parametrize("samples", [None, [], ["(dim"], ["[x]"]])
async def test_a_rejection_is_logged_with_all_that_identifies_it(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture, samples: Any
) -> None:
    async with assistant(lights()) as hark:
        with caplog.at_level(logging.WARNING, "hark.plugin.template"):
            register(hark, samples=samples)
        assert await matched(hark, "dim hall") is None
    identity = {"skill_id": LIGHTS, "intent_name": "dim", "lang": "en-US", "topic": topics.REGISTER_TEMPLATE}
    [rejected] = [record for record in told(caplog, **identity) if not hasattr(record, "item")]
    assert "samples" in rejected.reason  # type: ignore[attr-defined]
    for value in (*identity.values(), rejected.reason):  # type: ignore[attr-defined]
        assert value in rejected.getMessage()
    assert "\n" not in rejected.getMessage()


@pytest.mark.spec("INTENT-4/5.3.i")
@pytest.mark.spec("INTENT-4/5.3.j")
@pytest.mark.spec("INTENT-4/6.3.b")
async def test_a_bad_sample_is_skipped_alone(assistant: MakeAssistant, caplog: pytest.LogCaptureFixture) -> None:
    async with assistant(lights()) as hark:
        with caplog.at_level(logging.WARNING, "hark.plugin.template"):
            register(hark, samples=["dim {room}", "[x]", "lower {room}"])
        assert await matched(hark, "dim hall") == "lights.demo:dim"
        assert await matched(hark, "lower hall") == "lights.demo:dim"
    [skipped] = told(caplog, item="[x]", skill_id=LIGHTS, intent_name="dim", lang="en-US")
    assert "[x]" in skipped.getMessage()
    assert len(caplog.records) == 1


@pytest.mark.spec("INTENT-4/6.1.a")
@pytest.mark.spec("INTENT-4/6.1.b")
@pytest.mark.spec("INTENT-4/6.1.f")
@pytest.mark.parametrize(
    ("samples", "options"),
    [
        ((), {}),
        (("dim {room}",), {"required_slots": ["colour"]}),
        (("dim {place:room}",), {"required_slots": ["place:room"]}),
        (("dim {room}",), {"required_slots": ["{room}"]}),
    ],
)
def test_the_kit_refuses_what_could_not_be_registered(samples: tuple[str, ...], options: dict[str, Any]) -> None:
    with pytest.raises(MalformedIntent):
        intent(*samples, **options)(lambda self, turn: None)


@pytest.mark.spec("INTENT-4/6.1.b")
def test_the_kit_registers_bare_slot_names() -> None:
    class Timers(Skill):
        id = "timers.skill"

        @intent("wait {duration:span}", required_slots=["span"])
        def wait(self, turn: Turn) -> None: ...

    [definition] = Timers.definitions
    assert definition.fields == {
        "samples": ["wait {duration:span}"],
        "required_slots": ["span"],
        "slot_types": {"span": "duration"},
    }


@pytest.mark.spec("INTENT-4/6.1.d")
@pytest.mark.spec("INTENT-4/6.1.e")
@pytest.mark.parametrize("slot_types", [None, {"span": "duration"}, "nonsense", 7])
async def test_slot_types_are_ignored_and_prefixes_dropped(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture, slot_types: Any
) -> None:
    async with assistant(lights()) as hark:
        with caplog.at_level(logging.WARNING, "hark"):
            register(hark, samples=["dim {room} for {duration:span}"], slot_types=slot_types)
        assert await matched(hark, "dim hall for ten minutes") == "lights.demo:dim"
        assert hark.of("lights.demo:dim")[0].data["slots"] == {"room": "hall", "span": "ten minutes"}
    assert not caplog.records


@pytest.mark.spec("INTENT-4/6.1.g")
async def test_a_barred_value_fills_no_slot(assistant: MakeAssistant) -> None:
    async with assistant(lights()) as hark:
        register(hark, slot_blacklist={"room": ["it"]})
        assert await matched(hark, "dim it") == "lights.demo:dim"
        assert hark.of("lights.demo:dim")[-1].data["slots"] == {}
        assert await matched(hark, "dim hall") == "lights.demo:dim"
        assert hark.of("lights.demo:dim")[-1].data["slots"] == {"room": "hall"}


@pytest.mark.spec("INTENT-4/6.1.h")
@pytest.mark.parametrize(("words", "fits"), [(["hall", "den"], True), (["den"], False), ([], True), (None, True)])
async def test_one_of_the_required_keywords_has_to_be_said(
    assistant: MakeAssistant, words: list[str] | None, fits: bool
) -> None:
    async with assistant(lights()) as hark:
        register(hark, required_keywords=words)
        assert await matched(hark, "dim hall") == ("lights.demo:dim" if fits else None)


@pytest.mark.spec("INTENT-4/6.2.a")
async def test_templates_may_differ_in_their_slots(assistant: MakeAssistant) -> None:
    async with assistant(lights()) as hark:
        register(hark, samples=["dim {room}", "dim {room} to {level}", "darker"])
        assert await matched(hark, "darker") == "lights.demo:dim"
        assert await matched(hark, "dim hall to ten") == "lights.demo:dim"
        assert [m.data["slots"] for m in hark.of("lights.demo:dim")] == [{}, {"room": "hall", "level": "ten"}]


@pytest.mark.spec("INTENT-4/6.3.a")
@pytest.mark.parametrize(
    "changes",
    [{"intent_name": "stop"}, {"samples": None}, {"samples": []}, {"samples": ["(dim"]}, {"required_slots": ["zzz"]}],
)
async def test_what_cannot_be_matched_is_not_indexed(assistant: MakeAssistant, changes: dict[str, Any]) -> None:
    async with assistant(lights(stop=silent)) as hark:
        register(hark, **changes)
        hark.bus.emit(Message(topics.pipeline_intents_list("template")))
        await settle()
        [answer] = hark.of(f"{topics.pipeline_intents_list('template')}.response")
        assert answer.data["intents"] == ()
        assert await matched(hark, "dim hall") is None


# §7: entities.


def rooms(**changes: Any) -> dict[str, Any]:
    data = {"skill_id": LIGHTS, "entity_name": "room", "lang": "en-US", "samples": ["hall to den"], **changes}
    return {key: value for key, value in data.items() if value is not None}


async def room_of(hark: Assistant, session_id: str = "default", lang: str | None = None) -> str:
    """How an ambiguous sentence is divided: a known value attracts."""
    assert await matched(hark, "dim hall to den to low to ten", session_id, lang) == "lights.demo:dim"
    room: str = hark.of("lights.demo:dim")[-1].data["slots"]["room"]
    return room


TO = ["dim {room} to {level}"]
KNOWN = "hall to den"
GUESSED = "hall to den to low"


@pytest.mark.spec("INTENT-4/7.a")
async def test_an_intent_needs_no_entity(assistant: MakeAssistant) -> None:
    async with assistant(lights()) as hark:
        register(hark, samples=TO)
        assert await room_of(hark) == GUESSED
        tell(hark, topics.ENTITY_REGISTER, rooms())
        assert await room_of(hark) == KNOWN


@pytest.mark.spec("INTENT-4/7.2.a")
@pytest.mark.spec("INTENT-4/7.2.b")
@pytest.mark.spec("INTENT-4/7.2.c")
@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"samples": None}, "samples"),
        ({"samples": []}, "samples"),
        ({"samples": ["[x]"]}, "samples"),
        ({"samples": ["{slot}"]}, "samples"),
        ({"lang": None}, "lang"),
    ],
)
async def test_an_unusable_entity_is_rejected_with_a_reason(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture, changes: dict[str, Any], named: str
) -> None:
    async with assistant(lights()) as hark:
        register(hark, samples=TO)
        tell(hark, topics.ENTITY_REGISTER, rooms())
        with caplog.at_level(logging.WARNING, "hark.plugin.template"):
            tell(hark, topics.ENTITY_REGISTER, rooms(entity_name="level", **{"samples": ["low to ten"], **changes}))
        assert await room_of(hark) == KNOWN
    assert any(named in record.reason for record in told(caplog, entity_name="level"))  # type: ignore[attr-defined]


@pytest.mark.spec("INTENT-4/7.2.b")
async def test_a_bad_entry_of_an_entity_is_skipped_alone(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant(lights()) as hark:
        register(hark, samples=TO)
        with caplog.at_level(logging.WARNING, "hark.plugin.template"):
            tell(hark, topics.ENTITY_REGISTER, rooms(samples=["(a", KNOWN]))
        assert await room_of(hark) == KNOWN
    assert [record.item for record in told(caplog, entity_name="room")] == ["(a"]  # type: ignore[attr-defined]


# §8: replacement, retraction, switches.


@pytest.mark.spec("INTENT-4/8.1.b")
async def test_a_switch_outlives_the_replacement(assistant: MakeAssistant) -> None:
    async with assistant(lights()) as hark:
        register(hark)
        tell(hark, topics.INTENT_DISABLE, {"skill_id": LIGHTS, "intent_name": "dim"})
        register(hark, samples=["dim {room}", "lower {room}"])
        assert await listed(hark) == {DIM: False}
        assert await matched(hark, "lower hall") is None


@pytest.mark.spec("INTENT-4/8.2.a")
@pytest.mark.parametrize("lang", [None, "DE-de"])
async def test_deregistering_covers_both_methods_and_one_language_or_all(
    assistant: MakeAssistant, lang: str | None
) -> None:
    async with assistant(lights(), settings={"assistant": {"langs": ["de-DE"]}}) as hark:
        register(hark)
        register(hark, lang="de-DE", samples=["dimme {room}"])
        tell(hark, topics.REGISTER_KEYWORD, keyword())
        tell(hark, topics.REGISTER_KEYWORD, keyword(lang="de-DE"))
        tell(hark, topics.INTENT_DEREGISTER, dim(samples=None, lang=lang))
        assert set(await listed(hark)) == (set() if lang is None else {DIM, DIM_BY_KEYWORD})
        assert await matched(hark, "dimme flur", lang="de-DE") is None
        assert await matched(hark, "dim hall") == (None if lang is None else "lights.demo:dim")


@pytest.mark.spec("INTENT-4/8.3.a")
@pytest.mark.parametrize("lang", [None, "de-DE"])
async def test_deregistering_an_entity_covers_one_language_or_all(assistant: MakeAssistant, lang: str | None) -> None:
    async with assistant(lights(), settings={"assistant": {"langs": ["de-DE"]}}) as hark:
        for tag in ("en-US", "de-DE"):
            register(hark, lang=tag, samples=TO)
            tell(hark, topics.ENTITY_REGISTER, rooms(lang=tag))
        tell(hark, topics.ENTITY_DEREGISTER, rooms(samples=None, lang=lang))
        assert await room_of(hark, lang="de-DE") == GUESSED
        assert await room_of(hark, lang="en-US") == (GUESSED if lang is None else KNOWN)


@pytest.mark.spec("INTENT-4/8.4.a")
@pytest.mark.spec("INTENT-4/11.3.a")
async def test_a_skill_is_withdrawn_in_the_session_of_the_message_only(assistant: MakeAssistant) -> None:
    async with assistant(lights()) as hark:
        for scope in ("default", "sat-3"):
            register(hark, scope)
            register(hark, scope, intent_name="light", samples=["light {room}"])
            tell(hark, topics.REGISTER_KEYWORD, keyword(), scope)
        tell(hark, topics.SKILL_DEREGISTER, {"skill_id": LIGHTS})
        assert [key[0] for key in await listed(hark)] == ["sat-3"] * 3
        assert await matched(hark, "dim hall") is None
        assert await matched(hark, "dim hall", "sat-3") == "lights.demo:dim"
        tell(hark, topics.INTENT_DISABLE, {"skill_id": LIGHTS, "intent_name": "light"}, "sat-9")
        tell(hark, topics.INTENT_DEREGISTER, {"skill_id": LIGHTS, "intent_name": "light"}, "sat-9")
        assert await matched(hark, "light hall", "sat-3") == "lights.demo:light"


@pytest.mark.spec("INTENT-4/8.4.c")
@pytest.mark.spec("INTENT-4/8.5.c")
@pytest.mark.parametrize(
    "topic",
    [
        topics.SKILL_DEREGISTER,
        topics.INTENT_DEREGISTER,
        topics.ENTITY_DEREGISTER,
        topics.INTENT_DISABLE,
        topics.INTENT_ENABLE,
    ],
)
async def test_what_speaks_of_the_unknown_does_nothing(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture, topic: str
) -> None:
    async with assistant(lights()) as hark:
        register(hark)
        with caplog.at_level(logging.WARNING, "hark"):
            for _ in range(2):
                tell(hark, topic, {"skill_id": "nobody", "intent_name": "no", "entity_name": "nothing"})
        assert await listed(hark) == {DIM: True}
        assert await matched(hark, "dim hall") == "lights.demo:dim"
    assert not caplog.records


@pytest.mark.spec("INTENT-4/8.5.a")
@pytest.mark.spec("INTENT-4/8.5.b")
@pytest.mark.spec("INTENT-4/8.5.c")
@pytest.mark.spec("INTENT-4/8.5.d")
@pytest.mark.parametrize("controller", [LIGHTS, "remote.control", None])
async def test_a_disabled_intent_is_not_matched_until_it_is_enabled(
    assistant: MakeAssistant, controller: str | None
) -> None:
    name = {"skill_id": LIGHTS, "intent_name": "dim"}
    context = {} if controller is None else {"skill_id": controller}
    async with assistant(lights(), settings={"assistant": {"langs": ["de-DE"]}}) as hark:
        register(hark)
        register(hark, lang="de-DE", samples=["dimme {room}"])
        tell(hark, topics.REGISTER_KEYWORD, keyword())
        for _ in range(2):
            tell(hark, topics.INTENT_DISABLE, name, **context)
            assert list((await listed(hark)).values()) == [False] * 3
            assert await matched(hark, "dim hall") is None
            assert await matched(hark, "dimme flur", lang="de-DE") is None
        for _ in range(2):
            tell(hark, topics.INTENT_ENABLE, {**name, "lang": "de-de"}, **context)
            assert await listed(hark) == {
                DIM: False,
                DIM_BY_KEYWORD: False,
                ("default", "dim", "de-DE", "template"): True,
            }
            assert await matched(hark, "dim hall") is None
            assert await matched(hark, "dimme flur", lang="de-DE") == "lights.demo:dim"
        tell(hark, topics.INTENT_ENABLE, name, **context)
        assert await matched(hark, "dim hall") == "lights.demo:dim"
        assert hark.of("lights.demo:dim")[-1].data["slots"] == {"room": "hall"}


@pytest.mark.spec("INTENT-4/8.5.e")
@pytest.mark.spec("INTENT-4/8.5.f")
@pytest.mark.spec("INTENT-4/10.c")
@pytest.mark.spec("INTENT-4/10.d")
async def test_a_skill_says_everything_again_when_somebody_got_ready(assistant: MakeAssistant) -> None:
    lamp = Lamp()
    async with assistant(lamp) as hark:
        lamp.disable("quiet")
        await settle()
        before = await listed(hark)
        hark.messages.clear()
        hark.bus.emit(Message(topics.READY))
        await settle()
        said = [m for m in hark.messages if m.type in topics.REGISTRATION]
        assert [m.type for m in said] == [topics.SKILL_LOADED, *[topics.REGISTER_TEMPLATE] * 3, topics.INTENT_DISABLE]
        assert {m.session_id for m in said} == {"default"}
        assert await listed(hark) == before
        assert {key[1]: enabled for key, enabled in before.items()} == {"switch": True, "quiet": False}
    # Whoever starts anew knows of no switch but those it is told of.
    async with assistant(Lamp()) as hark:
        assert all((await listed(hark)).values())
        assert await matched(hark, "lamp quiet") == "lamp.skill:quiet"


@pytest.mark.spec("INTENT-4/8.5.g")
async def test_a_switch_of_one_session_is_seen_by_that_session_only(assistant: MakeAssistant) -> None:
    name = {"skill_id": LIGHTS, "intent_name": "dim"}
    async with assistant(lights()) as hark:
        register(hark)
        tell(hark, topics.INTENT_DISABLE, name, "sat-3")
        assert await matched(hark, "dim hall", "sat-3") is None
        assert await matched(hark, "dim hall", "sat-9") == "lights.demo:dim"
        assert await matched(hark, "dim hall") == "lights.demo:dim"
        tell(hark, topics.INTENT_ENABLE, name, "sat-3")
        assert await matched(hark, "dim hall", "sat-3") == "lights.demo:dim"
        tell(hark, topics.INTENT_DISABLE, name)
        assert await matched(hark, "dim hall", "sat-3") is None
        assert await matched(hark, "dim hall") is None


@pytest.mark.spec("INTENT-4/8.6.a")
@pytest.mark.spec("INTENT-4/12.a")
async def test_a_skill_announces_itself_and_withdraws_itself(assistant: MakeAssistant) -> None:
    async with assistant(Lamp()) as hark:
        loaded = hark.of(topics.SKILL_LOADED)[0]
        assert loaded.data["skill_id"] == "lamp.skill"
        assert loaded.session_id == "default"
        assert hark.topics().index(topics.SKILL_LOADED) < hark.topics().index(topics.REGISTER_TEMPLATE)
        assert not hark.of(topics.SKILL_DEREGISTER)
    [withdrawn] = hark.of(topics.SKILL_DEREGISTER)
    assert withdrawn.data["skill_id"] == "lamp.skill"


@pytest.mark.spec("INTENT-4/12.a")
@pytest.mark.spec("INTENT-4/12.d")
async def test_a_withdrawn_skill_is_neither_matched_nor_called(assistant: MakeAssistant) -> None:
    async with assistant(Lamp()) as hark:
        assert await matched(hark, "lamp quiet") == "lamp.skill:quiet"
        [entry] = [entry for entry in hark.runtime.skills if entry.id == "lamp.skill"]
        await hark.runtime.plugin_set.stop(entry)
        hark.runtime.skills.remove(entry.id)
        await settle()
        assert await listed(hark) == {}
        assert await matched(hark, "lamp quiet") is None
        hark.messages.clear()
        hark.bus.emit(Message("lamp.skill:quiet", {"slots": {}, "lang": "en-US", "utterance": "lamp quiet"}))
        await settle()
        assert [message.type for message in hark.messages] == ["lamp.skill:quiet"]


# §§11, 12: sessions, and who listens to what.


@pytest.mark.spec("INTENT-4/11.2.a")
@pytest.mark.spec("INTENT-4/11.2.b")
@pytest.mark.spec("INTENT-4/11.4.a")
async def test_a_session_has_everybodys_intents_and_its_own(assistant: MakeAssistant) -> None:
    async with assistant(lights()) as hark:
        register(hark)
        register(hark, "sat-3")
        register(hark, "sat-3", intent_name="light", samples=["light {room}"])
        assert set(await listed(hark)) == {DIM, ("sat-3", *DIM[1:]), ("sat-3", "light", "en-US", "template")}
        assert await matched(hark, "dim hall", "sat-9") == "lights.demo:dim"
        assert await matched(hark, "light hall", "sat-3") == "lights.demo:light"
        assert await matched(hark, "light hall", "sat-9") is None
        assert await matched(hark, "light hall") is None
        tell(hark, topics.INTENT_DEREGISTER, {"skill_id": LIGHTS, "intent_name": "dim"}, "sat-3")
        assert await matched(hark, "dim hall", "sat-3") == "lights.demo:dim"


@pytest.mark.spec("INTENT-4/11.5.a")
async def test_an_intent_of_one_session_is_dispatched_towards_who_spoke(assistant: MakeAssistant) -> None:
    async with assistant(lights()) as hark:
        register(hark, "sat-3")
        await hark.hears("dim hall", session="sat-3", context={"source": "bridge.sat-3", "destination": "core"})
        [dispatch] = hark.of("lights.demo:dim")
    assert (dispatch.context["source"], dispatch.context["destination"]) == ("core", "bridge.sat-3")
    assert dispatch.session_id == "sat-3"


@pytest.mark.spec("INTENT-4/12.c")
async def test_a_plugin_that_listens_to_no_registration_is_asked_all_the_same(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        assert await matched(hark, "hello") == "claims:go"
