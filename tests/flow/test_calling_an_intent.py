"""Calling an intent by its name: the same turn as any other, only the match is said in advance."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flow.stage import MakeAssistant, claims, outcomes, transformer
from hark.model import Message, Session
from hark.plugins import Match, Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant


class Lamp(Skill):
    id = "lamp.skill"

    @intent("turn the lamp {state}")
    def switch(self, turn: Turn) -> str:
        return f"The lamp is {turn.slots.get('state', 'as it was')}."

    @intent("dim the lamp", requires=["evening"])
    def dim(self, turn: Turn) -> str:
        return "Dimmed."


def call(**named: Any) -> dict[str, Any]:
    return {"skill_id": "lamp.skill", "intent_name": "switch", **named}


async def called(
    hark: Assistant, wanted: Any, *, words: list[str] | None = None, session: Session | None = None
) -> list[str]:
    """What is said when an intent is called, once the turn has ended."""
    before, spoken = len(hark.of(topics.UTTERANCE_HANDLED)), len(hark.of(topics.UTTERANCE_SPEAK))
    data = {"utterances": ["xyzzy"] if words is None else words, "intent": wanted}
    hark.bus.emit(Message(topics.UTTERANCE_HANDLE, data, session=session))
    async with asyncio.timeout(20):
        while len(hark.of(topics.UTTERANCE_HANDLED)) == before:  # noqa: ASYNC110 - it may come from another process
            await asyncio.sleep(0.001)
    return [one.data["utterance"] for one in hark.of(topics.UTTERANCE_SPEAK)[spoken:]]


async def test_an_intent_is_called_by_its_name(assistant: MakeAssistant) -> None:
    async with assistant(Lamp()) as hark:
        assert await called(hark, call(slots={"state": "on"}), words=["the lamp, please"]) == ["The lamp is on."]
        [matched] = hark.of(topics.INTENT_MATCHED)
        assert matched.data["pipeline_id"] == "call"
        assert matched.data["utterance"] == "the lamp, please"
        [dispatch] = hark.of("lamp.skill:switch")
        assert dispatch.data["slots"] == {"state": "on"}
        assert outcomes(hark, "match") == [("call", "claimed")]


async def test_slots_beyond_what_can_be_said_are_not_taken(assistant: MakeAssistant) -> None:
    async with assistant(Lamp()) as hark:
        assert await called(hark, call(slots={"state": "x" * 11_000})) == []
        assert len(await called(hark, call(slots={"state": "x" * 9_000}))) == 1


async def test_numbers_in_slots_become_text(assistant: MakeAssistant) -> None:
    async with assistant(Lamp()) as hark:
        assert await called(hark, call(slots={"state": 7})) == ["The lamp is 7."]


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        (call(intent_name="explode"), "no intent lamp.skill:explode is registered"),
        (call(intent_name="response"), "no intent lamp.skill:response is registered"),
        (call(skill_id="nobody"), "no intent nobody:switch is registered"),
        (call(skill_id=7), "intent lacks its skill_id or its intent_name"),
        ("lamp.skill:switch", "intent is not an object with skill_id, intent_name and slots"),
        (None, "intent is not an object with skill_id, intent_name and slots"),
        (call(slots=["on"]), "the slots of intent are not an object of texts and numbers"),
        (call(slots={"state": True}), "the slots of intent are not an object of texts and numbers"),
        (call(slots={}), "lamp.skill:switch: required slot 'state' is not filled"),
        (call(intent_name="dim"), "lamp.skill:dim: required context 'evening' is not live"),
    ],
)
async def test_what_cannot_be_called_is_unmatched_and_the_trace_says_why(
    assistant: MakeAssistant, wanted: Any, why: str
) -> None:
    everything = claims("everything")
    async with assistant(Lamp(), everything, settings={"assistant": {"pipeline": ["everything"]}}) as hark:
        if wanted == call(slots={}):
            names = {"skill_id": "lamp.skill", "intent_name": "switch", "lang": "en-US"}
            data = {**names, "samples": ["turn the lamp {state}"], "required_slots": ["state"]}
            hark.bus.emit(Message(topics.REGISTER_TEMPLATE, data))
            await hark.bus.settled()
        assert await called(hark, wanted) == []
        assert len(hark.of(topics.INTENT_UNMATCHED)) == 1, "no other entry is asked: it would do something else"
        [step] = [step for step in hark.trace().steps if step.stage == "match"]
        assert (step.who, step.detail) == ("call", why)


async def test_a_call_without_words_is_unmatched(assistant: MakeAssistant) -> None:
    async with assistant(Lamp()) as hark:
        assert await called(hark, call(slots={"state": "on"}), words=[]) == []
        [step] = [step for step in hark.trace().steps if step.stage == "match"]
        assert step.outcome == "declined"


@pytest.mark.parametrize(
    ("denied", "why"),
    [
        ({"blacklisted_pipelines": ("call",)}, "the session's blacklisted_pipelines names it"),
        ({"blacklisted_skills": ("lamp.skill",)}, "the session's blacklisted_skills names lamp.skill"),
        ({"blacklisted_intents": ("lamp.skill:switch",)}, "the session's blacklisted_intents names lamp.skill:switch"),
    ],
)
async def test_what_is_denied_is_not_called(assistant: MakeAssistant, denied: dict[str, Any], why: str) -> None:
    async with assistant(Lamp()) as hark:
        assert await called(hark, call(slots={"state": "on"}), session=Session("kitchen", **denied)) == []
        [step] = [step for step in hark.trace().steps if step.stage == "match"]
        assert (step.outcome, step.detail) == ("denied", why)


async def test_an_intent_that_is_switched_off_is_not_called(assistant: MakeAssistant) -> None:
    async with assistant(Lamp()) as hark:
        hark.bus.emit(Message(topics.INTENT_DISABLE, {"skill_id": "lamp.skill", "intent_name": "switch"}))
        await hark.bus.settled()
        assert await called(hark, call(slots={"state": "on"})) == []


async def test_the_chains_hold_for_calls(assistant: MakeAssistant) -> None:
    def change(match: Match, ctx: Any) -> Match:
        return match.with_slots(state="broken")

    async with assistant(Lamp(), transformer("intent", "change", change)) as hark:
        assert await called(hark, call(slots={"state": "on"})) == ["The lamp is broken."]
