"""The assistant that plugin authors test with."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flow.stage import claims, declines, transformer
from hark.app.settings import settings_from
from hark.model import Message, Session
from hark.plugins import Ctx, Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant, FakeClock, LocalBus, WireBus, settle
from hark.testing import assistant as assistant_module


class Clock(Skill):
    id = "clock.skill"

    @intent("what time is it", "tell me the time")
    async def time_here(self, turn: Turn) -> None:
        await turn.speak("It is noon.")


async def test_the_example_of_the_design_page() -> None:
    async with Assistant(Clock()) as assistant:
        spoken = await assistant.hears("what time is it")
        assert spoken[0].startswith("It is")
        assert assistant.topics()[-1] == "ovos.utterance.handled"
        assert "clock.skill:time_here" in assistant.why()


@pytest.mark.parametrize("bus", [LocalBus, WireBus])
async def test_it_runs_on_the_bus_it_is_given(bus: type[LocalBus]) -> None:
    async with Assistant(Clock(), bus=bus) as assistant:
        assert type(assistant.bus) is bus
        assert await assistant.hears("tell me the time") == ["It is noon."]


async def test_several_texts_a_language_a_session_and_a_context_can_be_given() -> None:
    seen: list[Any] = []
    settings = {"assistant": {"langs": ["de-DE"], "pipeline": ["spy"]}}
    async with Assistant(declines("spy", seen), settings=settings) as assistant:
        await assistant.hears(["eins", "zwei"], lang="de-DE", session="x", context={"source": "here"})
        [entry] = assistant.of(topics.UTTERANCE_HANDLE)
    assert seen == [(("eins", "zwei"), "de-DE", Session("x"))]
    assert entry.context["source"] == "here"


async def test_settings_may_be_given_whole() -> None:
    settings = settings_from({"assistant": {"pipeline": []}})
    async with Assistant(claims(), settings=settings) as assistant:
        assert await assistant.hears("hello") == []


async def test_given_matchers_are_asked_before_the_template_matcher() -> None:
    async with Assistant(claims("mine"), Clock()) as assistant:
        assert await assistant.hears("what time is it") == ["what time is it"]


async def test_a_plugin_with_a_bad_id_is_refused_and_the_rest_works() -> None:
    async with Assistant(claims("no id"), claims(""), Clock()) as assistant:
        assert len(assistant.runtime.refusals) == 2
        assert await assistant.hears("what time is it") == ["It is noon."]


async def test_hears_returns_when_everything_was_rendered() -> None:
    async def slow(text: str, ctx: Ctx) -> str:
        for _ in range(100):
            await asyncio.sleep(0)
        return text

    async with Assistant(transformer("dialog", "slow", slow), claims()) as assistant:
        assert await assistant.hears("hello") == ["hello"]


async def test_hears_waits_for_the_turns_a_handler_began() -> None:
    async def handler(turn: Turn) -> str:
        if turn.utterance == "outer":
            turn.emit(topics.UTTERANCE_HANDLE, {"utterances": ["inner"]})
            await assistant.clock.sleep(1.0)
        return turn.utterance

    async with Assistant(claims(handler=handler)) as assistant:
        hearing = assistant.say("outer")
        await settle()
        assert hearing.spoken == ["inner"]
        assert not hearing.over.is_set()
        await assistant.clock.advance(1.0)
        assert hearing.over.is_set()
        assert hearing.spoken == ["inner", "outer"]
        assert (hearing.entries, hearing.markers) == (2, 2)


async def test_turns_under_way_at_once_hear_their_own_answers() -> None:
    async with Assistant(claims()) as assistant:
        first, second = assistant.say("one"), assistant.say("two")
        await asyncio.wait_for(first.over.wait(), 5)
        await asyncio.wait_for(second.over.wait(), 5)
        assert (first.spoken, second.spoken) == (["one"], ["two"])


async def test_a_turn_that_does_not_end_fails_the_test_with_its_story(monkeypatch: pytest.MonkeyPatch) -> None:
    async def handler(turn: Turn) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(assistant_module, "PATIENCE", 0.01)
    async with Assistant(claims(handler=handler)) as assistant:
        with pytest.raises(AssertionError, match="did not end") as failure:
            await assistant.hears("hello")
        assert "claims:go" in str(failure.value)


async def test_private_topics_are_left_out_of_the_list() -> None:
    async with Assistant(claims()) as assistant:
        await assistant.hears("hello")
        assert not [topic for topic in assistant.topics() if topic.startswith("hark.")]
        assert [message for message in assistant.messages if message.type.startswith("hark.")]


async def test_before_anything_was_said_there_is_no_why() -> None:
    async with Assistant() as assistant:
        with pytest.raises(LookupError):
            assistant.why()


async def test_time_stands_still_unless_the_test_advances_it() -> None:
    clock = FakeClock()
    async with Assistant(claims(), clock=clock) as assistant:
        await assistant.hears("hello")
        assert clock.monotonic() == 0.0
        assert assistant.clock is clock


async def test_speech_of_nobody_in_particular_is_no_turns() -> None:
    async with Assistant(claims()) as assistant:
        hearing = assistant.say("hello")
        assistant.bus.emit(Message(topics.UTTERANCE_SPEAK, {"utterance": "dinner is ready"}))
        await settle()
        assert hearing.spoken == ["hello"]


async def test_a_system_clock_works_too() -> None:
    from hark.model.clock import SystemClock

    async with Assistant(claims(), clock=SystemClock()) as assistant:
        assert await assistant.hears("hello") == ["hello"]


def counts(turn: Turn) -> str:
    seen = len(turn.session.intent_context)
    turn.remember(f"note{seen}")
    return f"{seen} so far"


async def test_a_session_named_by_a_string_goes_on_from_turn_to_turn() -> None:
    async with Assistant(claims(handler=counts)) as assistant:
        said = [await assistant.hears("note", session="kitchen") for _ in range(3)]
        assert said == [["0 so far"], ["1 so far"], ["2 so far"]]
        assert await assistant.hears("note", session="bath") == ["0 so far"]
        assert await assistant.hears("note", session=Session("kitchen")) == ["0 so far"], "given whole, it is as given"
        assert await assistant.hears("note", session="kitchen") == ["1 so far"]


async def asks_twice(turn: Turn) -> str:
    first = await turn.ask("first?", timeout=10.0)
    return f"{first} and {await turn.ask('second?', timeout=10.0)}"


@pytest.mark.parametrize("session", [None, "kitchen"])
async def test_hears_returns_when_the_turn_asks_and_then_with_what_follows_the_answer(session: str | None) -> None:
    async with Assistant(claims(handler=asks_twice)) as assistant:
        assert await assistant.hears("go", session=session) == ["first?"]
        assert await assistant.hears("one", session=session) == ["second?"]
        assert await assistant.hears("two", session=session) == ["one and two"]


async def test_the_turn_that_asked_goes_on_and_is_over_when_its_time_is() -> None:
    async with Assistant(claims(handler=asks_twice)) as assistant:
        hearing = assistant.say("go")
        await asyncio.wait_for(hearing.over.wait(), 5)
        answer = assistant.say("one")
        await settle()
        assert (hearing.spoken, answer.spoken) == (["first?", "second?"], ["second?"])
        assert hearing.markers == 0
        await assistant.clock.advance(10.0)
        assert hearing.markers == 1
        assert hearing.over.is_set()
        assert hearing.spoken == ["first?", "second?", "one and None"]


async def test_speech_with_an_open_microphone_is_no_question_of_its_own() -> None:
    async def handler(turn: Turn) -> None:
        await turn.speak("anything else?", listen=True)
        await assistant.clock.sleep(1.0)

    async with Assistant(claims(handler=handler)) as assistant:
        hearing = assistant.say("go")
        await settle()
        assert not hearing.over.is_set()
        await assistant.clock.advance(1.0)
        assert hearing.over.is_set()
