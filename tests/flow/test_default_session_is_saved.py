"""The default session is shown to whoever writes it down, after every turn that ended."""

from __future__ import annotations

import pytest

from flow.stage import MakeAssistant, claims
from hark.model import Session
from hark.plugins import Turn
from hark.spec import topics


async def test_after_each_marker_the_default_session_is_saved(assistant: MakeAssistant) -> None:
    saved: list[Session] = []

    def handler(turn: Turn) -> None:
        turn.remember(turn.utterance, "x", shared=True)

    async with assistant(claims(handler=handler)) as hark:
        hark.runtime.store._save = saved.append
        await hark.hears("one")
        await hark.hears("named", session="x")
        await hark.hears("two")
        assert [set(session.intent_context) for session in saved] == [{"one"}, {"one", "two"}]
        assert saved[-1] == hark.of(topics.UTTERANCE_HANDLED)[-1].session


async def test_a_save_that_fails_does_not_cost_the_marker(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(session: Session) -> None:
        raise OSError("the disk is full")

    async with assistant(claims()) as hark:
        hark.runtime.store._save = fail
        assert await hark.hears("one") == ["one"]
        assert await hark.hears("two") == ["two"]
    assert "the disk is full" in caplog.text
