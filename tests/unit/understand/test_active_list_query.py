"""Telling who may be offered what is said next."""

from __future__ import annotations

from typing import Any

from flow.dialogue import NOON, listed
from hark.bus import LocalBus, ask
from hark.model import Handler, Message, Session
from hark.spec import topics
from hark.testing import FakeClock, settle
from hark.understand import DefaultSession, TurnOptions
from hark.understand.session_topics import ActiveListQuery


def store() -> DefaultSession:
    handlers = (Handler("new", NOON), Handler("old", NOON - 61))
    return DefaultSession(Session(converse_handlers=handlers))


async def told(bus: LocalBus, session: Session | None = None, **context: Any) -> Message:
    return await ask(bus, FakeClock(), Message(topics.CONVERSE_ACTIVE_LIST, {}, context, session))


async def test_the_default_session_is_told_from_the_store_whatever_the_question_carries(bus: LocalBus) -> None:
    listener = ActiveListQuery(bus, FakeClock(), store(), lambda: TurnOptions(converse_ttl=60.0))
    for session in (None, Session(), listed("made.up", session_id="default")):
        answer = await told(bus, session, source="me")
        assert answer.data == {"converse_handlers": ({"skill_id": "new", "activated_at": NOON},)}
        assert answer.context["destination"] == "me"
    listener.close()


async def test_another_session_is_told_from_the_question(bus: LocalBus) -> None:
    listener = ActiveListQuery(bus, FakeClock(), store(), lambda: TurnOptions(converse_ttl=60.0))
    answer = await told(bus, listed("a", "b"))
    assert [one["skill_id"] for one in answer.data["converse_handlers"]] == ["a", "b"]
    assert answer.session_id == "x"
    assert (await told(bus, Session("y"))).data == {"converse_handlers": ()}
    listener.close()


async def test_without_a_time_nobody_is_left_out(bus: LocalBus) -> None:
    listener = ActiveListQuery(bus, FakeClock(), store(), lambda: TurnOptions(converse_ttl=None))
    assert len((await told(bus)).data["converse_handlers"]) == 2
    listener.close()


async def test_telling_changes_nothing(bus: LocalBus) -> None:
    kept = store()
    before = kept.current
    listener = ActiveListQuery(bus, FakeClock(), kept, lambda: TurnOptions(converse_ttl=60.0))
    await told(bus)
    assert kept.current is before
    listener.close()
    seen: list[str] = []
    bus.tap(lambda message: seen.append(message.type))
    bus.emit(Message(topics.CONVERSE_ACTIVE_LIST))
    await settle()
    assert seen == [topics.CONVERSE_ACTIVE_LIST], "closed"
