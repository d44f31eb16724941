"""`ovos.intent.describe`: what was registered, in full, for whoever asks."""

from __future__ import annotations

from typing import Any

import pytest

from flow.stage import MakeAssistant, declines
from hark.model import Message, Session
from hark.spec import topics
from hark.testing import Assistant, settle


def registration(**more: Any) -> dict[str, Any]:
    return {"skill_id": "a.skill", "intent_name": "go", "lang": "en-US", "samples": ["go on"], **more}


async def described(hark: Assistant, **query: Any) -> dict[str, Any]:
    hark.bus.emit(Message(topics.INTENT_DESCRIBE, query))
    await settle()
    return dict(hark.of(f"{topics.INTENT_DESCRIBE}.response")[-1].data)


async def test_what_was_registered_is_told_as_it_came(assistant: MakeAssistant) -> None:
    async with assistant(declines()) as hark:
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, registration(blacklist=["not"])))
        told = await described(hark, skill_id="a.skill")
    identity = {"skill_id": "a.skill", "intent_name": "go", "lang": "en-US", "method": "template"}
    definition = registration(blacklist=("not",), samples=("go on",))
    assert told == {"ok": True, "definitions": ({**identity, "session_id": "default", "definition": definition},)}


@pytest.mark.parametrize(
    ("query", "langs"),
    [
        ({}, ["en-US", "de-DE", "en-US"]),
        ({"lang": "EN-us"}, ["en-US", "en-US"]),
        ({"lang": "fr-FR"}, []),
        ({"intent_name": "went"}, []),
        ({"method": "keyword"}, []),
        ({"method": "template", "lang": "de-DE"}, ["de-DE"]),
        ({"session_id": "x"}, ["en-US"]),
    ],
)
async def test_every_field_of_the_question_counts(
    assistant: MakeAssistant, query: dict[str, Any], langs: list[str]
) -> None:
    async with assistant(declines()) as hark:
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, registration(lang="de-DE")))
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, registration()))
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, registration(), session=Session("x")))
        told = await described(hark, skill_id="a.skill", **query)
    assert sorted(one["lang"] for one in told.get("definitions", ())) == sorted(langs)
    if not langs:
        assert told == {"ok": False, "error": "nothing of a.skill is registered that fits"}


async def test_who_does_not_say_whose_is_told_so(assistant: MakeAssistant) -> None:
    async with assistant(declines()) as hark:
        for wrong in ({}, {"skill_id": ""}, {"skill_id": 7}):
            assert await described(hark, **wrong) == {"ok": False, "error": "skill_id is missing: whose intents?"}


async def test_what_is_too_deep_for_an_answer_is_not_told(assistant: MakeAssistant) -> None:
    deep: Any = "bottom"
    for _ in range(97):
        deep = [deep]
    async with assistant(declines()) as hark:
        hark.bus.emit(Message(topics.REGISTER_TEMPLATE, registration(extra=deep)))
        told = await described(hark, skill_id="a.skill")
    assert told["ok"] is False
    assert told["error"].startswith("the registration of a.skill does not fit into an answer: ")
