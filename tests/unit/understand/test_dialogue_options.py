"""What a deployment decides about a dialogue, and that it can change its mind."""

from __future__ import annotations

from typing import Any

import pytest

from flow.stage import MakeAssistant, claims
from hark.app.settings import settings_from
from hark.bus import ask
from hark.model import Message, Session
from hark.spec import topics
from hark.testing import Assistant, settle

REMEMBER = Message(topics.CONTEXT_SET, {"key": "city", "value": "Rome", "scope": "shared"})


async def listed(hark: Assistant) -> list[str]:
    answer = await ask(hark.bus, hark.clock, Message(topics.CONVERSE_ACTIVE_LIST))
    return [one["skill_id"] for one in answer.data["converse_handlers"]]


def settings(hark: Assistant, **tables: Any) -> Any:
    pipeline = list(hark.runtime.settings.assistant.pipeline)
    tables["assistant"] = {"pipeline": pipeline, **tables.get("assistant", {})}
    return settings_from(tables)


async def test_how_long_a_skill_is_kept_in_mind(assistant: MakeAssistant) -> None:
    async with assistant(claims("a"), settings={"limits": {"converse_ttl": 10.0}}) as hark:
        await hark.hears("hello")
        await hark.clock.advance(9.0)
        assert await listed(hark) == ["a"]
        await hark.clock.advance(2.0)
        assert await listed(hark) == []
        hark.runtime.adopt(settings(hark, limits={"converse_ttl": 60.0}))
        assert await listed(hark) == ["a"]


async def test_how_many_are_kept_in_mind(assistant: MakeAssistant) -> None:
    others = [{"skill_id": f"s{number}", "activated_at": 1_767_268_700.0 - number} for number in range(5)]
    async with assistant(claims("a"), settings={"limits": {"converse_cap": 3}}) as hark:
        await hark.hears("hello", session=Session("x", converse_handlers=others))
        kept = hark.of(topics.UTTERANCE_HANDLED)[0].session.converse_handlers
        assert [one.skill_id for one in kept] == ["a", "s0", "s1"]


@pytest.mark.parametrize("heeded", [True, False])
async def test_whether_others_may_remember_by_messages(assistant: MakeAssistant, heeded: bool) -> None:
    async with assistant(settings={"assistant": {"context_topics": heeded}}) as hark:
        for now in (heeded, not heeded):
            hark.runtime.adopt(settings(hark, assistant={"context_topics": now}))
            hark.bus.emit(REMEMBER)
            await settle()
            assert ("city" in hark.runtime.store.current.intent_context) is now
            hark.runtime.adopt(settings(hark))
            hark.bus.emit(Message(topics.CONTEXT_CLEAR))
            await settle()
