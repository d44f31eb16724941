"""Stopping what skills do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from acting import Acting

from flow.dialogue import asks
from flow.stage import Work, members_for, skill
from hark.bus import LocalBus
from hark.model import Message, Session
from hark.plugins import Plugin, Turn
from hark.plugins.handlers import ConversationPlugin
from hark.spec import topics
from hark.testing import settle


@pytest.fixture
async def acting(bus: LocalBus) -> AsyncIterator[Acting]:
    made = Acting(bus)
    yield made
    await made.host.close()


def stoppable(skill_id: str, told: list[str], *, stoppable: bool = False, **handlers: Work) -> Plugin:
    """A skill that notes when it is stopped."""

    def stopped(turn: Turn) -> str:
        told.append(f"{skill_id} in {turn.session.session_id}")
        return f"{skill_id} stopped"

    members = {"id": skill_id, "quick": True, "stopped": staticmethod(stopped), **members_for(handlers)}
    if stoppable:
        members["can_stop"] = staticmethod(lambda session: True)
    made: Plugin = type("Stoppable", (ConversationPlugin,), members)()
    return made


async def stop_all(acting: Acting, session_id: str = "x") -> None:
    acting.bus.emit(Message(topics.STOP, {}, {"utterance_id": "u8"}, Session(session_id)))
    await settle()


async def test_a_stop_ends_the_skills_work_in_the_session_and_then_tells_it(acting: Acting) -> None:
    told: list[str] = []
    acting.host.attach(stoppable("a.skill", told, go=asks()))
    await acting.call("a.skill:go", session="x", utterance_id="u1")
    await acting.call("a.skill:go", session="y", utterance_id="u2")
    await acting.call("a.skill:stop", session="x", utterance_id="u3")
    assert told == ["a.skill in x"]
    assert acting.failures() == ["the handler was stopped", ""]
    assert acting.spoken()[2:] == ["a.skill stopped"]
    await acting.call("a.skill:response", "yes", "u4", "y")
    assert acting.spoken()[3:] == ["a.skill got yes"], "elsewhere nothing was stopped"


async def test_a_skill_without_a_word_on_stopping_is_stopped_all_the_same(acting: Acting) -> None:
    acting.host.attach(skill("a.skill", go=asks()))
    await acting.call("a.skill:go")
    await acting.call("a.skill:stop", utterance_id="u2")
    assert acting.failures() == ["the handler was stopped", ""]


async def test_a_task_of_a_turn_ends_with_the_stop(acting: Acting) -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    def go(turn: Turn) -> None:
        turn.task(work(), "music")

    acting.host.attach(skill("a.skill", quick=True, go=go))
    await acting.call("a.skill:go")
    assert acting.failures() == [""], "the handler itself is done"
    await acting.call("a.skill:stop", utterance_id="u2", session="y")
    assert ended == []
    await acting.call("a.skill:stop", utterance_id="u3")
    assert ended == ["ended"]


async def test_stopping_everything_reaches_whoever_has_something_to_stop(acting: Acting) -> None:
    told: list[str] = []
    acting.host.attach(stoppable("busy", told, go=asks()))
    acting.host.attach(stoppable("idle", told))
    acting.host.attach(stoppable("radio", told, stoppable=True))
    await acting.call("busy:go")
    await stop_all(acting, "y")
    assert told == ["radio in y"]
    await stop_all(acting, "x")
    assert sorted(told) == ["busy in x", "radio in x", "radio in y"]
    assert acting.failures() == ["the handler was stopped"]
    assert acting.spoken() == ["which one?"], "nobody speaks because everything was stopped"


async def test_who_was_detached_is_not_stopped(acting: Acting) -> None:
    told: list[str] = []
    acting.host.attach(stoppable("radio", told, stoppable=True))
    acting.host.detach("radio")
    await stop_all(acting)
    assert told == []


async def test_a_skill_that_fails_to_stop_keeps_no_other_from_it(
    acting: Acting, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(ConversationPlugin):
        id = "broken"
        quick = True

        def can_stop(self, session: Session) -> bool:
            return True

        def stopped(self, turn: Turn) -> None:
            raise ValueError("stuck")

    told: list[str] = []
    acting.host.attach(Broken())
    acting.host.attach(stoppable("radio", told, stoppable=True))
    await stop_all(acting)
    assert told == ["radio in x"]
    assert "broken failed to stop: ValueError: stuck" in caplog.text
    await acting.call("broken:stop")
    assert acting.failures()[0].startswith("ValueError: stuck")
