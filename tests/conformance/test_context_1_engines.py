"""OVOS-CONTEXT-1 §3, §6, §7: the same gates and the same fills, whichever engine an intent is registered with."""

from __future__ import annotations

from typing import Any

import pytest

from flow.dialogue import NOON
from flow.stage import MakeAssistant, outcomes, silent, skill, turn_of
from hark.builtin import KeywordMatcher
from hark.model import ContextEntry, Message, Session
from hark.plugins import Turn
from hark.skills import Skill, intent, keywords
from hark.spec import topics
from hark.testing import Assistant

PEOPLE = "people.skill"
engines = pytest.mark.parametrize("engine", ["template", "keyword"])


def entry(value: str | None = "Bob", **timers: Any) -> ContextEntry:
    return ContextEntry(value, **timers)


def register(hark: Assistant, engine: str, *, needs_person: bool = False, **riders: Any) -> None:
    """An intent that is asked by "height", and by "height of alice" with a slot."""
    identity = {"skill_id": PEOPLE, "intent_name": "height", "lang": "en-US", **riders}
    if engine == "template":
        needed = {"required_slots": ["person"]} if needs_person else {}
        samples = ["height", "height of {person}"]
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, {**identity, "samples": samples, **needed}))
        return
    height = {"name": "height", "samples": ["height", "height of"]}
    person = {"name": "person", "samples": ["alice", "carol"]}
    described = {"required": [height, person]} if needs_person else {"required": [height], "optional": [person]}
    hark.bus.emit(Message(topics.REGISTER_KEYWORD, {**identity, **described}))


async def person_of(hark: Assistant, engine: str, text: str, **context: ContextEntry | None) -> str | None:
    """Whose height was asked for: nobody's is "", None when the engine itself declined."""
    entries = {key.replace("__", ":").replace("_skill", ".skill"): value for key, value in context.items()}
    await hark.hears(text, session=Session("x", intent_context=entries))
    dispatches = [message for message in turn_of(hark) if ":" in message.type]
    if not dispatches:
        assert dict(outcomes(hark, "match"))[engine] == "declined", "the engine itself has to decline"
        return None
    slots: dict[str, str] = dispatches[0].data["slots"]
    return slots.get("person", "")


@pytest.fixture
def assistant(assistant: MakeAssistant) -> MakeAssistant:
    return lambda *plugins, **more: assistant(*plugins, KeywordMatcher(), **more)


@engines
@pytest.mark.spec("CONTEXT-1/2.j")
@pytest.mark.spec("CONTEXT-1/3.1.a")
@pytest.mark.spec("CONTEXT-1/3.1.b")
@pytest.mark.spec("CONTEXT-1/3.1.c")
@pytest.mark.spec("CONTEXT-1/6.b")
@pytest.mark.spec("CONTEXT-1/6.1.b")
@pytest.mark.parametrize("key", ["asked", "people.skill:asked", "other.skill:asked"])
@pytest.mark.parametrize("gate", ["asked", {"key": "asked", "scope": "private"}, {"key": "asked", "scope": "shared"}])
@pytest.mark.parametrize("live", [True, False])
async def test_a_gate_opens_for_the_live_entry_of_its_scope_and_owner_alone(
    assistant: MakeAssistant, engine: str, key: str, gate: Any, live: bool
) -> None:
    shared = isinstance(gate, dict) and gate["scope"] == "shared"
    opens = live and key == ("asked" if shared else "people.skill:asked")
    session = Session("x", intent_context={key: entry(None, expires_at=NOON + (1 if live else 0))})
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark, engine, requires_context=[gate])
        await hark.hears("height", session=session)
        assert dict(outcomes(hark, "match"))[engine] == ("claimed" if opens else "declined")
        register(hark, engine, excludes_context=[gate])
        await hark.hears("height", session=session)
        assert dict(outcomes(hark, "match"))[engine] == ("declined" if opens else "claimed")


@engines
@pytest.mark.spec("CONTEXT-1/6.e")
@pytest.mark.spec("CONTEXT-1/6.1.e")
@pytest.mark.parametrize(
    ("riders", "opens"),
    [
        ({"requires_context": [], "excludes_context": []}, True),
        ({"requires_context": ["on"], "excludes_context": ["off"]}, True),
        ({"requires_context": ["on", "off"]}, False),
        ({"requires_context": ["on"], "excludes_context": ["on"]}, False),
        ({"requires_context": ["off"], "excludes_context": ["off"]}, False),
        ({"requires_context": [{"key": "on", "scope": "odd"}]}, False),
        ({"requires_context": [7]}, False),
    ],
)
async def test_both_lists_have_to_hold(assistant: MakeAssistant, engine: str, riders: Any, opens: bool) -> None:
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark, engine, **riders)
        found = await person_of(hark, engine, "height", people_skill__on=entry(None))
    assert (found is not None) == opens


@engines
@pytest.mark.spec("CONTEXT-1/8.d")
async def test_an_engine_knows_no_context_but_that_of_the_session(assistant: MakeAssistant, engine: str) -> None:
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark, engine, requires_context=["asked"])
        assert await person_of(hark, engine, "height", people_skill__asked=entry(None)) == ""
        assert await person_of(hark, engine, "height") is None


@engines
@pytest.mark.spec("CONTEXT-1/7.a")
@pytest.mark.spec("CONTEXT-1/7.b")
@pytest.mark.spec("CONTEXT-1/7.d")
@pytest.mark.parametrize("key", ["person", "people_skill__person"])
async def test_what_is_remembered_stands_in_for_what_was_not_said(
    assistant: MakeAssistant, engine: str, key: str
) -> None:
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark, engine, needs_person=True)
        assert await person_of(hark, engine, "height") is None, "there is nobody it could be about"
        assert await person_of(hark, engine, "height", **{key: entry()}) == "Bob"


@engines
@pytest.mark.spec("CONTEXT-1/7.d")
@pytest.mark.parametrize(
    "useless", [entry(None), entry(turns_remaining=0), entry(expires_at=NOON)], ids=["flag", "no turns", "expired"]
)
async def test_flags_and_dead_entries_fill_nothing(
    assistant: MakeAssistant, engine: str, useless: ContextEntry
) -> None:
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark, engine)
        assert await person_of(hark, engine, "height", person=useless) == ""


@engines
@pytest.mark.spec("CONTEXT-1/7.c")
async def test_the_skills_own_entry_goes_before_a_shared_one(assistant: MakeAssistant, engine: str) -> None:
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark, engine)
        both = {"person": entry("Bob"), "people_skill__person": entry("Dora"), "other_skill__person": entry("Eve")}
        assert await person_of(hark, engine, "height", **both) == "Dora"
        assert await person_of(hark, engine, "height", other_skill__person=entry("Eve")) == ""


@engines
@pytest.mark.spec("CONTEXT-1/7.e")
async def test_what_was_said_goes_before_what_is_remembered(assistant: MakeAssistant, engine: str) -> None:
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark, engine)
        assert await person_of(hark, engine, "height of Alice", people_skill__person=entry()) == "alice"


class People(Skill):
    """Remembers of whom it was asked."""

    id = PEOPLE

    @intent("how tall is {person}")
    def height(self, turn: Turn) -> str:
        turn.remember("person", turn.slots["person"], turns=2)
        turn.remember("talking")
        return f"{turn.slots['person']} is tall"

    @intent("and how old [is {person}]", requires=["talking"])
    def age(self, turn: Turn) -> str:
        return f"{turn.slots.get('person', 'somebody')} is old"

    @keywords(required={"eat": ["eats"]}, optional={"person": ["ann"]}, excludes=["fed"])
    def food(self, turn: Turn) -> str:
        turn.remember("fed", turns=1)
        return f"{turn.slots.get('person', 'somebody')} eats"

    @intent("that is all", requires=["talking"])
    def over(self, turn: Turn) -> str:
        turn.forget("talking")
        return "fine"


@pytest.mark.spec("CONTEXT-1/4.e")
@pytest.mark.spec("CONTEXT-1/6.a")
@pytest.mark.spec("CONTEXT-1/6.1.a")
@pytest.mark.spec("CONTEXT-1/7.b")
@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_a_dialogue_with_both_kinds_of_intents(assistant: MakeAssistant, session: str | None) -> None:
    async with assistant(People()) as hark:
        dialogue = [
            ("and how old", []),
            ("how tall is Bob", ["bob is tall"]),
            ("and how old", ["bob is old"]),
            ("eats", ["bob eats"]),
            ("eats", []),  # just fed, and Bob is forgotten
            ("eats", ["somebody eats"]),
            ("and how old", ["somebody is old"]),
            ("that is all", ["fine"]),
            ("and how old", []),
        ]
        for said, heard in dialogue:
            assert await hark.hears(said, session=session) == heard, said
