"""What the terminal shows during a spoken conversation."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hark.app.settings import settings_from
from hark.app.voice.terminal import StatusLine, VoiceTerminal
from hark.bus import LocalBus
from hark.model import Message, Session
from hark.model.audio import Level
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import settle
from hark.testing.voice.assistant import VoiceAssistant
from hark.testing.voice.input import Scene

HINTS = {"waiting": "say the word"}


@pytest.fixture
async def bus() -> AsyncIterator[LocalBus]:
    made = LocalBus()
    yield made
    await made.close()


def shown(out: io.StringIO) -> str:
    """The line as it is on the terminal now."""
    return out.getvalue().rpartition("\r\x1b[K")[2]


async def test_it_shows_what_goes_on(bus: LocalBus) -> None:
    out = io.StringIO()
    line = StatusLine(bus, out, HINTS, is_terminal=True)
    line.level(Level(0.0, 0.0))
    assert shown(out).split() == ["waiting", "say", "the", "word"]
    bus.emit(Message(topics.LISTENER_STATE, {"state": "listening"}))
    assert shown(out).split() == ["listening"]
    bus.emit(Message(topics.LISTENER_STATE, {"state": "waiting"}))
    bus.emit(Message(topics.AUDIO_OUTPUT_STARTED))
    assert shown(out).split() == ["speaking"]
    bus.emit(Message(topics.AUDIO_OUTPUT_ENDED))
    assert line.state == "waiting"
    line.close()
    assert shown(out) == ""


async def test_other_sessions_are_elsewhere(bus: LocalBus) -> None:
    line = StatusLine(bus, io.StringIO(), HINTS, is_terminal=True)
    bus.emit(Message(topics.AUDIO_OUTPUT_STARTED, session=Session("kitchen")))
    assert line.state == "waiting"


async def test_loudness_is_a_bar_and_the_loudest_is_the_highest(bus: LocalBus) -> None:
    out = io.StringIO()
    line = StatusLine(bus, out, HINTS, is_terminal=True)
    line.level(Level(1.0, 1.0))
    line.level(Level(0.001, 0.01))
    assert shown(out).startswith("          █  waiting")


async def test_answers_stand_above_the_line(bus: LocalBus) -> None:
    out = io.StringIO()
    line = StatusLine(bus, out, HINTS, is_terminal=True)
    line.show("It is\nnoon.")
    assert "\r\x1b[KIt is noon.\n" in out.getvalue()
    assert shown(out).split()[0] == "waiting"


async def test_where_there_is_no_terminal_there_are_only_answers(bus: LocalBus) -> None:
    out = io.StringIO()
    line = StatusLine(bus, out, HINTS, is_terminal=False)
    line.level(Level(1.0, 1.0))
    bus.emit(Message(topics.LISTENER_STATE, {"state": "listening"}))
    line.show("It is noon.")
    line.close()
    assert out.getvalue() == "It is noon.\n"


class Latin(io.StringIO):
    """A terminal that cannot show every character, and may be closed."""

    closed_by_user = False

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self.closed_by_user:
            raise BrokenPipeError
        text.encode("ascii")
        return super().write(text)


async def test_a_terminal_without_the_characters_is_given_others(bus: LocalBus) -> None:
    out = Latin()
    line = StatusLine(bus, out, HINTS, is_terminal=True)
    line.level(Level(1.0, 1.0))
    assert "? waiting" in shown(out)


async def test_a_terminal_that_is_gone_does_no_harm(bus: LocalBus) -> None:
    out = Latin()
    line = StatusLine(bus, out, HINTS, is_terminal=True)
    out.closed_by_user = True
    line.level(Level(1.0, 1.0))
    line.show("It is noon.")
    line.close()


class Noon(Skill):
    id = "noon.skill"

    @intent("what time is it")
    def time(self, turn: Turn) -> str:
        return "It is noon."


@pytest.mark.parametrize(
    ("voice", "hint"),
    [({}, 'say "hey jarvis"; Ctrl-C leaves'), ({"always_listening": True}, "just speak; Ctrl-C leaves")],
)
async def test_a_conversation_is_shown_until_the_sound_ends(voice: dict[str, Any], hint: str) -> None:
    out = Latin()
    settings = settings_from({"voice": voice})
    terminal = VoiceTerminal(settings, out, installed=False)
    terminal.show("too early")
    async with VoiceAssistant(Noon(), settings=settings) as talking:
        running = asyncio.create_task(terminal.run(talking.runtime, asyncio.Event()))
        await settle()
        assert terminal.config.on_level is not None
        terminal.config.on_level(Level(0.5, 0.5))
        assert hint in shown(out)
        await talking.hears(Scene().says("what time is it"))
        terminal.show(talking.shown[-1])
        talking.microphone.runs_out()
        async with asyncio.timeout(20):
            await running
    assert "It is noon.\n" in out.getvalue()
    assert "listening speak now" in " ".join(out.getvalue().split())
    assert "too early" not in out.getvalue()
    assert shown(out) == ""


async def test_a_conversation_is_shown_until_it_is_stopped() -> None:
    out, stop = Latin(), asyncio.Event()
    terminal = VoiceTerminal(settings_from({}), out, installed=False)
    async with VoiceAssistant(Noon()) as talking:
        running = asyncio.create_task(terminal.run(talking.runtime, stop))
        await settle()
        stop.set()
        async with asyncio.timeout(20):
            await running
    assert shown(out) == ""
