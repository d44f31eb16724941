"""The client: it follows utterances until their answers are rendered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from hark.app.local_assistant import LocalAssistant
from hark.app.settings import Settings, settings_from
from hark.builtin import Converse
from hark.hosting import Refusal
from hark.model import MalformedMessage, Session, SystemClock
from hark.plugins import Ctx, DialogTransformer, PipelinePlugin, Plugin, Turn, handles
from hark.plugins import Match as Claim
from hark.spec import topics


class Claims(PipelinePlugin):
    """Claims what begins with the name of one of its handlers."""

    id = "claims"
    quick = True

    def match(self, utterances: list[str], lang: str, session: Session) -> Claim | None:
        name = utterances[0].split()[0]
        known = ("greet", "fail", "whisper", "mumble", "wait", "where", "aside", "choose", "note")
        return self.claim(name, lang=lang, utterance=utterances[0]) if name in known else None

    async def start(self) -> None:
        self.go = asyncio.Event()
        self.waiting = asyncio.Event()

    @handles("greet")
    async def greet(self, turn: Turn) -> AsyncIterator[str]:
        yield "hello"
        yield "world"

    @handles("fail")
    def fail(self, turn: Turn) -> None:
        raise ValueError("not today")

    @handles("whisper")
    async def whisper(self, turn: Turn) -> None:
        await turn.speak("secret")

    @handles("mumble")
    def mumble(self, turn: Turn) -> None:
        turn.emit(topics.UTTERANCE_SPEAK, {"utterance": None})

    @handles("wait")
    async def wait(self, turn: Turn) -> str:
        self.waiting.set()
        await self.go.wait()
        return "done"

    @handles("where")
    def where(self, turn: Turn) -> str:
        return turn.session.session_id

    @handles("aside")
    def aside(self, turn: Turn) -> str:
        self.host.speak("by the way")
        return "sure"

    @handles("choose")
    async def choose(self, turn: Turn) -> str:
        first = await turn.ask("which one?", timeout=0.2 if turn.utterance.endswith("quickly") else 60.0)
        if first == "nothing":
            raise ValueError("nothing to choose")
        if first == "both":
            first = f"both and {await turn.ask('and?')}"
        return f"{first} it is"

    @handles("note")
    def note(self, turn: Turn) -> str:
        seen = len(turn.session.intent_context)
        turn.remember(f"note{seen}")
        return f"{seen} so far"


class Censor(DialogTransformer):
    """Drops one response."""

    id = "censor"
    quick = True

    def transform(self, text: str, ctx: Ctx) -> str:
        if text == "secret":
            ctx.cancel("policy_block")
        return text


SETTINGS = settings_from({"assistant": {"pipeline": ["converse", "claims"]}, "limits": {"grace": 0.0}})


class Listener:
    """An assistant with the plugins above, and what it said outside of turns."""

    def __init__(self, *more: Plugin | Refusal, settings: Settings = SETTINGS) -> None:
        self.claims = Claims()
        self.asides: list[str] = []
        plugins = [Converse(), self.claims, Censor(), *more]
        self.assistant = LocalAssistant(settings, plugins, SystemClock(), self.asides.append)

    async def ask(self, text: str, session_id: str = "default") -> tuple[list[str], str, str]:
        heard: list[str] = []
        async with asyncio.timeout(20):
            asked = await self.assistant.client.ask(text, heard.append, session_id=session_id)
        return heard, asked.outcome, asked.detail


async def test_answers_are_heard_in_order_and_the_end_comes_last() -> None:
    listener = Listener()
    async with listener.assistant:
        assert await listener.ask("greet") == (["hello", "world"], "complete", "")


async def test_every_outcome_is_reported_with_its_reason() -> None:
    listener = Listener()
    async with listener.assistant:
        assert await listener.ask("frobnicate") == ([], "unmatched", "")
        heard, outcome, detail = await listener.ask("fail")
        assert (heard, outcome) == ([], "error")
        assert detail.startswith("claims:fail: ValueError: not today")


async def test_a_response_that_is_cancelled_does_not_make_the_turn_cancelled() -> None:
    listener = Listener()
    async with listener.assistant:
        assert await listener.ask("whisper") == ([], "complete", "")


async def test_speech_that_cannot_be_rendered_is_not_waited_for() -> None:
    listener = Listener()
    async with listener.assistant:
        assert await listener.ask("mumble") == ([], "complete", "")


async def test_speech_outside_of_a_turn_goes_aside_and_is_rendered_before_the_assistant_stops() -> None:
    listener = Listener()
    async with listener.assistant:
        assert await listener.ask("aside") == (["sure"], "complete", "")
        listener.claims.host.speak("goodbye")
        listener.claims.host.speak("not here", session=Session("elsewhere"))
    assert listener.asides == ["by the way", "goodbye"]


async def test_each_asker_hears_only_their_own_answer() -> None:
    listener = Listener()
    async with listener.assistant:
        slow = asyncio.create_task(listener.ask("wait", "one"))
        await listener.claims.waiting.wait()
        assert await listener.ask("where", "two") == (["two"], "complete", "")
        assert not slow.done()
        listener.claims.go.set()
        assert await slow == (["done"], "complete", "")
        assert listener.assistant.client.serves("default")
        assert not listener.assistant.client.serves("one")
    assert listener.asides == []


async def test_what_cannot_be_an_utterance_is_refused_before_it_is_said() -> None:
    listener = Listener()
    async with listener.assistant:
        with pytest.raises(MalformedMessage, match="lone surrogate"):
            await listener.ask("\ud800")
        assert await listener.ask("greet") == (["hello", "world"], "complete", "")


async def test_a_turn_that_is_open_at_the_end_ends_with_the_assistant() -> None:
    listener = Listener()
    async with listener.assistant:
        slow = asyncio.create_task(listener.ask("wait"))
        await listener.claims.waiting.wait()
    _, outcome, detail = await slow
    assert outcome == "error"
    assert "shut down" in detail


@pytest.mark.parametrize("session_id", ["default", "kitchen"])
async def test_a_question_is_returned_at_once_and_the_client_that_answers_hears_what_follows(session_id: str) -> None:
    listener = Listener()
    async with listener.assistant:
        assert await listener.ask("choose", session_id) == (["which one?"], "asked", "")
        assert listener.assistant.client.serves(session_id)
        assert await listener.ask("both", session_id) == (["and?"], "asked", "")
        assert await listener.ask("neither", session_id) == (["both and neither it is"], "complete", "")
        assert await listener.ask("greet", session_id) == (["hello", "world"], "complete", "")
        assert listener.assistant.client.serves(session_id) is (session_id == "default")
    assert listener.asides == []


async def test_the_outcome_of_the_handler_after_the_answer_is_returned_to_the_client_that_answered() -> None:
    listener = Listener()
    async with listener.assistant:
        await listener.ask("choose")
        heard, outcome, detail = await listener.ask("nothing")
        assert (heard, outcome) == ([], "error")
        assert "claims:choose: ValueError: nothing to choose" in detail


async def test_an_answer_in_another_session_is_none() -> None:
    listener = Listener()
    async with listener.assistant:
        await listener.ask("choose", "kitchen")
        assert await listener.ask("where", "bath") == (["bath"], "complete", "")
        assert await listener.ask("this", "kitchen") == (["this it is"], "complete", "")


async def test_what_is_said_after_an_unanswered_question_is_still_heard() -> None:
    listener = Listener()
    heard: list[str] = []
    said = asyncio.Event()

    def hear(text: str) -> None:
        heard.append(text)
        if text == "None it is":
            said.set()

    async with listener.assistant:
        asked = await listener.assistant.client.ask("choose quickly", hear, session_id="kitchen")
        assert asked.outcome == "asked"
        async with asyncio.timeout(20):
            await said.wait()
        assert heard == ["which one?", "None it is"]


async def test_a_named_session_goes_on_from_turn_to_turn() -> None:
    listener = Listener()
    async with listener.assistant:
        for number in range(3):
            assert await listener.ask("note", "kitchen") == ([f"{number} so far"], "complete", "")
        assert await listener.ask("note", "bath") == (["0 so far"], "complete", "")


async def test_of_very_many_sessions_those_are_kept_that_spoke_last() -> None:
    listener = Listener()
    async with listener.assistant:
        for number in range(101):
            await listener.ask("note", f"session-{number}")
        assert await listener.ask("note", "session-100") == (["1 so far"], "complete", "")
        assert await listener.ask("note", "session-0") == (["0 so far"], "complete", "")
