"""The default session is shown to whoever writes it down, after every turn that ended."""

from __future__ import annotations

import pytest

from flow.stage import MakeAssistant, claims
from hark.model import Session
from hark.plugins import Turn
from hark.spec import topics
from hark.understand import DefaultSession


@pytest.mark.one_worker  # where workers share it, the broker keeps it
async def test_after_each_marker_the_default_session_is_saved(
    assistant: MakeAssistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[Session] = []
    monkeypatch.setattr(DefaultSession, "saved", lambda store: saved.append(store.current))

    def handler(turn: Turn) -> None:
        turn.remember(turn.utterance, "x", shared=True)

    async with assistant(claims(handler=handler)) as hark:
        await hark.hears("one")
        await hark.hears("named", session="x")
        await hark.hears("two")
        assert [set(session.intent_context) for session in saved] == [{"one"}, {"one", "two"}]
        assert saved[-1] == hark.of(topics.UTTERANCE_HANDLED)[-1].session


@pytest.mark.one_worker  # where workers share it, the broker keeps it
async def test_a_save_that_fails_does_not_cost_the_marker(
    assistant: MakeAssistant, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_store: DefaultSession) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(DefaultSession, "saved", fail)

    async with assistant(claims()) as hark:
        assert await hark.hears("one") == ["one"]
        assert await hark.hears("two") == ["two"]
    assert "the disk is full" in caplog.text
