"""What the terminal shows while somebody talks to it."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator

import pytest

from hark.app.voice.terminal import StatusLine
from hark.bus import LocalBus
from hark.model import Message, Session
from hark.model.audio import Level
from hark.spec import topics

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
