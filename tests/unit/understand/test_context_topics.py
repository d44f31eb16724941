"""Remembering and forgetting over the bus: whose entry it is, what it holds, and where it ends up."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from flow.dialogue import NOON
from hark.bus import LocalBus
from hark.model import ContextEntry, Message, Session
from hark.model.session_merge import Denials
from hark.spec import topics
from hark.testing import FakeClock, settle
from hark.trace import TraceStore
from hark.understand import DefaultSession, TurnOptions
from hark.understand.session_topics import ContextTopics
from hark.understand.turn_state import TurnState


class Listening:
    """The listener, with a store and some open turns."""

    def __init__(self, bus: LocalBus) -> None:
        self.bus = bus
        self.clock = FakeClock()
        self.store = DefaultSession(Session(intent_context={"old": {"value": "x"}, "a.skill:old": {"value": "y"}}))
        self.turns: dict[str, TurnState] = {}
        self.listener = ContextTopics(bus, self.clock, self.turns, self.store, TurnOptions)

    def open_turn(self, utterance_id: str, session: Session) -> TurnState:
        trace = TraceStore(self.clock).begin(utterance_id, session.session_id, ())
        self.turns[utterance_id] = TurnState(Message("x.y"), (), session, Denials(), trace)
        return self.turns[utterance_id]

    async def send(self, topic: str, data: dict[str, Any], session: Session | None = None, **context: Any) -> None:
        self.bus.emit(Message(topic, data, {"skill_id": "a.skill", **context}, session))
        await settle()

    def kept(self) -> dict[str, ContextEntry | None]:
        return dict(self.store.current.intent_context)


@pytest.fixture
async def listening(bus: LocalBus) -> AsyncIterator[Listening]:
    made = Listening(bus)
    yield made
    made.listener.close()


async def test_what_is_set_is_the_skills_own_unless_it_says_shared(listening: Listening) -> None:
    await listening.send(topics.CONTEXT_SET, {"key": "city", "value": "Rome"})
    await listening.send(topics.CONTEXT_SET, {"key": "city", "value": "Oslo", "scope": "shared"})
    await listening.send(topics.CONTEXT_SET, {"key": "flag", "scope": "private"})
    kept = listening.kept()
    assert (kept["a.skill:city"], kept["city"]) == (ContextEntry("Rome"), ContextEntry("Oslo"))
    assert kept["a.skill:flag"] == ContextEntry(None)


async def test_timers_are_those_of_the_message_and_an_entry_is_replaced_whole(listening: Listening) -> None:
    await listening.send(topics.CONTEXT_SET, {"key": "k", "value": "v", "turns": 3, "ttl_seconds": 60})
    assert listening.kept()["a.skill:k"] == ContextEntry("v", NOON + 60, 3)
    await listening.send(topics.CONTEXT_SET, {"key": "k", "ttl_seconds": 0.5})
    assert listening.kept()["a.skill:k"] == ContextEntry(None, NOON + 0.5, None)


async def test_unset_removes_the_one_entry_it_means(listening: Listening) -> None:
    await listening.send(topics.CONTEXT_UNSET, {"key": "old"})
    assert listening.kept().keys() == {"old"}
    await listening.send(topics.CONTEXT_UNSET, {"key": "old", "scope": "shared"})
    await listening.send(topics.CONTEXT_UNSET, {"key": "never there"})
    assert listening.kept() == {}


async def test_clear_removes_everything(listening: Listening) -> None:
    await listening.send(topics.CONTEXT_CLEAR, {})
    assert listening.kept() == {}


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"key": ""},
        {"key": 7},
        {"key": "a:b"},
        {"key": "k", "scope": "public"},
        {"key": "k", "scope": []},
        {"key": "k", "scope": None},
        {"key": "k", "value": 7},
        {"key": "k", "value": ["v"]},
        {"key": "k", "turns": 1.5},
        {"key": "k", "turns": True},
        {"key": "k", "turns": "1"},
        {"key": "k", "turns": 2**70},
        {"key": "k", "ttl_seconds": "1"},
        {"key": "k", "ttl_seconds": True},
        {"key": "k", "ttl_seconds": 10**400},
    ],
)
async def test_what_is_malformed_changes_nothing_and_is_logged(
    listening: Listening, caplog: pytest.LogCaptureFixture, data: dict[str, Any]
) -> None:
    before = listening.kept()
    await listening.send(topics.CONTEXT_SET, data)
    assert listening.kept() == before
    assert "ovos.context.set was ignored" in caplog.text


STAMPS = {
    "tts_transformer_ids": ["t1", "tts"],
    "dialog_transformer_ids": ["dialog"],
    "skill_id": "the.skill",
    "intent_transformer_ids": ["intent"],
    "pipeline_id": "pipeline",
    "metadata_transformer_ids": ["m0", "metadata"],
    "utterance_transformer_ids": ["utterance"],
    "audio_transformer_ids": ["audio"],
}
OWNERS = ["tts", "dialog", "the.skill", "intent", "pipeline", "metadata", "utterance", "audio"]


@pytest.mark.parametrize("stage", range(8))
async def test_whose_it_is_is_told_by_the_latest_stage_that_left_its_name(listening: Listening, stage: int) -> None:
    left = dict(list(STAMPS.items())[stage:])
    context = {"skill_id": "", **left}
    await listening.send(topics.CONTEXT_SET, {"key": "k", "skill_id": "somebody.else"}, **context)
    assert f"{OWNERS[stage]}:k" in listening.kept()


async def test_who_cannot_be_told_writes_nothing_private(
    listening: Listening, caplog: pytest.LogCaptureFixture
) -> None:
    nobody = {"skill_id": 7, "pipeline_id": "", "audio_transformer_ids": [], "tts_transformer_ids": "t"}
    await listening.send(topics.CONTEXT_SET, {"key": "k"}, **nobody)
    assert listening.kept().keys() == {"old", "a.skill:old"}
    assert "is missing or malformed" in caplog.text
    await listening.send(topics.CONTEXT_SET, {"key": "k", "scope": "shared"}, **nobody)
    assert "k" in listening.kept()


async def test_in_an_open_turn_it_goes_to_the_session_of_the_turn(listening: Listening) -> None:
    life = listening.open_turn("u1", Session("x"))
    await listening.send(topics.CONTEXT_SET, {"key": "k"}, Session("x"), utterance_id="u1")
    assert life.session.intent_context.keys() == {"a.skill:k"}
    assert listening.kept().keys() == {"old", "a.skill:old"}


async def test_in_a_turn_of_the_default_session_it_goes_to_both(listening: Listening) -> None:
    life = listening.open_turn("u1", listening.store.current)
    await listening.send(topics.CONTEXT_SET, {"key": "k"}, Session(), utterance_id="u1")
    assert "a.skill:k" in life.session.intent_context
    assert life.session == listening.store.current == life.synced


@pytest.mark.parametrize("utterance_id", ["u1", "unknown", None])
async def test_a_session_that_is_not_here_is_left_to_its_client(
    listening: Listening, caplog: pytest.LogCaptureFixture, utterance_id: str | None
) -> None:
    life = listening.open_turn("u1", Session("x"))
    with caplog.at_level("INFO", "hark.understand"):
        await listening.send(topics.CONTEXT_CLEAR, {}, Session("y"), utterance_id=utterance_id)
    assert listening.kept().keys() == {"old", "a.skill:old"}
    assert life.session == Session("x")
    assert "its client has to remember" in caplog.text


async def test_after_closing_nothing_is_changed(listening: Listening) -> None:
    listening.listener.close()
    await listening.send(topics.CONTEXT_CLEAR, {})
    assert listening.kept().keys() == {"old", "a.skill:old"}
