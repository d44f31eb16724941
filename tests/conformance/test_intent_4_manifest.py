"""OVOS-INTENT-4, the orchestrator's side: registrations are recorded as they were broadcast, and not judged."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from flow.stage import (
    MakeAssistant,
    claims,
    matcher,
    skill,
)
from hark.bus import LocalBus, ask, gather
from hark.model import Match, Message, Session
from hark.spec import RESERVED_INTENT_NAMES, topics
from hark.testing import FakeClock, settle
from hark.understand import TurnOptions
from hark.understand.intent_registry import IntentRegistry, RegisteredIntent
from hark.understand.introspection import Introspection

IDENTITY = {"skill_id": "lights.demo", "intent_name": "dim", "lang": "en-US"}
SAMPLES = {"samples": ["(dim|lower) {room}", "[x]"], "required_slots": ["room"]}


class Registering:
    """A manifest, and skills that register with it."""

    def __init__(self, bus: LocalBus) -> None:
        self.bus = bus
        self.manifest = IntentRegistry(bus)
        self.introspection = Introspection(bus, self.manifest)
        self.sent: list[Message] = []
        bus.tap(self.sent.append)

    async def ask(self, topic: str, session: Session | None = None, **data: Any) -> dict[str, Any]:
        """The answer to a query."""
        answer = await ask(
            self.bus, FakeClock(), Message(topic, data, {"source": "me", "destination": "hark"}, session)
        )
        assert answer.type == f"{topic}.response"
        assert (answer.context["source"], answer.context["destination"]) == ("hark", "me")
        return dict(answer.data)

    def send(self, topic: str, session: str | None = None, source: str | None = None, **data: Any) -> None:
        """Broadcast a registration message, without waiting for anything."""
        context = {} if source is None else {"skill_id": source}
        self.bus.emit(Message(topic, data, context, None if session is None else Session(session)))

    def template(self, session: str | None = None, source: str | None = None, **changes: Any) -> None:
        """Register a template intent."""
        self.send(topics.REGISTER_TEMPLATE, session, source, **{**IDENTITY, **SAMPLES, **changes})

    def keyword(self, session: str | None = None, **changes: Any) -> None:
        """Register a keyword intent."""
        fields = {"required": [{"name": "dim", "samples": ["dim"]}], **changes}
        self.send(topics.REGISTER_KEYWORD, session, **{**IDENTITY, **fields})

    def found(self) -> list[tuple[str, str, str, str, str]]:
        """The keys of everything that is registered."""
        keys = (definition.key for definition in self.manifest)
        return sorted((k.session_id, k.skill_id, k.intent_name, k.lang, k.method) for k in keys)

    def one(self) -> RegisteredIntent:
        """The only definition there is."""
        [definition] = self.manifest
        return definition


@pytest.fixture
async def skills(bus_type: type[LocalBus]) -> AsyncIterator[Registering]:
    bus = bus_type()
    await bus.open()
    yield Registering(bus)
    await bus.close()


TEMPLATE = ("default", "lights.demo", "dim", "en-us", "template")
KEYWORD = ("default", "lights.demo", "dim", "en-us", "keyword")


# §2, §12: recorded, not judged.


@pytest.mark.spec("INTENT-4/2.d")
@pytest.mark.spec("INTENT-4/10.2.e")
@pytest.mark.spec("INTENT-4/5.3.e")
@pytest.mark.spec("INTENT-4/12.f")
async def test_a_registration_is_kept_as_it_was_broadcast(skills: Registering) -> None:
    skills.template(foo=1, slot_blacklist={"room": ["it"]}, requires_context=["key"])
    await settle()
    definition = skills.one()
    assert definition.payload == {
        **IDENTITY,
        "samples": ("(dim|lower) {room}", "[x]"),
        "required_slots": ("room",),
        "foo": 1,
        "slot_blacklist": {"room": ("it",)},
        "requires_context": ("key",),
    }
    assert definition.enabled


@pytest.mark.spec("INTENT-4/2.d")
@pytest.mark.spec("INTENT-4/12.f")
@pytest.mark.parametrize(
    "malformed",
    [{"samples": []}, {"samples": None}, {"samples": "text"}, {"samples": ["(a"]}, {"required_slots": ["zzz"]},
     {"required_slots": 7}, {"requires_context": {"a": 1}}, {"blacklist": [7]}],
)  # fmt: skip
async def test_a_malformed_definition_is_recorded_all_the_same(skills: Registering, malformed: Any) -> None:
    skills.template(**malformed)
    await settle()
    assert skills.found() == [TEMPLATE]


@pytest.mark.spec("INTENT-4/2.a")
async def test_nothing_is_answered(skills: Registering) -> None:
    skills.template()
    skills.keyword()
    skills.send(topics.INTENT_DEREGISTER, **IDENTITY)
    await settle()
    assert [message.type for message in skills.sent] == [
        topics.REGISTER_TEMPLATE,
        topics.REGISTER_KEYWORD,
        topics.INTENT_DEREGISTER,
    ]


@pytest.mark.spec("INTENT-4/2.b")
async def test_the_manifest_does_not_stand_between_a_claim_and_its_handler(assistant: MakeAssistant) -> None:
    async with assistant(claims()) as hark:
        assert len(hark.runtime.orchestrator.manifest) == 0
        assert await hark.hears("hello") == ["hello"], "an intent nobody registered"
        identity = {"skill_id": "claims", "intent_name": "go"}
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, {**identity, "lang": "en-US", "samples": ["x"]}))
        hark.bus.emit(Message(topics.INTENT_DISABLE, identity))
        await settle()
        assert await hark.hears("hello") == ["hello"], "to leave disabled intents alone is the engine's duty"


# §3.2: identity.


@pytest.mark.spec("INTENT-4/3.2.b")
@pytest.mark.spec("INTENT-4/11.1.a")
async def test_the_session_is_read_from_the_context_alone(skills: Registering) -> None:
    forged = {"session_id": "forged", "session": {"session_id": "forged"}}
    skills.bus.emit(Message(topics.REGISTER_TEMPLATE, {**IDENTITY, **SAMPLES, **forged}))
    skills.template("sat-3", session_id="forged")
    await settle()
    assert skills.found() == [TEMPLATE, ("sat-3", *TEMPLATE[1:])]


@pytest.mark.spec("INTENT-4/3.2.c")
@pytest.mark.spec("INTENT-4/3.2.k")
@pytest.mark.spec("INTENT-4/11.2.b")
async def test_method_language_session_skill_and_name_make_different_registrations(skills: Registering) -> None:
    skills.template()
    skills.keyword()
    skills.template(lang="de-DE")
    skills.template("sat-3")
    skills.template(intent_name="brighten")
    skills.template(skill_id="lamps.demo")
    skills.template(samples=["again {room}"])
    await settle()
    assert skills.found() == [
        ("default", "lamps.demo", "dim", "en-us", "template"),
        ("default", "lights.demo", "brighten", "en-us", "template"),
        ("default", "lights.demo", "dim", "de-de", "template"),
        KEYWORD,
        TEMPLATE,
        ("sat-3", "lights.demo", "dim", "en-us", "template"),
    ]


@pytest.mark.spec("INTENT-4/3.2.c")
async def test_language_tags_differ_by_more_than_case(skills: Registering) -> None:
    skills.template(lang="en-US")
    skills.template(lang="EN-us")
    await settle()
    assert skills.found() == [TEMPLATE]
    assert skills.one().payload["lang"] == "EN-us"


@pytest.mark.spec("INTENT-4/3.2.d")
@pytest.mark.spec("INTENT-4/3.2.e")
@pytest.mark.spec("INTENT-4/8.5.d")
@pytest.mark.parametrize("source", [None, "lights.demo", "somebody.else"])
async def test_the_payload_names_the_target_whoever_sends_it(skills: Registering, source: str | None) -> None:
    skills.template(source=source)
    await settle()
    assert skills.found() == [TEMPLATE]
    skills.send(topics.INTENT_DISABLE, source=source, skill_id="lights.demo", intent_name="dim")
    await settle()
    assert not skills.one().enabled
    skills.send(topics.INTENT_DEREGISTER, source=source, skill_id="lights.demo", intent_name="dim")
    await settle()
    assert skills.found() == []


NEEDED = {
    topics.REGISTER_TEMPLATE: ("skill_id", "intent_name", "lang"),
    topics.REGISTER_KEYWORD: ("skill_id", "intent_name", "lang"),
    topics.ENTITY_REGISTER: ("skill_id", "entity_name", "lang"),
    topics.INTENT_DEREGISTER: ("skill_id", "intent_name"),
    topics.ENTITY_DEREGISTER: ("skill_id", "entity_name"),
    topics.SKILL_DEREGISTER: ("skill_id",),
    topics.INTENT_ENABLE: ("skill_id", "intent_name"),
    topics.INTENT_DISABLE: ("skill_id", "intent_name"),
    topics.SKILL_LOADED: ("skill_id",),
}


@pytest.mark.spec("INTENT-4/3.2.g")
@pytest.mark.spec("INTENT-4/3.2.h")
@pytest.mark.spec("INTENT-4/3.2.i")
@pytest.mark.spec("INTENT-4/7.2.c")
@pytest.mark.spec("INTENT-4/12.e")
@pytest.mark.parametrize(("topic", "field"), [(topic, field) for topic, fields in NEEDED.items() for field in fields])
@pytest.mark.parametrize("garbage", ["missing", "", None, 7, ["lights.demo"]])
async def test_a_message_without_its_identity_does_nothing_and_names_the_field(
    skills: Registering, topic: str, field: str, garbage: Any, caplog: pytest.LogCaptureFixture
) -> None:
    skills.template()
    await settle()
    data = {**IDENTITY, "entity_name": "room", "samples": ["new"], field: garbage}
    if garbage == "missing":
        del data[field]
    with caplog.at_level(logging.WARNING, "hark.manifest"):
        skills.send(topic, source="lights.demo", **data)
        await settle()
    assert skills.found() == [TEMPLATE]
    assert skills.one().enabled
    assert skills.one().payload["samples"] == ("(dim|lower) {room}", "[x]")
    assert f"{topic} lacks its {field}" in caplog.text


@pytest.mark.spec("INTENT-4/3.2.m")
@pytest.mark.spec("PIPELINE-1/7.3.a")
@pytest.mark.parametrize("name", sorted(RESERVED_INTENT_NAMES))
async def test_a_reserved_name_is_not_recorded(
    skills: Registering, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "hark.manifest"):
        skills.template(intent_name=name)
        skills.keyword(intent_name=name)
        await settle()
    assert skills.found() == []
    for topic in (topics.REGISTER_TEMPLATE, topics.REGISTER_KEYWORD):
        line = next(record.getMessage() for record in caplog.records if topic in record.getMessage())
        assert all(part in line for part in (f"'{name}'", "lights.demo", "en-US", "reserved"))


# §8: replacing, removing, switching.


@pytest.mark.spec("INTENT-4/8.1.a")
@pytest.mark.spec("INTENT-4/8.1.b")
@pytest.mark.parametrize("enabled", [True, False])
async def test_registering_again_replaces_the_definition_and_keeps_the_switch(
    skills: Registering, enabled: bool
) -> None:
    skills.template()
    if not enabled:
        skills.send(topics.INTENT_DISABLE, skill_id="lights.demo", intent_name="dim")
    skills.template(samples=["darker"])
    await settle()
    assert skills.one().payload["samples"] == ("darker",)
    assert skills.one().enabled == enabled


@pytest.mark.spec("INTENT-4/8.2.a")
async def test_deregistering_takes_both_methods_and_one_or_all_languages(skills: Registering) -> None:
    for lang in ("en-US", "de-DE"):
        skills.template(lang=lang)
        skills.keyword(lang=lang)
    skills.template(intent_name="other")
    skills.send(topics.INTENT_DEREGISTER, skill_id="lights.demo", intent_name="dim", lang="DE-de")
    await settle()
    assert skills.found() == [KEYWORD, TEMPLATE, ("default", "lights.demo", "other", "en-us", "template")]
    skills.send(topics.INTENT_DEREGISTER, skill_id="lights.demo", intent_name="dim")
    await settle()
    assert skills.found() == [("default", "lights.demo", "other", "en-us", "template")]


@pytest.mark.spec("INTENT-4/8.4.a")
@pytest.mark.spec("INTENT-4/11.3.a")
async def test_deregistering_a_skill_takes_all_of_it_in_one_scope(skills: Registering) -> None:
    skills.template()
    skills.keyword(intent_name="other")
    skills.template("sat-3")
    skills.template(skill_id="lamps.demo")
    skills.send(topics.SKILL_DEREGISTER, skill_id="lights.demo")
    await settle()
    assert skills.found() == [
        ("default", "lamps.demo", "dim", "en-us", "template"),
        ("sat-3", "lights.demo", "dim", "en-us", "template"),
    ]
    skills.send(topics.SKILL_DEREGISTER, "sat-3", skill_id="lights.demo")
    await settle()
    assert skills.found() == [("default", "lamps.demo", "dim", "en-us", "template")]


@pytest.mark.spec("INTENT-4/8.4.c")
@pytest.mark.spec("INTENT-4/8.5.c")
async def test_switching_and_removing_what_is_not_there_is_nothing(skills: Registering) -> None:
    skills.template()
    for topic in (topics.INTENT_DEREGISTER, topics.INTENT_ENABLE, topics.INTENT_DISABLE, topics.ENTITY_DEREGISTER):
        for _ in range(2):
            skills.send(topic, skill_id="ghost", intent_name="walk", entity_name="x")
            skills.send(topic, skill_id="lights.demo", intent_name="walk", entity_name="x")
    for _ in range(2):
        skills.send(topics.SKILL_DEREGISTER, skill_id="ghost")
    await settle()
    assert skills.found() == [TEMPLATE]
    assert skills.one().enabled


@pytest.mark.spec("INTENT-4/3.2.j")
async def test_one_skill_may_not_remove_another_unless_the_deployment_allows_it(
    bus_type: type[LocalBus], caplog: pytest.LogCaptureFixture
) -> None:
    for protects in (True, False):
        bus = bus_type()
        await bus.open()
        options = TurnOptions(protect_skills=protects)
        manifest = IntentRegistry(bus, lambda options=options: options)  # type: ignore[misc]
        bus.emit(Message(topics.REGISTER_TEMPLATE, {**IDENTITY, **SAMPLES}))
        with caplog.at_level(logging.WARNING, "hark.manifest"):
            bus.emit(Message(topics.SKILL_DEREGISTER, {"skill_id": "lights.demo"}, {"skill_id": "evil.skill"}))
            await settle()
        assert len(manifest) == protects
        await bus.close()
    line = next(record.getMessage() for record in caplog.records)
    assert all(part in line for part in ("evil.skill", "lights.demo", topics.SKILL_DEREGISTER))


@pytest.mark.spec("INTENT-4/8.5.b")
@pytest.mark.spec("INTENT-4/8.5.c")
async def test_a_switch_goes_for_both_methods_and_one_or_all_languages(skills: Registering) -> None:
    for lang in ("en-US", "de-DE"):
        skills.template(lang=lang)
        skills.keyword(lang=lang)

    def switched_on() -> set[tuple[str, str]]:
        return {(d.key.lang, d.key.method) for d in skills.manifest if d.enabled}

    everything = {(lang, method) for lang in ("en-us", "de-de") for method in ("template", "keyword")}
    skills.send(topics.INTENT_DISABLE, skill_id="lights.demo", intent_name="dim", lang="de-de")
    await settle()
    assert switched_on() == {("en-us", "template"), ("en-us", "keyword")}
    for _ in range(2):
        skills.send(topics.INTENT_DISABLE, skill_id="lights.demo", intent_name="dim")
    await settle()
    assert switched_on() == set()
    skills.send(topics.INTENT_ENABLE, skill_id="lights.demo", intent_name="dim")
    await settle()
    assert switched_on() == everything


@pytest.mark.spec("INTENT-4/8.5.f")
async def test_what_is_announced_to_a_fresh_manifest_is_enabled(skills: Registering) -> None:
    skills.template()
    skills.send(topics.INTENT_DISABLE, skill_id="lights.demo", intent_name="dim")
    await settle()
    assert not skills.one().enabled
    skills.manifest = IntentRegistry(skills.bus)
    skills.template()
    await settle()
    assert skills.one().enabled


@pytest.mark.spec("INTENT-4/11.3.a")
async def test_switches_and_removals_stay_in_their_session(skills: Registering) -> None:
    skills.template()
    skills.template("sat-3")
    skills.send(topics.INTENT_DISABLE, "sat-3", skill_id="lights.demo", intent_name="dim")
    await settle()
    assert {d.key.session_id: d.enabled for d in skills.manifest} == {"default": True, "sat-3": False}
    skills.send(topics.INTENT_DEREGISTER, skill_id="lights.demo", intent_name="dim")
    await settle()
    assert [d.key.session_id for d in skills.manifest] == ["sat-3"]


# The backstop for required slots and gates (ruling R14) reads it.


def objection(skills: Registering, session: str = "x", lang: str = "en-US", **slots: str) -> str | None:
    return skills.manifest.registrations.objection("lights.demo:dim", lang, slots, session, {}, 0.0)


@pytest.mark.spec("INTENT-4/2.c")
async def test_an_intent_nobody_registered_has_no_conditions(skills: Registering) -> None:
    assert objection(skills) is None
    skills.template(required_slots=[])
    await settle()
    assert objection(skills) is None


@pytest.mark.spec("INTENT-4/2.c")
async def test_conditions_come_and_go_with_the_definition(skills: Registering) -> None:
    skills.template()
    await settle()
    assert objection(skills) == "required slot 'room' is not filled"
    assert objection(skills, room="kitchen") is None
    skills.template(required_slots=[])
    await settle()
    assert objection(skills) is None
    skills.template()
    skills.send(topics.INTENT_DEREGISTER, skill_id="lights.demo", intent_name="dim")
    await settle()
    assert objection(skills) is None


@pytest.mark.spec("INTENT-4/3.2.l")
async def test_one_definition_that_allows_a_match_is_enough(skills: Registering) -> None:
    skills.template()
    skills.keyword()
    await settle()
    assert objection(skills) is None, "the keyword form of it asks for no slot"


async def test_the_conditions_of_the_matched_language_count(skills: Registering) -> None:
    skills.template()
    skills.template(lang="de-DE", required_slots=[])
    await settle()
    assert objection(skills, lang="en-us") is not None
    assert objection(skills, lang="DE-de") is None
    assert objection(skills, lang="fr-FR") is None, "none in this language: any may allow it"


@pytest.mark.spec("INTENT-4/11.2.a")
async def test_conditions_of_another_session_are_not_ours(skills: Registering) -> None:
    skills.template("sat-3")
    await settle()
    assert objection(skills, session="x") is None
    assert objection(skills, session="sat-3") is not None
    skills.template()
    await settle()
    assert objection(skills, session="x") is not None


@pytest.mark.spec("INTENT-4/2.c")
async def test_registrations_over_the_bus_reach_the_backstop(assistant: MakeAssistant) -> None:
    def match(utterances: Any, lang: str, session: Session) -> Match:
        slots = {"room": "kitchen"} if "kitchen" in utterances[0] else {}
        return Match("lights.demo", "dim", lang, utterances[0], slots)

    plugins = (matcher("m", match), skill("lights.demo", dim=lambda turn: "dimmed"))
    async with assistant(*plugins, settings={"assistant": {"pipeline": ["m"]}}) as hark:
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, {**IDENTITY, **SAMPLES}))
        await settle()
        assert await hark.hears("dim it") == []
        assert await hark.hears("dim the kitchen") == ["dimmed"]


# §7, §8.6: entities and skills.


@pytest.mark.spec("INTENT-4/8.3.a")
@pytest.mark.spec("INTENT-4/8.4.a")
@pytest.mark.spec("INTENT-4/12.e")
async def test_entities_come_and_go_by_language_session_and_skill(skills: Registering) -> None:
    def entity(session: str | None = None, **changes: Any) -> None:
        data = {"skill_id": "lights.demo", "entity_name": "room", "lang": "en-US", "samples": ["kitchen"], **changes}
        skills.send(topics.ENTITY_REGISTER, session, **data)

    entity()
    entity(samples=["cellar"])
    entity(lang="de-DE")
    entity("sat-3")
    entity(entity_name="colour")
    await settle()
    assert len(skills.manifest.entities) == 4
    assert skills.manifest.entities["default", "lights.demo", "room", "en-us"]["samples"] == ("cellar",)
    skills.send(topics.ENTITY_DEREGISTER, skill_id="lights.demo", entity_name="room", lang="EN-us")
    await settle()
    assert sorted(key[2:] for key in skills.manifest.entities if key[0] == "default") == [
        ("colour", "en-us"),
        ("room", "de-de"),
    ]
    skills.send(topics.ENTITY_DEREGISTER, skill_id="lights.demo", entity_name="room")
    skills.send(topics.ENTITY_DEREGISTER, skill_id="lights.demo", entity_name="room")
    await settle()
    assert sorted(skills.manifest.entities) == [
        ("default", "lights.demo", "colour", "en-us"),
        ("sat-3", "lights.demo", "room", "en-us"),
    ]
    skills.send(topics.SKILL_DEREGISTER, skill_id="lights.demo")
    await settle()
    assert sorted(skills.manifest.entities) == [("sat-3", "lights.demo", "room", "en-us")]


@pytest.mark.spec("INTENT-4/8.6.a")
@pytest.mark.spec("INTENT-4/8.6.b")
@pytest.mark.spec("INTENT-4/10.3.a")
async def test_skills_announce_themselves_and_can_be_listed(skills: Registering) -> None:
    assert await skills.ask(topics.SKILLS_LIST) == {"ok": True, "skills": ()}
    skills.send(topics.SKILL_LOADED, skill_id="lights.demo", capabilities=["converse"])
    skills.send(topics.SKILL_LOADED, skill_id="lights.demo", capabilities=["fallback", "foo", 7])
    skills.send(topics.SKILL_LOADED, "sat-3", skill_id="radio.demo", capabilities="garbage")
    skills.template()
    skills.keyword()
    skills.template("sat-3")
    await settle()
    lights = {"skill_id": "lights.demo", "session_id": "default", "capabilities": ("fallback",), "intents": 2}
    radio = {"skill_id": "radio.demo", "session_id": "sat-3", "capabilities": (), "intents": 0}
    assert (await skills.ask(topics.SKILLS_LIST))["skills"] == (lights, radio)
    assert (await skills.ask(topics.SKILLS_LIST, session_id="sat-3"))["skills"] == (lights, radio)
    assert (await skills.ask(topics.SKILLS_LIST, session_id="sat-9"))["skills"] == (lights,)
    skills.send(topics.SKILL_DEREGISTER, skill_id="lights.demo")
    await settle()
    assert (await skills.ask(topics.SKILLS_LIST))["skills"] == (radio,)


# §10: asking.


def told(answer: dict[str, Any]) -> list[tuple[str, str, str, str, str]]:
    shown = answer.get("intents") or answer["definitions"]
    return [(i["session_id"], i["skill_id"], i["intent_name"], i["lang"], i["method"]) for i in shown]


@pytest.mark.spec("INTENT-4/10.1.a")
@pytest.mark.spec("INTENT-4/10.a")
@pytest.mark.spec("INTENT-4/10.b")
async def test_what_is_registered_can_be_listed_and_filtered(skills: Registering) -> None:
    skills.template(lang="en-us")
    skills.keyword(lang="de-DE")
    skills.template(skill_id="lamps.demo")
    skills.send(topics.INTENT_DISABLE, skill_id="lamps.demo", intent_name="dim")
    await settle()
    everything = await skills.ask(topics.INTENT_LIST)
    assert everything["ok"] is True
    assert {**everything["intents"][0]} == {
        "skill_id": "lamps.demo",
        "intent_name": "dim",
        "lang": "en-US",
        "method": "template",
        "enabled": False,
        "session_id": "default",
    }
    assert len(everything["intents"]) == 3
    assert told(await skills.ask(topics.INTENT_LIST, skill_id="lights.demo", lang="DE-de")) == [
        ("default", "lights.demo", "dim", "de-DE", "keyword")
    ]
    assert await skills.ask(topics.INTENT_LIST, skill_id="ghost") == {"ok": True, "intents": ()}


@pytest.mark.spec("INTENT-4/10.1.b")
@pytest.mark.spec("INTENT-4/11.2.a")
@pytest.mark.spec("INTENT-4/11.2.b")
@pytest.mark.spec("INTENT-4/11.4.b")
async def test_a_list_for_a_session_is_what_that_session_can_reach(skills: Registering) -> None:
    skills.template()
    skills.template("sat-3")
    skills.template("sat-9", intent_name="other")
    await settle()
    assert [entry[0] for entry in told(await skills.ask(topics.INTENT_LIST, session_id="sat-3"))] == [
        "default",
        "sat-3",
    ]
    assert [entry[0] for entry in told(await skills.ask(topics.INTENT_LIST, session_id="sat-4"))] == ["default"]
    asking = Session("sat-9", blacklisted_intents=["lights.demo:dim"])
    own = await skills.ask(topics.INTENT_LIST, asking, session_id="sat-9")
    assert [entry[2] for entry in told(own)] == ["other"], "less what the asking session itself denies"
    nosy = await skills.ask(topics.INTENT_LIST, asking, session_id="sat-3")
    assert len(told(nosy)) == 2


@pytest.mark.spec("INTENT-4/8.5.g")
async def test_a_switch_in_one_session_is_for_that_session(skills: Registering) -> None:
    async def enabled(session_id: str) -> list[bool]:
        answer = await skills.ask(topics.INTENT_LIST, session_id=session_id)
        return [intent["enabled"] for intent in answer["intents"]]

    skills.template()
    skills.send(topics.INTENT_DISABLE, "sat-3", skill_id="lights.demo", intent_name="dim")
    await settle()
    assert (await enabled("sat-3"), await enabled("sat-9"), await enabled("default")) == ([False], [True], [True])
    skills.send(topics.INTENT_DISABLE, skill_id="lights.demo", intent_name="dim")
    await settle()
    assert (await enabled("sat-3"), await enabled("sat-9")) == ([False], [False])
    skills.send(topics.INTENT_ENABLE, skill_id="lights.demo", intent_name="dim")
    skills.send(topics.INTENT_ENABLE, "sat-3", skill_id="lights.demo", intent_name="dim")
    await settle()
    assert (await enabled("sat-3"), await enabled("sat-9")) == ([True], [True])


@pytest.mark.spec("INTENT-4/10.2.a")
@pytest.mark.spec("INTENT-4/10.2.d")
@pytest.mark.parametrize("query", [{}, {"skill_id": ""}, {"skill_id": 7}, {"intent_name": "dim"}])
async def test_a_description_needs_a_skill(skills: Registering, query: dict[str, Any]) -> None:
    skills.template()
    await settle()
    answer = await skills.ask(topics.INTENT_DESCRIBE, **query)
    assert answer["ok"] is False
    assert answer["error"]


@pytest.mark.spec("INTENT-4/10.2.d")
async def test_a_description_of_nothing_is_an_error(skills: Registering) -> None:
    skills.template()
    await settle()
    queries = [
        {"skill_id": "ghost"},
        {"skill_id": "lights.demo", "intent_name": "walk"},
        {"skill_id": "lights.demo", "session_id": "sat-3"},
        {"skill_id": "lights.demo", "method": "keyword"},
    ]
    for query in queries:
        answer = await skills.ask(topics.INTENT_DESCRIBE, **query)
        assert answer["ok"] is False
        assert answer["error"]


@pytest.mark.spec("INTENT-4/10.2.a")
@pytest.mark.spec("INTENT-4/10.2.e")
async def test_a_description_is_the_definition_as_it_was_broadcast(skills: Registering) -> None:
    payload = {**IDENTITY, "lang": "EN-us", **SAMPLES, "foo": {"bar": [1, None]}}
    skills.send(topics.REGISTER_TEMPLATE, **payload)
    await settle()
    sent = skills.sent[0].data
    answer = await skills.ask(topics.INTENT_DESCRIBE, skill_id="lights.demo", intent_name="dim", lang="en-us")
    [definition] = answer["definitions"]
    assert definition["definition"] == sent
    assert definition["lang"] == "en-US"


@pytest.mark.spec("INTENT-4/10.2.c")
async def test_descriptions_come_in_a_settled_order(skills: Registering) -> None:
    for session in ("sat-3", "default", "a-1"):
        for name in ("z", "a"):
            for lang in ("en-US", "de-DE"):
                skills.template(session, intent_name=name, lang=lang)
                skills.keyword(session, intent_name=name, lang=lang)
    await settle()
    shown = told(await skills.ask(topics.INTENT_DESCRIBE, skill_id="lights.demo"))
    expected = [
        (session, "lights.demo", name, lang, method)
        for session in ("default", "a-1", "sat-3")
        for name in ("a", "z")
        for lang in ("de-DE", "en-US")
        for method in ("keyword", "template")
    ]
    assert shown == expected


@pytest.mark.spec("INTENT-4/10.e")
async def test_every_process_answers_for_itself(skills: Registering) -> None:
    skills.template()
    await settle()
    other = IntentRegistry(skills.bus)
    Introspection(skills.bus, other)
    clock = FakeClock()
    asking = asyncio.ensure_future(gather(skills.bus, clock, Message(topics.INTENT_LIST), 1.0))
    await clock.advance(1.1)
    assert sorted(len(answer.data["intents"]) for answer in await asking) == [0, 1]


@pytest.mark.spec("INTENT-4/3.2.f")
async def test_who_sent_it_for_whom_is_noted(skills: Registering, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "hark.manifest"):
        skills.template(source="somebody.else")
        skills.template(source="lights.demo")
        await settle()
    [record] = [record for record in caplog.records if "sent by" in record.getMessage()]
    assert record.levelno == logging.DEBUG
    assert "lights.demo" in record.getMessage()
    assert "somebody.else" in record.getMessage()


async def test_after_closing_nothing_is_answered_or_recorded(skills: Registering) -> None:
    skills.introspection.close()
    skills.manifest.close()
    skills.template()
    skills.bus.emit(Message(topics.INTENT_LIST))
    await settle()
    assert skills.found() == []
    assert [message.type for message in skills.sent] == [topics.REGISTER_TEMPLATE, topics.INTENT_LIST]
