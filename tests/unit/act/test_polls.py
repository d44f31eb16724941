"""Answering for plugins when candidates are asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from acting import Acting

from flow.dialogue import NOON, asks, chatty, listed
from flow.stage import silent, skill
from hark.bus import LocalBus
from hark.model import Handler, Message, Session
from hark.plugins.handlers import Answer, ConversationPlugin, answers, fallback
from hark.spec import topics
from hark.testing import settle

SAID: dict[str, Any] = {"utterances": ["hello", "hallo"], "lang": "en-US"}
ASKED: dict[str, Any] = {"utterance": "how high is it", "lang": "en-US"}


@pytest.fixture
async def acting(bus: LocalBus) -> AsyncIterator[Acting]:
    made = Acting(bus)
    yield made
    await made.host.close()


def active(*skill_ids: str) -> Session:
    return Session("x", active_handlers=tuple(Handler(skill_id, NOON) for skill_id in skill_ids))


# Converse.


async def test_those_in_the_list_answer_and_nobody_else(acting: Acting) -> None:
    for plugin in (chatty("yes.skill"), chatty("no.skill", False), skill("mute", go=silent), chatty("absent")):
        acting.host.attach(plugin)
    session = listed("yes.skill", "no.skill", "mute", "unknown.skill")
    assert await acting.poll(topics.CONVERSE_PING, session, **SAID) == {
        "yes.skill": {"can_handle": True},
        "no.skill": {"can_handle": False},
        "mute": {"can_handle": False, "error_code": "done"},
    }


@pytest.mark.parametrize("quick", [True, False])
async def test_a_candidate_is_shown_what_was_said(acting: Acting, quick: bool) -> None:
    shown: list[Any] = []

    def wants(utterances: Any, lang: str, session: Session) -> bool:
        shown.append((tuple(utterances), lang, session.session_id))
        return True

    acting.host.attach(chatty("a.skill", wants, quick=quick))
    await acting.poll(topics.CONVERSE_PING, listed("a.skill"), **SAID)
    async with asyncio.timeout(20):
        while not acting.of(topics.CONVERSE_PONG):  # it may be on another thread
            await settle()
    assert shown == [(("hello", "hallo"), "en-US", "x")]
    assert acting.of(topics.CONVERSE_PONG)[0].data == {"skill_id": "a.skill", "can_handle": True}


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({}, ((), "")),
        ({"utterances": "hello", "lang": 7}, ((), "")),
        ({"utterances": ["a", 7, "b"], "lang": "de-DE"}, (("a", "b"), "de-DE")),
    ],
)
async def test_a_malformed_ping_is_answered_all_the_same(acting: Acting, data: Any, shown: Any) -> None:
    seen: list[Any] = []

    def wants(utterances: Any, lang: str, session: Session) -> bool:
        seen.append((tuple(utterances), lang))
        return False

    acting.host.attach(chatty("a.skill", wants))
    assert await acting.poll(topics.CONVERSE_PING, listed("a.skill"), **data) == {"a.skill": {"can_handle": False}}
    assert seen == [shown]


async def test_a_candidate_that_fails_says_no_and_is_asked_no_more_when_it_keeps_failing(acting: Acting) -> None:
    calls: list[str] = []

    def wants(utterances: Any, lang: str, session: Session) -> bool:
        calls.append(lang)
        raise ValueError("not today")

    acting.host.attach(chatty("a.skill", wants))
    failed = {"a.skill": {"can_handle": False, "error_code": "handler_error"}}
    for _ in range(8):
        assert await acting.poll(topics.CONVERSE_PING, listed("a.skill"), **SAID) == failed
    assert len(calls) < 8


@pytest.mark.parametrize("decision", [1, "yes", None, object()])
async def test_a_decision_is_true_or_it_is_a_no(acting: Acting, decision: Any) -> None:
    acting.host.attach(chatty("a.skill", lambda *_: decision))
    answer = await acting.poll(topics.CONVERSE_PING, listed("a.skill"), **SAID)
    assert answer["a.skill"]["can_handle"] is False


async def test_a_ping_without_a_session_is_for_nobody(acting: Acting) -> None:
    acting.host.attach(chatty("a.skill"))
    acting.bus.emit(Message(topics.CONVERSE_PING, SAID))
    await settle()
    assert acting.of(topics.CONVERSE_PONG) == []


async def test_who_was_detached_is_silent(acting: Acting) -> None:
    acting.host.attach(chatty("a.skill"))
    acting.host.detach("a.skill")
    assert await acting.poll(topics.CONVERSE_PING, listed("a.skill"), **SAID) == {}


async def test_whoever_decides_when_the_house_closes_is_let_go(bus: LocalBus) -> None:
    async def wants(utterances: Any, lang: str, session: Session) -> bool:
        await asyncio.Event().wait()
        return True

    acting = Acting(bus)
    acting.host.attach(chatty("a.skill", wants))
    await acting.poll(topics.CONVERSE_PING, listed("a.skill"), **SAID)
    await acting.host.close()
    await settle()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert acting.of(topics.CONVERSE_PONG) == []


# Stop.


async def test_a_running_handler_can_be_stopped_in_its_session_alone(acting: Acting) -> None:
    acting.host.attach(skill("a.skill", go=asks()))
    acting.host.attach(skill("b.skill", go=silent))
    await acting.call("a.skill:go")
    assert await acting.poll(topics.STOP_PING, active("a.skill", "b.skill")) == {
        "a.skill": {"can_handle": True},
        "b.skill": {"can_handle": False},
    }
    elsewhere = Session("y", active_handlers=active("a.skill").active_handlers)
    assert await acting.poll(topics.STOP_PING, elsewhere) == {"a.skill": {"can_handle": False}}


async def test_a_skill_may_know_of_something_to_stop(acting: Acting) -> None:
    class Radio(ConversationPlugin):
        id = "radio"
        quick = True

        def can_stop(self, session: Session) -> bool:
            return session.session_id == "x"

    acting.host.attach(Radio())
    assert await acting.poll(topics.STOP_PING, active("radio")) == {"radio": {"can_handle": True}}
    assert await acting.poll(topics.STOP_PING, active()) == {}, "only those who are active are asked"


# Fallback and common query: who has them answers.


class Helper(ConversationPlugin):
    id = "helper"
    quick = True

    @fallback(20, when=lambda self, utterances, lang, session: "help" in utterances)
    def helps(self, turn: Any) -> str:
        return "helped"

    @answers(wants=lambda self, question, lang, session: question.startswith("how"))
    def know(self, question: str, lang: str, session: Session) -> Answer | None:
        return Answer("high", 0.9) if question.endswith("is it") else None


async def test_those_with_a_fallback_tell_whether_they_want_it(acting: Acting) -> None:
    for plugin in (Helper(), chatty("a.skill")):
        acting.host.attach(plugin)
    wanted = await acting.poll(topics.FALLBACK_PING, Session("x"), utterances=["help"], lang="en-US")
    assert wanted.keys() == {"helper"}
    assert wanted["helper"]["can_handle"] is True
    unwanted = await acting.poll(topics.FALLBACK_PING, Session("x"), **SAID)
    assert unwanted["helper"]["can_handle"] is False


async def test_those_who_answer_questions_tell_whether_it_is_worth_asking_and_then_what_they_know(
    acting: Acting,
) -> None:
    acting.host.attach(Helper())
    assert (await acting.poll(topics.COMMON_QUERY_PING, Session("x"), **ASKED))["helper"]["can_answer"] is True
    other = await acting.poll(topics.COMMON_QUERY_PING, Session("x"), utterance="who", lang="en-US")
    assert other["helper"]["can_answer"] is False
    acting.bus.emit(Message(topics.COMMON_QUERY_REQUEST, {**ASKED, "skill_id": "helper"}, session=Session("x")))
    acting.bus.emit(Message(topics.COMMON_QUERY_REQUEST, {**ASKED, "skill_id": "nobody"}, session=Session("x")))
    await settle()
    [response] = acting.of(topics.COMMON_QUERY_RESPONSE)
    assert (response.data["skill_id"], response.data["answer"], response.data["conf"]) == ("helper", "high", 0.9)
