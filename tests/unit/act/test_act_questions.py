"""Handlers that wait for what the user says next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from acting import Acting

from flow.dialogue import NOON, asks
from flow.stage import skill
from hark.bus import LocalBus
from hark.model import ContextEntry, Message, ResponseMode, Session
from hark.plugins import Turn
from hark.spec import topics
from hark.testing import settle


@pytest.fixture
async def acting(bus: LocalBus) -> AsyncIterator[Acting]:
    made = Acting(bus)
    yield made
    await made.host.close()


def waits(acting: Acting) -> list[tuple[str | None, bool]]:
    return [(m.utterance_id, m.data["waits"]) for m in acting.of(topics.HANDLER_WAITING)]


async def test_a_question_opens_in_the_session_and_closes_with_the_answer(acting: Acting) -> None:
    acting.host.attach(skill("a.skill", go=asks("who?", timeout=7.0)))
    await acting.call("a.skill:go")
    [question] = acting.of(topics.UTTERANCE_SPEAK)
    assert question.session.response_mode == ResponseMode("a.skill", NOON + 7)
    assert waits(acting) == [("u1", True)]
    await acting.call("a.skill:response", "Ann", "u2")
    assert acting.spoken() == ["who?", "a.skill got Ann"]
    assert waits(acting) == [("u1", True), ("u1", False)]
    assert acting.failures() == ["", ""]
    assert all(m.session.response_mode is None for m in acting.of(topics.HANDLER_DONE))
    assert acting.of(topics.UTTERANCE_SPEAK)[1].session.response_mode is None


async def test_silence_ends_a_question_after_its_time(acting: Acting) -> None:
    acting.host.attach(skill("a.skill", go=asks(timeout=7.0)))
    await acting.call("a.skill:go")
    await acting.clock.advance(6.9)
    assert acting.spoken() == ["which one?"]
    await acting.clock.advance(0.1)
    assert acting.spoken() == ["which one?", "a.skill got None"]
    await acting.call("a.skill:response", "late", "u2")
    assert acting.failures()[1].startswith("LookupError: a.skill waits for no answer in this session any more")


async def test_an_answer_goes_to_the_session_and_the_skill_that_asked(acting: Acting) -> None:
    acting.host.attach(skill("a.skill", go=asks()))
    acting.host.attach(skill("b.skill", go=asks()))
    for number, (skill_id, session) in enumerate([("a.skill", "x"), ("a.skill", "y"), ("b.skill", "x")]):
        await acting.call(f"{skill_id}:go", utterance_id=f"u{number}", session=session)
    await acting.call("b.skill:response", "one", "u7", "x")
    await acting.call("a.skill:response", "two", "u8", "y")
    await acting.call("b.skill:response", "three", "u9", "y")
    await acting.call("a.skill:response", "four", "u10", "x")
    assert acting.spoken()[3:] == ["b.skill got one", "a.skill got two", "a.skill got four"]
    assert sum("waits for no answer" in failure for failure in acting.failures()) == 1


async def test_of_two_questions_of_one_skill_in_one_session_the_later_is_answered(acting: Acting) -> None:
    acting.host.attach(skill("a.skill", go=asks(timeout=5.0), more=asks("more?", timeout=60.0)))
    await acting.call("a.skill:go", utterance_id="u1")
    await acting.call("a.skill:more", utterance_id="u2")
    await acting.clock.advance(5.0)
    assert acting.spoken()[2:] == ["a.skill got None"], "the first is nobody's any more"
    await acting.call("a.skill:response", "yes", "u3")
    assert acting.spoken()[3:] == ["a.skill got yes"], "and its end is not that of the second"


async def test_no_two_questions_look_alike(acting: Acting) -> None:
    acting.host.attach(skill("a.skill", go=asks(timeout=5.0)))
    for number in range(3):
        await acting.call("a.skill:go", utterance_id=f"u{number}", session=f"s{number}")
    modes = [message.session.response_mode for message in acting.of(topics.UTTERANCE_SPEAK)]
    assert len(set(modes)) == 3


async def test_a_handler_goes_on_with_the_session_as_it_is_after_the_answer(acting: Acting) -> None:
    seen: list[Any] = []

    async def go(turn: Turn) -> None:
        turn.remember("mine", "before")
        await turn.ask("who?")
        seen.append(turn.session)
        await turn.speak("thanks")

    acting.host.attach(skill("a.skill", go=go))
    await acting.call("a.skill:go", session=Session("x", intent_context={"k": ContextEntry("v", None, 3)}))
    asked = acting.of(topics.UTTERANCE_SPEAK)[0].session
    moved = {**asked.intent_context, "k": ContextEntry("v", None, 2)}
    later = asked.without("response_mode").replace(intent_context=moved, persona_id="butler")
    await acting.call("a.skill:response", "Ann", "u2", later)
    assert seen == [later]
    assert acting.of(topics.UTTERANCE_SPEAK)[1].session == later


async def test_a_handler_that_is_cancelled_while_it_waits_leaves_nothing_open(acting: Acting) -> None:
    acting.host.attach(skill("a.skill", go=asks()))
    await acting.call("a.skill:go")
    await acting.call("a.skill:stop", "stop", "u2")
    assert acting.failures() == ["the handler was stopped", ""]
    assert waits(acting)[-1] == ("u1", False)
    await acting.call("a.skill:response", "late", "u3")
    assert "waits for no answer" in acting.failures()[2]


async def test_everybody_who_waits_is_let_go_when_the_house_closes(bus: LocalBus) -> None:
    acting = Acting(bus)
    acting.host.attach(skill("a.skill", go=asks()))
    for number in range(3):
        await acting.call("a.skill:go", utterance_id=f"u{number}", session=f"s{number}")
    before = asyncio.all_tasks()
    await acting.host.close()
    await settle()
    assert acting.failures() == ["the handler was stopped"] * 3
    assert not [task for task in before if task.get_name() == "a.skill:go" and not task.done()]


async def test_what_comes_of_an_answer_comes_after_the_end_of_its_turn(acting: Acting) -> None:
    acting.host.attach(skill("a.skill", go=asks(timeout=60.0)))
    await acting.call("a.skill:go", utterance_id="u1")
    answer = Message("a.skill:response", {"utterance": "yes"}, {"utterance_id": "u2"}, Session("x"))
    acting.bus.emit(answer)
    await settle()
    assert acting.spoken()[1:] == []
    acting.bus.emit(answer.forward(topics.UTTERANCE_HANDLED))
    await settle()
    assert acting.spoken()[1:] == ["a.skill got yes"]


async def test_an_answer_whose_turn_never_ends_is_an_answer_all_the_same(acting: Acting) -> None:
    acting.host.attach(skill("a.skill", go=asks(timeout=60.0)))
    await acting.call("a.skill:go", utterance_id="u1")
    acting.bus.emit(Message("a.skill:response", {"utterance": "yes"}, {"utterance_id": "u2"}, Session("x")))
    await acting.clock.advance(2.0)
    assert acting.spoken()[1:] == ["a.skill got yes"]
