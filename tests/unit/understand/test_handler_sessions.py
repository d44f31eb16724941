"""What handlers show of their session before they are done."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from flow.dialogue import NOON
from hark.bus import LocalBus
from hark.model import ContextEntry, Handler, Message, ResponseMode, Session
from hark.model.session_merge import Denials
from hark.spec import topics
from hark.testing import FakeClock, settle
from hark.trace import TraceStore
from hark.understand import DefaultSession, LocalTurns
from hark.understand.endings import Endings
from hark.understand.session_topics import HandlerSessions
from hark.understand.turn_state import TurnState

ASKS = ResponseMode("a.skill", NOON + 30)


class Overhearing:
    """The listener, with a store and some open turns."""

    def __init__(self, bus: LocalBus) -> None:
        self.bus = bus
        self.traces = TraceStore(FakeClock())
        self.saved: list[Session] = []
        self.store = DefaultSession(Session(), self.saved.append)
        self.turns: dict[str, TurnState] = {}
        endings = Endings(LocalTurns(bus, self.store), self.traces)
        self.listener = HandlerSessions(bus, self.turns, endings.sync, self.store, is_shared=False)

    def turn(self, utterance_id: str, session: Session, skill_id: str = "a.skill", *, called: bool = True) -> TurnState:
        session = self.store.open(session) if session.is_default else session
        trace = self.traces.begin(utterance_id, session.session_id, ())
        life = self.turns[utterance_id] = TurnState(Message("x.y"), (), session, Denials(), trace)
        if called:
            life.called(Message(f"{skill_id}:go", {}, {"utterance_id": utterance_id}, session), session)
        return life

    async def speaks(self, life: TurnState, session: Session | None, skill_id: str | None = "") -> None:
        """The handler speaks, or a program that says it is another skill, or names none."""
        handler = life.dispatch.type.partition(":")[0] if life.dispatch is not None else None
        context = {"utterance_id": life.utterance_id, "skill_id": skill_id if skill_id != "" else handler}
        context = {name: value for name, value in context.items() if value is not None}
        self.bus.emit(Message(topics.UTTERANCE_SPEAK, {"utterance": "hm"}, context, session))
        await settle()


@pytest.fixture
async def overhearing(bus: LocalBus) -> AsyncIterator[Overhearing]:
    made = Overhearing(bus)
    yield made
    made.listener.close()


def remembering(session: Session, **values: str) -> Session:
    return session.replace(intent_context={**session.intent_context, **{k: {"value": v} for k, v in values.items()}})


async def test_what_a_handler_shows_is_in_the_default_session_at_once(overhearing: Overhearing) -> None:
    life = overhearing.turn("u1", Session())
    await overhearing.speaks(life, remembering(life.session, city="Rome"))
    assert overhearing.store.current.intent_context == {"city": ContextEntry("Rome")}
    assert life.session == overhearing.store.current
    assert overhearing.saved == [], "written down when the turn ends"


async def test_a_question_is_written_down_at_once(overhearing: Overhearing) -> None:
    life = overhearing.turn("u1", Session())
    await overhearing.speaks(life, life.session.replace(response_mode=ASKS))
    assert [session.response_mode for session in overhearing.saved] == [ASKS]


async def test_only_what_the_handler_may_change_is_taken(overhearing: Overhearing) -> None:
    life = overhearing.turn("u1", Session("x", site_id="kitchen"))
    others = (Handler("b.skill", NOON), Handler("a.skill", NOON))
    await overhearing.speaks(
        life, life.session.replace(site_id="bath", blacklisted_skills=["c"], converse_handlers=others, persona_id="p")
    )
    assert (life.session.site_id, life.session.blacklisted_skills, life.session.persona_id) == ("kitchen", None, "p")
    assert [one.skill_id for one in life.session.converse_handlers] == ["a.skill"]


async def test_the_same_shown_twice_counts_once(overhearing: Overhearing) -> None:
    life = overhearing.turn("u1", Session())
    shown = remembering(life.session, city="Rome").replace(response_mode=ASKS)
    await overhearing.speaks(life, shown)
    overhearing.store.current = overhearing.store.current.without("response_mode")  # it was answered
    await overhearing.speaks(life, shown)
    assert overhearing.store.current.response_mode is None, "an old session shown again opens nothing"


async def test_open_turns_of_a_named_session_share_what_a_handler_shows(overhearing: Overhearing) -> None:
    asking, answering = overhearing.turn("u1", Session("x")), overhearing.turn("u2", Session("x"), "b.skill")
    elsewhere, matching = overhearing.turn("u3", Session("y")), overhearing.turn("u4", Session("x"), called=False)
    await overhearing.speaks(asking, remembering(asking.session, city="Rome").replace(response_mode=ASKS))
    for life in (asking, answering):
        assert life.session.response_mode == ASKS
        assert life.session.intent_context == {"city": ContextEntry("Rome")}
    assert elsewhere.session == Session("y")
    assert matching.session == Session("x"), "a round under way sees one context from start to end"


async def test_a_question_that_is_closed_is_closed_for_all_of_them_but_another_one_stays(
    overhearing: Overhearing,
) -> None:
    first, second = overhearing.turn("u1", Session("x")), overhearing.turn("u2", Session("x"), "b.skill")
    later = ResponseMode("b.skill", NOON + 60)
    await overhearing.speaks(first, first.session.replace(response_mode=ASKS))
    await overhearing.speaks(second, Session("x", response_mode=later))
    await overhearing.speaks(first, Session("x"))
    assert (first.session.response_mode, second.session.response_mode) == (later, later)
    await overhearing.speaks(second, Session("x"))
    assert (first.session.response_mode, second.session.response_mode) == (None, None)


@pytest.mark.parametrize("why", ["unknown turn", "not called yet", "ended", "no session", "another session"])
async def test_what_is_no_handlers_is_passed_over(overhearing: Overhearing, why: str) -> None:
    life = overhearing.turn("u1", Session(), called=why != "not called yet")
    life.ended = why == "ended"
    if why == "unknown turn":
        del overhearing.turns["u1"]
    shown = remembering(life.session, city="Rome")
    if why == "another session":
        shown = remembering(Session("y"), city="Rome")
    await overhearing.speaks(life, None if why == "no session" else shown)
    assert overhearing.store.current == Session()


async def test_after_closing_nothing_is_overheard(overhearing: Overhearing) -> None:
    life = overhearing.turn("u1", Session())
    overhearing.listener.close()
    await overhearing.speaks(life, remembering(life.session, city="Rome"))
    assert overhearing.store.current == Session()


@pytest.mark.parametrize("skill_id", [None, "another.skill"])
async def test_only_the_handler_of_a_turn_opens_a_question_in_it(
    overhearing: Overhearing, skill_id: str | None
) -> None:
    life = overhearing.turn("u1", Session())
    asked = life.session.replace(response_mode=ResponseMode("another.skill", NOON + 30))
    await overhearing.speaks(life, asked, skill_id)
    assert life.session.response_mode is None
    assert overhearing.store.current.response_mode is None
    await overhearing.speaks(life, life.session.replace(response_mode=ASKS))
    assert overhearing.store.current.response_mode == ASKS
