"""Recorded sound waits for answers, as a person does."""

from __future__ import annotations

import asyncio

import pytest

from flow.listening import Listening, SlowSTT, command, ears_of
from hark.bus import LocalBus
from hark.model import Message, Session
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import Assistant, settle
from hark.testing.voice.input import Scene


class Timer(Skill):
    id = "timer.skill"

    @intent("set a timer")
    async def ask(self, turn: Turn) -> None:
        answer = await turn.ask("For how long?")
        await turn.speak(f"For {answer}.")

    @intent("count")
    async def count(self, turn: Turn) -> None:
        for number in ("one", "two"):
            await self.host.clock.sleep(1.0)
            await turn.speak(number)


def story(assistant: Assistant) -> list[str]:
    """What was heard and what was said, in order."""
    told = []
    for message in assistant.messages:
        if message.type == topics.UTTERANCE_HANDLE:
            told.append(message.data["utterances"][0])
        elif message.type == topics.UTTERANCE_SPEAK:
            told.append(message.data["utterance"])
    return told


async def test_a_recording_of_a_conversation_is_one(bus_type: type[LocalBus]) -> None:
    async with Assistant(Timer(), bus=bus_type) as assistant, ears_of(assistant, in_step=True) as ears:

        def listen(message: Message) -> None:
            if message.data["utterance"].endswith("?"):
                assistant.bus.emit(message.forward(topics.MIC_LISTEN))

        assistant.bus.on(topics.UTTERANCE_SPEAK, listen)
        ears.microphone.give(command("set a timer"))
        ears.microphone.give(Scene().says("five minutes").silence(1.0))
        ears.microphone.give(command("count"))
        ears.microphone.give(command("set a timer"))
        ears.microphone.give(Scene().says("ten").silence(1.0))
        ears.microphone.runs_out()
        for _ in range(40):
            await assistant.clock.advance(0.5)
        async with asyncio.timeout(20):
            await ears.listener.finished()
        assert story(assistant) == [
            *("set a timer", "For how long?", "five minutes", "For five minutes."),
            *("count", "one", "two"),
            *("set a timer", "For how long?", "ten", "For ten."),
        ]


async def test_the_recogniser_is_waited_for(bus: LocalBus) -> None:
    async with Listening(bus, SlowSTT(), in_step=True, most_waiting=1) as stage:
        bus.on(topics.UTTERANCE_HANDLE, lambda message: bus.emit(message.forward(topics.UTTERANCE_HANDLED)))
        for text in ("one", "two", "three"):
            stage.microphone.give(command(text))
        for _ in range(30):
            await stage.clock.advance(0.5)
        assert stage.said() == ["one", "two", "three"]


async def test_what_is_still_to_be_said_is_waited_for(bus: LocalBus) -> None:
    async with Listening(bus, in_step=True) as stage:
        await stage.told(topics.UTTERANCE_SPEAK)
        await stage.told(topics.UTTERANCE_SPEAK, Session("somebody.else"))
        stage.microphone.give(Scene().silence(0.1))
        await settle()
        assert len(stage.levels) <= 1  # it was already being waited for
        await stage.told(topics.SPEECH_RENDERED, Session("somebody.else"))
        assert len(stage.levels) <= 1
        await stage.told(topics.SPEECH_RENDERED)
        await stage.microphone.heard()
        heard = len(stage.levels)
        await stage.told(topics.SPEECH_RENDERED)  # of what was said before anybody listened
        await stage.told(topics.UTTERANCE_SPEAK)
        stage.microphone.give(Scene().silence(0.1))
        await settle()
        assert len(stage.levels) <= heard + 1


async def test_no_answer_is_waited_for_without_a_limit(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    async with Listening(bus, in_step=True) as stage:
        stage.microphone.give(command("one"))
        stage.microphone.give(command("two"))
        for _ in range(50):
            await stage.clock.advance(1)
        assert stage.said() == ["one"]
        for _ in range(20):
            await stage.clock.advance(1)
        assert stage.said() == ["one", "two"]
        assert "not answered in 60 s" in caplog.text
        assert stage.outcomes() == [topics.UTTERANCE_HANDLE] * 2


async def test_closing_ends_the_wait(bus: LocalBus) -> None:
    tasks = asyncio.all_tasks()
    async with Listening(bus, in_step=True) as stage:
        stage.microphone.give(command("one"))
        stage.microphone.give(command("two"))
        await settle()
    await settle()
    assert asyncio.all_tasks() == tasks
