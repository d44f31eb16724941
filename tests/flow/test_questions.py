"""Handlers that ask in the middle of their work, many at once, and everything that can come between."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from flow.dialogue import NOON, asks, dispatched, in_dialogue
from flow.stage import MakeAssistant, matcher, silent
from hark.model import Frozen, Match, Message, ResponseMode, Session
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant, settle


@pytest.fixture
def assistant(assistant: MakeAssistant) -> MakeAssistant:
    return in_dialogue(assistant)


def words(plugin_id: str = "words", **handlers: Any) -> Any:
    """A matcher with handlers that are called by their name, which is the first word."""

    def match(utterances: Any, lang: str, session: Session) -> Match | None:
        name = utterances[0].split()[0]
        return Match(plugin_id, name, lang, utterances[0]) if name in handlers else None

    return matcher(plugin_id, match, **handlers)


async def greet(turn: Turn) -> str:
    return f"{turn.session.session_id} is {await turn.ask('who are you?', timeout=300.0)}"


def errors(hark: Assistant) -> list[str]:
    return [message.data["exception"] for message in hark.of(topics.HANDLER_ERROR)]


# Many at once.


async def test_500_sessions_in_the_middle_of_a_question_each_get_their_own_answer(assistant: MakeAssistant) -> None:
    names = [f"s{number}" for number in range(500)]
    order = random.Random(5).sample(names, len(names))
    async with assistant(words(greet=greet)) as hark:
        for name in names:
            assert await hark.hears("greet me", session=name) == ["who are you?"]
        assert hark.runtime.orchestrator.open_turns == 500
        answers = {name: hark.say(f"the one of {name}", session=name) for name in order}
        async with asyncio.timeout(60):
            for name in order:
                await answers[name].over.wait()
                for asked in answers[name].resumed:
                    await asked.over.wait()
        assert {name: hearing.spoken for name, hearing in answers.items()} == {
            name: [f"{name} is the one of {name}"] for name in names
        }
        assert hark.runtime.orchestrator.open_turns == 0
        assert errors(hark) == []


async def test_two_satellites_hear_only_their_own_answers_asks_and_stops(assistant: MakeAssistant) -> None:
    async with assistant(words(greet=greet, go=lambda turn: f"gone in {turn.session.session_id}")) as hark:
        assert await hark.hears("greet me", session="kitchen") == ["who are you?"]
        assert await hark.hears("go", session="bath") == ["gone in bath"]
        assert await hark.hears("greet me", session="bath") == ["who are you?"]
        assert await hark.hears("stop", session="kitchen") == []
        await settle()
        assert errors(hark) == ["the handler was stopped"]
        assert await hark.hears("go", session="kitchen") == ["gone in kitchen"], "nothing is open there any more"
        assert await hark.hears("go", session="bath") == ["bath is go"]
        heard = [(m.session_id, m.data["utterance"]) for m in hark.of(topics.UTTERANCE_SPEAK)]
    assert heard == [
        ("kitchen", "who are you?"),
        ("bath", "gone in bath"),
        ("bath", "who are you?"),
        ("kitchen", "gone in kitchen"),
        ("bath", "bath is go"),
    ]


# What comes between.


@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_a_handler_that_never_returns_keeps_nobody_from_talking(
    assistant: MakeAssistant, session: str | None
) -> None:
    async def never(turn: Turn) -> None:
        await turn.ask("still there?", timeout=5.0)
        await asyncio.Event().wait()

    async with assistant(words(never=never, greet=greet)) as hark:
        first = hark.say("never", session=session)
        await settle()
        await hark.clock.advance(5.0)
        assert await hark.hears("greet me", session=session) == ["who are you?"]
        assert await hark.hears("Ann", session=session) == [f"{session or 'default'} is Ann"]
        assert not first.over.is_set()
        assert await hark.hears("stop", session=session) == []
        await settle()
        assert first.over.is_set()
        assert errors(hark) == ["the handler was stopped"]


@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_an_answer_after_the_time_is_an_utterance_like_any_other(
    assistant: MakeAssistant, session: str | None
) -> None:
    async with assistant(words(ask=asks(timeout=10.0), go=lambda turn: "gone")) as hark:
        first = hark.say("ask", session=session)
        await hark.clock.advance(10.0)
        assert first.spoken == ["which one?", "words got None"]
        assert await hark.hears("go", session=session) == ["gone"]
        assert dispatched(hark) == ["words:ask", "words:go"]


async def test_an_answer_that_meets_nobody_waiting_is_an_error_and_not_swallowed_in_silence(
    assistant: MakeAssistant,
) -> None:
    async with assistant(words(ask=asks(timeout=10.0))) as hark:
        hark.say("ask", session="x")
        await settle()
        asked = hark.of(topics.UTTERANCE_SPEAK)[0].session
        late = asked.replace(response_mode=ResponseMode("words", NOON + 99))  # a client whose clock is slow
        await hark.clock.advance(10.0)
        await hark.hears("this one", session=late)
        [error] = errors(hark)
        assert error.startswith("LookupError: words waits for no answer in this session any more")


async def test_a_second_question_in_the_same_session_takes_the_next_answer(assistant: MakeAssistant) -> None:
    go_on = asyncio.Event()

    async def later(turn: Turn) -> str:
        await go_on.wait()
        first = await turn.ask("later?", timeout=60.0)
        return f"later got {first} and {await turn.ask('and?', timeout=60.0)}"

    async with assistant(words(soon=asks("soon?", timeout=30.0)), words("other", later=later)) as hark:
        slow = hark.say("later")
        await settle()
        early = hark.say("soon")
        await settle()
        go_on.set()
        await settle()
        assert [m.data["utterance"] for m in hark.of(topics.UTTERANCE_SPEAK)] == ["soon?", "later?"]
        assert await hark.hears("one") == ["and?"], "whoever asked last"
        await hark.clock.advance(30.0)
        assert early.spoken == ["soon?", "words got None"]
        assert await hark.hears("two") == ["later got one and two"], "the end of one question is not that of another"
        assert slow.spoken == ["later?", "and?", "later got one and two"]


@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_a_turn_that_ends_late_does_not_close_the_question_of_another(
    assistant: MakeAssistant, session: str | None
) -> None:
    go_on = asyncio.Event()

    async def slow(turn: Turn) -> None:
        turn.remember("slow", "yes", shared=True)
        await go_on.wait()

    async with assistant(words(slow=slow, ask=asks())) as hark:
        hark.say("slow", session=session)
        await settle()
        assert await hark.hears("ask", session=session) == ["which one?"]
        go_on.set()
        await settle()
        assert hark.of(topics.UTTERANCE_HANDLED)[0].session.intent_context.keys() == {"slow"}
        assert await hark.hears("this one", session=session) == ["words got this one"]


@pytest.mark.parametrize("session", [None, "kitchen"])
@pytest.mark.parametrize("text", ["stop", "stop everything"])
async def test_a_stop_releases_a_handler_that_waits(assistant: MakeAssistant, session: str | None, text: str) -> None:
    ended: list[str] = []

    async def ask(turn: Turn) -> None:
        try:
            await turn.ask("which one?")
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async with assistant(words(ask=ask, go=lambda turn: "gone")) as hark:
        first = hark.say("ask", session=session)
        await settle()
        await hark.hears(text, session=session)
        await settle()
        assert ended == ["cancelled"]
        assert first.over.is_set()
        assert hark.runtime.orchestrator.open_turns == 0
        assert await hark.hears("go", session=session) == ["gone"], "the next utterance is nobody's answer"


async def test_a_question_in_a_turn_that_a_handler_began_is_answered_and_both_go_on(assistant: MakeAssistant) -> None:
    async def outer(turn: Turn) -> str:
        turn.emit(topics.UTTERANCE_HANDLE, {"utterances": ["inner"]})
        await go_on.wait()
        return f"outer got {await turn.ask('outer?')}"

    go_on = asyncio.Event()
    async with assistant(words(outer=outer, inner=asks("inner?"))) as hark:
        hark.say("outer")
        await settle()
        answer = hark.say("one")
        await settle()
        assert answer.spoken == ["words got one"]
        go_on.set()
        await settle()
        answer = hark.say("two")
        await settle()
        assert answer.spoken == ["outer got two"]
        assert len(hark.of(topics.UTTERANCE_HANDLED)) == 4


@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_a_long_game_keeps_what_it_and_others_remember(assistant: MakeAssistant, session: str | None) -> None:
    async def game(turn: Turn) -> str:
        guesses = 0
        while await turn.ask("your guess?") != "42":
            guesses += 1
            turn.remember("guesses", str(guesses), shared=True)
        return f"right, after {guesses}"

    def note(turn: Turn) -> None:
        turn.remember("noted", "x", turns=4, shared=True)

    async with assistant(words(note=note, game=game)) as hark:
        await hark.hears("note", session=session)
        assert await hark.hears("game", session=session) == ["your guess?"]
        for guess in ("1", "99"):
            assert await hark.hears(guess, session=session) == ["your guess?"]
        assert await hark.hears("42", session=session) == ["right, after 2"]
        [*_, last] = hark.of(topics.UTTERANCE_HANDLED)
        kept = {key: (entry.value, entry.turns_remaining) for key, entry in last.session.intent_context.items()}
        assert kept == {"guesses": ("2", None), "noted": ("x", 0)}, "each of the four turns counted once"


@pytest.mark.one_process
async def test_a_foreign_handler_that_sends_its_old_session_again_opens_nothing(assistant: MakeAssistant) -> None:
    """One that is hosted elsewhere, by somebody who does not know that its question was answered."""
    async with assistant(words(foreign=silent, go=lambda turn: "gone")) as hark:
        hark.runtime.handlers.detach("words")
        held: list[Message] = []

        def note(dispatch: Message) -> None:
            held.append(dispatch)
            hark.bus.emit(dispatch.forward("hark.handler.accepted", Frozen(topic=dispatch.type, host="elsewhere")))

        for topic in ("words:foreign", "words:response", "words:go"):
            hark.bus.on(topic, note, name="foreign")
        hark.say("foreign")
        await settle()
        asking = held[0].carrying(held[0].session.replace(response_mode=ResponseMode("words", NOON + 60)))
        question = asking.forward(topics.UTTERANCE_SPEAK, {"utterance": "well?", "listen": True})
        hark.bus.emit(question)
        await settle()
        hark.say("answer")
        await settle()
        assert dispatched(hark) == ["words:foreign", "words:response"]
        hark.bus.emit(held[1].forward("hark.handler.done", Frozen(topic="words:response")))
        hark.bus.emit(asking.forward(topics.UTTERANCE_SPEAK, {"utterance": "thanks"}))
        await settle()
        hark.bus.emit(asking.forward("hark.handler.done", Frozen(topic="words:foreign")))
        await settle()
        assert hark.runtime.store.current.response_mode is None
        hark.say("go")
        await hark.clock.advance(0.5)  # nobody answers for it in the poll
        assert dispatched(hark)[2:] == ["words:go"]


# The bound of handlers.


async def test_how_long_people_think_is_not_the_handlers_time(assistant: MakeAssistant) -> None:
    async def ask(turn: Turn) -> str:
        await hark.clock.sleep(6.0)
        answer = await turn.ask("which one?", timeout=600.0)
        await hark.clock.sleep(6.0 if answer == "long" else 3.0)
        return f"got {answer}"

    async with assistant(words(ask=ask), settings={"limits": {"handler": 10.0}}) as hark:
        for answer, failures in (("short", 0), ("long", 1)):
            hark.say("ask", session=answer)
            await hark.clock.advance(500.0)
            hark.say(answer, session=answer)
            await hark.clock.advance(8.0)
            assert len(errors(hark)) == failures
        assert errors(hark) == ["timeout: the handler took longer than 10 s"]


# Anything, in any order.


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_is_said_when_every_turn_ends_once_and_answers_stay_in_their_session(
    assistant: MakeAssistant, seed: int
) -> None:
    chance = random.Random(seed)
    heard: list[tuple[str, str]] = []

    async def ask(turn: Turn) -> None:
        for _ in range(chance.randrange(1, 4)):
            answer = await turn.ask("well?", timeout=chance.choice([1.0, 5.0, 60.0]))
            if answer is None:
                return
            heard.append((turn.session.session_id, answer))

    async def slow(turn: Turn) -> None:
        turn.remember(f"slow-{turn.utterance}", turns=2)
        await hark.clock.sleep(chance.choice([0.1, 2.0, 20.0]))
        if chance.random() < 0.3:
            raise ValueError("not today")
        await turn.speak("done", listen=True)

    plugins = (words(ask=ask, go=lambda turn: "gone"), words("other", slow=slow, also=ask))
    async with assistant(*plugins) as hark:
        for number in range(150):
            session = chance.choice([None, "kitchen", "bath"])
            does = chance.choice(["ask", "also", "go", "slow", "answer", "answer", "stop", "stop everything", "wait"])
            if does == "wait":
                await hark.clock.advance(chance.choice([0.1, 1.0, 7.0, 70.0]))
                continue
            text = does if does.startswith("stop") else f"{does} {number} in {session or 'default'}"
            hark.say(text, session=session)
            if chance.random() < 0.7:
                await settle()
        await hark.clock.advance(600.0)
        assert hark.runtime.orchestrator.open_turns == 0
        assert all(text.endswith(f"in {session_id}") for session_id, text in heard if not text.startswith("stop"))
        assert len(heard) > 5
        for session in (None, "kitchen", "bath"):
            assert await hark.hears("go", session=session) == ["gone"], "nothing is left open"


async def test_an_open_question_does_not_keep_the_house_from_closing(assistant: MakeAssistant) -> None:
    async with assistant(words(ask=asks(timeout=600.0))) as hark:
        await hark.hears("ask")
        assert hark.runtime.settings.limits.grace > 1.0
        before = hark.clock.monotonic()
        await asyncio.wait_for(hark.runtime.orchestrator.close(), 5)
        assert hark.clock.monotonic() == before, "whoever could answer is turned away by now"
        await settle()
        assert errors(hark) == ["the assistant was shut down"]


async def test_a_question_during_the_shutdown_is_not_waited_for(assistant: MakeAssistant) -> None:
    may_ask = asyncio.Event()

    async def late(turn: Turn) -> None:
        await may_ask.wait()
        await turn.ask("which one?", timeout=600.0)

    async with assistant(words(ask=late)) as hark:
        hark.say("ask")
        await settle()
        closing = asyncio.create_task(hark.runtime.orchestrator.close())
        await settle()
        assert not closing.done(), "the handler has its time of grace"
        before = hark.clock.monotonic()
        may_ask.set()
        await asyncio.wait_for(closing, 5)
        assert hark.clock.monotonic() == before
        await settle()
        assert errors(hark) == ["the assistant was shut down"]


# The ways to ask.


class Pizza(Skill):
    id = "pizza.skill"

    @intent("order a pizza")
    async def order(self, turn: Turn) -> str:
        size = await turn.ask_choice(["small", "medium", "large"], "small, medium or large?", again="which size?")
        if size is None:
            return "as you like"
        sure = await turn.ask_yes_no(f"a {size} one, right?")
        return f"one {size} pizza" if sure else "never mind"


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (["the second one", "yes please"], ["a medium one, right?", "one medium pizza"]),
        (["large", "no thanks"], ["a large one, right?", "never mind"]),
        (["green", "smal", "sure"], ["which size?", "a small one, right?", "one small pizza"]),
        (["green", "blue"], ["which size?", "as you like"]),
        (["3", "perhaps", "yes"], ["a large one, right?", "a large one, right?", "one large pizza"]),
    ],
)
async def test_an_order_with_choices_and_a_yes(assistant: MakeAssistant, said: list[str], heard: list[str]) -> None:
    async with assistant(Pizza()) as hark:
        assert await hark.hears("order a pizza", session="x") == ["small, medium or large?"]
        assert [line for text in said for line in await hark.hears(text, session="x")] == heard
        assert errors(hark) == []
