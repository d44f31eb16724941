"""Answering for plugins in polls, keeping an eye on how they decide, and what runs for them beside their handlers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from flow.polling import dispatched, heard, with_all_stages
from flow.stage import MakeAssistant, reached
from hark.model import Message, Session
from hark.plugins import Answer, Turn, answers, fallback
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import settle


@pytest.fixture
def assistant(assistant: MakeAssistant) -> MakeAssistant:
    return with_all_stages(assistant)


class Moody(Skill):
    """Decides by what it is given."""

    id = "moody"
    quick = True
    decide: Callable[[], Any]

    @intent("begin")
    def begin_it(self, turn: Turn) -> str:
        return "begun"

    def can_converse(self, *_said: Any) -> Any:
        return type(self).decide()

    def converse(self, turn: Turn) -> str:
        return "conversed"


def moody(decide: Callable[[], Any]) -> Skill:
    made: Skill = type("MadeMoody", (Moody,), {"decide": staticmethod(decide)})()
    return made


def fail() -> Any:
    raise ValueError("no mood")


@pytest.mark.parametrize("given", [None, 1, "yes", [True]], ids=repr)
async def test_a_decision_that_is_none_is_a_no_and_is_named(
    assistant: MakeAssistant, given: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with assistant(moody(lambda: given)) as hark:
        await hark.hears("begin", session="x")
        assert await hark.hears("mumble", session="x") == []
        [pong] = hark.of(topics.CONVERSE_PONG)
        assert pong.data == {"skill_id": "moody", "can_handle": False, "error_code": "handler_error"}
    assert f"moody failed: can_converse returned a {type(given).__name__}; it returns True or False" in caplog.text


async def test_who_fails_again_and_again_is_asked_no_more_for_a_while(assistant: MakeAssistant) -> None:
    asked: list[None] = []

    def decide() -> Any:
        asked.append(None)
        return fail() if len(asked) <= 5 else True

    async with assistant(moody(decide)) as hark:
        await hark.hears("begin", session="x")
        for _ in range(7):
            await hark.hears("mumble", session="x")
        assert len(asked) == 5
        assert len(hark.of(topics.CONVERSE_PONG)) == 7
        await hark.clock.advance(61.0)
        assert await hark.hears("mumble", session="x") == ["conversed"]


async def test_a_decision_in_order_starts_the_count_over(assistant: MakeAssistant) -> None:
    asked: list[None] = []

    def decide() -> Any:
        asked.append(None)
        return fail() if len(asked) % 3 else False

    async with assistant(moody(decide)) as hark:
        await hark.hears("begin", session="x")
        for _ in range(12):
            await hark.hears("mumble", session="x")
    assert len(asked) == 12


async def test_the_surest_of_several_answers_of_one_skill_is_given(assistant: MakeAssistant) -> None:
    class Two(Skill):
        id = "two"
        quick = True

        @answers(wants=lambda *_asked: False)
        def unsure(self, question: str, lang: str, session: Session) -> Answer:
            return Answer("maybe", 0.6)

        @answers()
        def sure(self, question: str, lang: str, session: Session) -> Answer:
            return Answer("yes", 0.9)

        @answers()
        def wrong(self, question: str, lang: str, session: Session) -> Answer:
            return Answer("never", 9.0)

    async with assistant(Two()) as hark:
        assert await hark.hears("is it so") == ["yes"]


@pytest.mark.one_process
async def test_what_is_not_hosted_any_more_is_not_answered_for(assistant: MakeAssistant) -> None:
    class Both(Skill):
        id = "both"
        quick = True

        @fallback(5)
        def take(self, turn: Turn) -> str:
            return "taken"

        @answers()
        def know(self, question: str, lang: str, session: Session) -> str:
            return "known"

    async with assistant(Both()) as hark:
        assert [await hark.hears(text) for text in ("mumble", "what is it")] == [["taken"], ["known"]]
        await hark.runtime.plugin_set.unload(hark.runtime.skills.get("both"))  # type: ignore[arg-type]
        await settle()
        assert [(await heard(hark, text)).spoken for text in ("mumble", "what is it")] == [[], []]
        for topic in (topics.FALLBACK_PING, topics.COMMON_QUERY_PING, topics.CONVERSE_PING, topics.STOP_PING):
            listed = [{"skill_id": "both", "activated_at": hark.clock.wall()}]
            session = Session("x", active_handlers=listed, converse_handlers=listed)
            hark.bus.emit(Message(topic, {"utterances": ["a"], "utterance": "a", "lang": "en-US"}, session=session))
        before = len(hark.messages)
        await settle()
        assert len(hark.messages) == before


async def test_only_the_last_thousand_decisions_are_remembered(assistant: MakeAssistant) -> None:
    decided: list[str] = []

    class Takes(Skill):
        id = "takes"
        quick = True

        @fallback(5, when=lambda _self, utterances, *_rest: not decided.append(utterances[0]))
        def take(self, turn: Turn) -> str:
            return "taken"

    async with assistant(Takes()) as hark:
        for number in range(1_010):
            data = {"utterances": [f"{number}"], "lang": "en-US"}
            hark.bus.emit(Message(topics.FALLBACK_PING, data, {"utterance_id": str(number)}))
        await settle()
        decided.clear()
        for number in (0, 1_009):
            data = {"utterance": f"{number}", "lang": "en-US", "slots": {}}
            hark.bus.emit(Message("takes:fallback", data, {"utterance_id": str(number)}))
            await settle()
        assert decided == ["0"], "the oldest is decided again"
        assert await hark.hears("mumble") == ["taken"]


# What goes on beside the handlers.


def starts(task: Callable[[Turn], Any], *, quick: bool) -> Skill:
    def begin_it(self: Skill, turn: Turn) -> None:
        turn.task(task(turn), "work")

    members = {"id": "starter", "quick": quick, "begin_it": intent("begin")(begin_it)}
    made: Skill = type("Starter", (Skill,), members)()
    return made


@pytest.mark.parametrize("quick", [True, False], ids=["inline", "on a worker"])
async def test_any_handler_may_begin_something(assistant: MakeAssistant, quick: bool) -> None:
    ran = threading.Event()

    async def work(turn: Turn) -> None:
        assert asyncio.get_running_loop() is loop
        await turn.speak("done")
        ran.set()

    async with assistant(starts(work, quick=quick)) as hark:
        loop = asyncio.get_running_loop()
        await hark.hears("begin")
        await reached(ran)
        await settle()
        assert [m.data["utterance"] for m in hark.of(topics.UTTERANCE_SPEAK)] == ["done"]


async def test_what_is_stopped_before_it_began_leaves_no_trace(assistant: MakeAssistant) -> None:
    ran: list[None] = []

    async def work(turn: Turn) -> None:
        ran.append(None)

    class Hasty(Skill):
        id = "hasty"
        quick = True

        @intent("begin")
        def begin_it(self, turn: Turn) -> None:
            turn.task(work(turn))
            turn.emit(topics.STOP)

    async with assistant(Hasty()) as hark:
        await hark.hears("begin")
        await settle()
    assert len(ran) <= 1  # and nobody complains about a coroutine that was never awaited


async def test_what_is_no_task_is_refused(assistant: MakeAssistant) -> None:
    async with assistant(starts(lambda _turn: 7, quick=True)) as hark:
        await hark.hears("begin")
        [error] = hark.of(topics.HANDLER_ERROR)
        assert "task takes what an async def returns, not int" in error.data["exception"]


async def test_a_task_that_fails_is_named(assistant: MakeAssistant, caplog: pytest.LogCaptureFixture) -> None:
    async def work(turn: Turn) -> None:
        raise SystemExit("on purpose")

    async with assistant(starts(work, quick=True)) as hark:
        await hark.hears("begin")
        await settle()
    assert "starter work failed: SystemExit: on purpose" in caplog.text


async def test_tasks_end_with_the_house(assistant: MakeAssistant) -> None:
    ended: list[str] = []

    async def work(turn: Turn) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(turn.session.session_id)

    async with assistant(starts(work, quick=True)) as hark:
        await hark.hears("begin", session=Session("x"))
        await settle()
        assert ended == []
    assert ended == ["x"]


@pytest.mark.parametrize("timeout", [float("inf"), float("nan"), 0, -1.0], ids=str)
async def test_a_question_waits_for_a_time_that_can_pass(assistant: MakeAssistant, timeout: float) -> None:
    class Asks(Skill):
        id = "asks"

        @intent("begin")
        async def begin_it(self, turn: Turn) -> None:
            await turn.ask("Well?", timeout=timeout)

    async with assistant(Asks()) as hark:
        assert await hark.hears("begin") == []
        [error] = hark.of(topics.HANDLER_ERROR)
        assert "a question waits for a number of seconds above 0" in error.data["exception"]
        assert dispatched(hark) == ["asks:begin_it"]
