"""Following utterances until all is said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from hark.app.household import Household
from hark.app.settings import Settings, settings_from
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
        known = ("greet", "fail", "whisper", "mumble", "wait", "where", "aside")
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


class Censor(DialogTransformer):
    """Drops one response."""

    id = "censor"
    quick = True

    def transform(self, text: str, ctx: Ctx) -> str:
        if text == "secret":
            ctx.cancel("policy_block")
        return text


SETTINGS = settings_from({"assistant": {"pipeline": ["claims"]}, "limits": {"grace": 0.0}})


class Listener:
    """A household of the plugins above, and what was heard in it."""

    def __init__(self, *more: Plugin | Refusal, settings: Settings = SETTINGS) -> None:
        self.claims = Claims()
        self.asides: list[str] = []
        self.household = Household(settings, [self.claims, Censor(), *more], SystemClock(), self.asides.append)

    async def ask(self, text: str, session_id: str = "default") -> tuple[list[str], str, str]:
        heard: list[str] = []
        async with asyncio.timeout(20):
            asked = await self.household.talk.ask(text, heard.append, session_id=session_id)
        return heard, asked.outcome, asked.detail


async def test_answers_are_heard_in_order_and_the_end_comes_last() -> None:
    listener = Listener()
    async with listener.household:
        assert await listener.ask("greet") == (["hello", "world"], "complete", "")


async def test_every_end_is_told_with_its_reason() -> None:
    listener = Listener()
    async with listener.household:
        assert await listener.ask("frobnicate") == ([], "unmatched", "")
        heard, outcome, detail = await listener.ask("fail")
        assert (heard, outcome) == ([], "error")
        assert detail.startswith("claims:fail: ValueError: not today")


async def test_a_response_that_is_cancelled_does_not_make_the_turn_cancelled() -> None:
    listener = Listener()
    async with listener.household:
        assert await listener.ask("whisper") == ([], "complete", "")


async def test_speech_that_cannot_be_rendered_is_not_waited_for() -> None:
    listener = Listener()
    async with listener.household:
        assert await listener.ask("mumble") == ([], "complete", "")


async def test_speech_outside_of_a_turn_goes_aside_and_is_heard_before_the_house_closes() -> None:
    listener = Listener()
    async with listener.household:
        assert await listener.ask("aside") == (["sure"], "complete", "")
        listener.claims.host.speak("goodbye")
        listener.claims.host.speak("not here", session=Session("elsewhere"))
    assert listener.asides == ["by the way", "goodbye"]


async def test_each_asker_hears_only_their_own_answer() -> None:
    listener = Listener()
    async with listener.household:
        slow = asyncio.create_task(listener.ask("wait", "one"))
        await listener.claims.waiting.wait()
        assert await listener.ask("where", "two") == (["two"], "complete", "")
        assert not slow.done()
        listener.claims.go.set()
        assert await slow == (["done"], "complete", "")
        assert listener.household.talk.serves("default")
        assert not listener.household.talk.serves("one")
    assert listener.asides == []


async def test_what_cannot_be_an_utterance_is_refused_before_it_is_said() -> None:
    listener = Listener()
    async with listener.household:
        with pytest.raises(MalformedMessage, match="lone surrogate"):
            await listener.ask("\ud800")
        assert await listener.ask("greet") == (["hello", "world"], "complete", "")


async def test_a_turn_that_is_open_at_the_end_ends_with_the_house() -> None:
    listener = Listener()
    async with listener.household:
        slow = asyncio.create_task(listener.ask("wait"))
        await listener.claims.waiting.wait()
    _, outcome, detail = await slow
    assert outcome == "error"
    assert "shut down" in detail
