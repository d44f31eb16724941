"""OVOS-CONTEXT-1: gates and filled slots in the matcher that ships, and what the skill kit writes and declares."""

from __future__ import annotations

from typing import Any

import pytest

from flow.stage import (
    MakeAssistant,
    claims,
    outcomes,
    silent,
    skill,
    turn_of,
)
from hark.model import ContextEntry, Message, Session
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant, settle

NOON = 1_767_268_800.0
PEOPLE = "people.skill"


def entry(value: str | None = "Bob", **timers: Any) -> ContextEntry:
    return ContextEntry(value, **timers)


def register(hark: Assistant, **riders: Any) -> None:
    samples = ["how tall is {person}", "what height [exactly]"]
    identity = {"skill_id": PEOPLE, "intent_name": "height", "lang": "en-US", "samples": samples}
    hark.bus.emit(Message(topics.REGISTER_TEMPLATE, {**identity, **riders}))


async def slots_of(hark: Assistant, text: str, **context: ContextEntry | None) -> dict[str, str] | None:
    """The slots an utterance is dispatched with, or None when the matcher declines it."""
    entries = {key.replace("__", ":").replace("_skill", ".skill"): value for key, value in context.items()}
    await hark.hears(text, session=Session("x", intent_context=entries))
    dispatches = [message for message in turn_of(hark) if ":" in message.type]
    if not dispatches:
        assert outcomes(hark, "match") == [("template", "declined")], "the engine itself has to decline"
        return None
    return dict(dispatches[0].data["slots"])


# §§3, 6: gates in the engine.


@pytest.mark.spec("CONTEXT-1/2.j")
@pytest.mark.spec("CONTEXT-1/3.1.a")
@pytest.mark.spec("CONTEXT-1/3.1.b")
@pytest.mark.spec("CONTEXT-1/3.1.c")
@pytest.mark.spec("CONTEXT-1/6.b")
@pytest.mark.spec("CONTEXT-1/6.c")
@pytest.mark.spec("CONTEXT-1/6.1.b")
@pytest.mark.spec("CONTEXT-1/6.1.c")
@pytest.mark.parametrize("key", ["asked", "people.skill:asked", "other.skill:asked"])
@pytest.mark.parametrize("gate", ["asked", {"key": "asked"}, {"key": "asked", "scope": "shared"}])
@pytest.mark.parametrize("live", [True, False])
async def test_the_matcher_opens_a_gate_for_the_one_key_it_means(
    assistant: MakeAssistant, key: str, gate: Any, live: bool
) -> None:
    shared = isinstance(gate, dict) and gate.get("scope") == "shared"
    opens = live and key == ("asked" if shared else "people.skill:asked")
    session = Session("x", intent_context={key: entry(None, expires_at=NOON + (1 if live else 0))})
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark, requires_context=[gate])
        await hark.hears("what height", session=session)
        assert outcomes(hark, "match") == [("template", "claimed" if opens else "declined")]
        register(hark, excludes_context=[gate])
        await hark.hears("what height", session=session)
        assert outcomes(hark, "match") == [("template", "declined" if opens else "claimed")]


@pytest.mark.spec("CONTEXT-1/6.e")
@pytest.mark.spec("CONTEXT-1/6.1.e")
@pytest.mark.parametrize(
    ("riders", "opens"),
    [
        ({}, True),
        ({"requires_context": [], "excludes_context": []}, True),
        ({"requires_context": ["on"], "excludes_context": ["off"]}, True),
        ({"requires_context": ["on", "off"]}, False),
        ({"requires_context": ["on"], "excludes_context": ["on"]}, False),
        ({"requires_context": ["off"], "excludes_context": ["off"]}, False),
    ],
)
async def test_both_lists_of_gates_have_to_hold(assistant: MakeAssistant, riders: Any, opens: bool) -> None:
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark, **riders)
        found = await slots_of(hark, "what height", people_skill__on=entry(None))
    assert (found is not None) == opens


@pytest.mark.spec("CONTEXT-1/8.d")
async def test_the_matcher_knows_no_context_but_that_of_the_session_it_is_given(assistant: MakeAssistant) -> None:
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark, requires_context=["asked"])
        assert await slots_of(hark, "what height", people_skill__asked=entry(None)) == {}
        assert await slots_of(hark, "what height") is None
        await hark.hears("what height", session=Session("y"))
        assert outcomes(hark, "match") == [("template", "declined")]


@pytest.mark.spec("CONTEXT-1/1.1.a")
async def test_the_four_contexts_are_four_things(assistant: MakeAssistant) -> None:
    seen: list[Turn] = []
    async with assistant(skill(PEOPLE, height=seen.append)) as hark:
        register(hark)
        await hark.hears(
            "how tall is Alice",
            session=Session("x", intent_context={"topic": entry("people")}),
            context={"person": "Carol", "intent_context": {"topic": {"value": "planets"}}},
        )
        [turn] = seen
        assert turn.slots == {"person": "alice"}
        assert turn.session.intent_context == {"topic": entry("people")}
        assert turn.message.context["person"] == "Carol"
        assert turn.message.context["intent_context"] == {"topic": {"value": "planets"}}
        assert turn_of(hark)[-1].session.intent_context == {"topic": entry("people")}


# §7: slots filled from the context.


@pytest.mark.spec("CONTEXT-1/7.a")
@pytest.mark.spec("CONTEXT-1/7.b")
@pytest.mark.spec("CONTEXT-1/7.d")
@pytest.mark.parametrize("key", ["person", "people_skill__person"])
async def test_what_is_remembered_fills_what_was_not_said(assistant: MakeAssistant, key: str) -> None:
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark, required_slots=["person"])
        assert await slots_of(hark, "what height") is None, "there is nobody it could be about"
        assert await slots_of(hark, "what height", **{key: entry()}) == {"person": "Bob"}


@pytest.mark.spec("CONTEXT-1/7.a")
@pytest.mark.spec("CONTEXT-1/7.d")
@pytest.mark.parametrize(
    "useless",
    [entry(None), entry(turns_remaining=0), entry(expires_at=NOON), entry(turns_remaining=-1)],
    ids=["flag", "no turns left", "expired", "negative"],
)
async def test_flags_and_dead_entries_fill_nothing(assistant: MakeAssistant, useless: ContextEntry) -> None:
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark)
        assert await slots_of(hark, "what height", person=useless) == {}
        register(hark, required_slots=["person"])
        assert await slots_of(hark, "what height", person=useless) is None


@pytest.mark.spec("CONTEXT-1/7.c")
async def test_the_skills_own_entry_comes_before_a_shared_one(assistant: MakeAssistant) -> None:
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark)
        both = {"person": entry("Bob"), "people_skill__person": entry("Dora"), "other_skill__person": entry("Eve")}
        assert await slots_of(hark, "what height", **both) == {"person": "Dora"}
        dead = {**both, "people_skill__person": entry("Dora", turns_remaining=0)}
        assert await slots_of(hark, "what height", **dead) == {"person": "Bob"}
        assert await slots_of(hark, "what height", other_skill__person=entry("Eve")) == {}


@pytest.mark.spec("CONTEXT-1/7.e")
async def test_what_was_said_beats_what_is_remembered(assistant: MakeAssistant) -> None:
    async with assistant(skill(PEOPLE, height=silent)) as hark:
        register(hark)
        assert await slots_of(hark, "how tall is Alice", people_skill__person=entry()) == {"person": "alice"}


# §6: declaring gates with the kit; they ride on the registration.


@pytest.mark.spec("CONTEXT-1/6.a")
@pytest.mark.spec("CONTEXT-1/6.1.a")
@pytest.mark.spec("CONTEXT-1/6.f")
async def test_gates_of_both_forms_travel_with_the_registration(assistant: MakeAssistant) -> None:
    class Asker(Skill):
        id = "asker.skill"

        @intent("ask me")
        def ask(self, turn: Turn) -> str:
            turn.remember("asked", turns=1)
            return "Sure?"

        @intent("yes", requires=["asked"], excludes=[{"key": "busy", "scope": "shared"}])
        def confirm(self, turn: Turn) -> str:
            return "Done."

    async with assistant(Asker()) as hark:
        sent = next(m.data for m in hark.of(topics.REGISTER_TEMPLATE) if m.data["intent_name"] == "confirm")
        assert sent["requires_context"] == ("asked",)
        assert sent["excludes_context"] == ({"key": "busy", "scope": "shared"},)
        hark.bus.emit(Message(topics.INTENT_DESCRIBE, {"skill_id": "asker.skill", "intent_name": "confirm"}))
        await settle()
        [described] = hark.of(f"{topics.INTENT_DESCRIBE}.response")[-1].data["definitions"]
        assert described["definition"] == sent
        assert await hark.hears("yes") == []
        assert await hark.hears("ask me") == ["Sure?"]
        assert await hark.hears("yes") == ["Done."]
        assert await hark.hears("ask me") == ["Sure?"]
        assert await hark.hears("yes", session=Session(intent_context={"busy": {"value": None}})) == []


# §§3, 5: what a handler writes.


@pytest.mark.spec("CONTEXT-1/3.b")
@pytest.mark.parametrize("key", ["a:b", ":", "", "claims:person"])
async def test_a_private_entry_has_its_owner_in_the_key_and_nothing_else_is_written(
    assistant: MakeAssistant, key: str
) -> None:
    refused: list[str] = []

    def handler(turn: Turn) -> None:
        turn.remember("person", "Bob")
        turn.remember("place", "here", shared=True)
        try:
            turn.remember(key, "odd")
        except ValueError as error:
            refused.append(str(error))

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello", session="x")
        kept = turn_of(hark)[-1].session.intent_context
    assert kept == {"claims:person": entry(), "place": entry("here")}
    assert refused


@pytest.mark.spec("CONTEXT-1/5.3.f")
@pytest.mark.spec("CONTEXT-1/5.3.h")
@pytest.mark.spec("CONTEXT-1/5.3.j")
async def test_the_decay_is_what_the_writer_says_and_nothing_is_added(assistant: MakeAssistant) -> None:
    def handler(turn: Turn) -> None:
        turn.remember("turns", "Bob", turns=3)
        turn.remember("seconds", "Bob", seconds=60)
        turn.remember("both", "Bob", turns=2, seconds=5)
        turn.remember("neither", "Bob")

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("hello", session="x")
        kept = turn_of(hark)[-1].session.intent_context
    assert kept == {
        "claims:turns": entry(turns_remaining=3),
        "claims:seconds": entry(expires_at=NOON + 60),
        "claims:both": entry(turns_remaining=2, expires_at=NOON + 5),
        "claims:neither": entry(),
    }
