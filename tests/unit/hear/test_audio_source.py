"""Microphones that fail, stall, end, or give what is no sound."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from flow.listening import Listening, command
from hark.bus import LocalBus
from hark.plugins.engines import Microphone
from hark.spec import topics
from hark.testing import settle
from hark.testing.voice.input import FakeMicrophone, Scene


class Second(FakeMicrophone):
    id = "second"


class Steady(FakeMicrophone):
    id = "steady"
    steady = True


class Gone(Microphone):
    id = "gone"

    def __init__(self, error: BaseException | None = None) -> None:
        self.tries: list[float] = []
        self._error = error or OSError("no such device")

    async def blocks(self) -> AsyncIterator[bytes]:
        self.tries.append(self.host.clock.monotonic())
        raise self._error
        yield b""


async def test_a_microphone_that_failed_is_opened_again(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    async with Listening(bus, reopen_after=0.5) as stage:
        stage.microphone.fail(OSError("unplugged"))
        await settle()
        assert (stage.microphone.open, stage.listener.microphone) == (False, "")
        await stage.clock.advance(0.4)
        assert stage.microphone.opened == 1
        await stage.clock.advance(0.1)
        assert stage.microphone.opened == 2
        await stage.hears(command())
        assert stage.said() == ["what time is it"]
        assert "unplugged" in caplog.text
        assert "works again" in caplog.text


async def test_the_waits_get_longer_up_to_a_limit_and_short_again(bus: LocalBus) -> None:
    gone = Gone()
    async with Listening(bus, gone, reopen_after=1.0, reopen_at_most=4.0) as stage:
        await stage.clock.advance(16)
        assert gone.tries == [0.0, 1.0, 3.0, 7.0, 11.0, 15.0]


async def test_after_sound_came_the_waits_are_short_again(bus: LocalBus) -> None:
    async with Listening(bus, reopen_after=1.0) as stage:
        for _ in range(3):
            stage.microphone.fail(OSError("loose contact"))
        await stage.clock.advance(1 + 2 + 4)
        assert stage.microphone.opened == 4
        await stage.hears(Scene().silence(0.1))
        stage.microphone.fail(OSError("loose contact"))
        await stage.clock.advance(1)
        assert stage.microphone.opened == 5


async def test_the_next_microphone_is_tried_at_once(bus: LocalBus) -> None:
    first, second = FakeMicrophone(), Second()
    async with Listening(bus, first, second) as stage:
        assert stage.listener.microphone == "fake-microphone"
        first.fail(OSError("unplugged"))
        await settle()
        assert (second.open, stage.listener.microphone) == (True, "second")
        second.fail(OSError("unplugged too"))
        await settle()
        assert not first.open
        await stage.clock.advance(0.5)
        assert first.open


async def test_a_command_that_was_being_spoken_is_recognised_as_far_as_it_came(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.hears(Scene().says("hey jarvis").silence(0.3).says("what time is"))
        stage.microphone.fail(OSError("unplugged"))
        await settle()
        assert stage.said() == ["what time is"]
        assert stage.topics().count(topics.LISTENER_RECORD_ENDED) == 1


async def test_a_steady_microphone_that_stalls_is_opened_again(bus: LocalBus) -> None:
    steady = Steady()
    async with Listening(bus, steady, stall=10.0, reopen_after=0.5) as stage:
        await stage.clock.advance(9.9)
        await stage.hears(Scene().silence(0.1))
        await stage.clock.advance(9.9)
        assert steady.opened == 1
        await stage.clock.advance(0.7)
        assert steady.opened == 2


async def test_one_that_is_not_steady_may_be_silent_for_hours(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.clock.advance(10_000)
        assert stage.microphone.opened == 1


@pytest.mark.parametrize("piece", ["text", None, 7, [1, 2]])
async def test_what_is_no_sound_is_a_failure(bus: LocalBus, piece: Any, caplog: pytest.LogCaptureFixture) -> None:
    async with Listening(bus) as stage:
        stage.microphone.give(piece)
        await settle()
        await stage.clock.advance(0.5)
        assert stage.microphone.opened == 2
        assert "for sound" in caplog.text


@pytest.mark.parametrize("size", [1, 7, 2_001, 100_000])
async def test_pieces_may_have_any_length(bus: LocalBus, size: int) -> None:
    async with Listening(bus) as stage:
        samples = command("go").samples
        for at in range(0, len(samples), size):
            piece = samples[at : at + size]
            stage.microphone.give(bytearray(piece) if at % 2 else memoryview(piece))
        async with asyncio.timeout(60):
            await stage.microphone.heard()
            await stage.listener.idle()
        assert stage.said() == ["go"]


async def test_a_microphone_that_gives_nothing_blocks_no_other_task(bus: LocalBus) -> None:
    class Empty(Microphone):
        id = "empty"

        async def blocks(self) -> AsyncIterator[bytes]:
            while True:
                yield b""

    async with Listening(bus, Empty()) as stage:
        await stage.told(topics.LISTENER_SLEEP)
        assert stage.listener.state == "asleep"


class Wrong(Microphone):
    id = "wrong"

    async def blocks(self) -> Any:
        return b""


class Late(Microphone):
    """Does not want to be closed."""

    id = "late"

    async def blocks(self) -> AsyncIterator[bytes]:
        try:
            await self.host.clock.sleep(1_000)
            yield b""
        finally:
            await self.host.clock.sleep(1_000)


class Plain(Microphone):
    """Has nothing to be closed by."""

    id = "plain"

    def blocks(self) -> AsyncIterator[bytes]:
        return Pieces()


class Pieces:
    def __init__(self) -> None:
        self._left = list(command("go").blocks())

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        if not self._left:
            raise StopAsyncIteration
        return self._left.pop(0)


async def test_what_gives_no_iterator_is_a_failure(bus: LocalBus, caplog: pytest.LogCaptureFixture) -> None:
    async with Listening(bus, Wrong()) as stage:
        await stage.clock.advance(1)
        assert stage.listener.microphone == ""
        assert "must yield" in caplog.text


async def test_an_iterator_of_any_kind_will_do(bus: LocalBus) -> None:
    async with Listening(bus, Plain()) as stage:
        async with asyncio.timeout(20):
            await stage.listener.finished()
        assert stage.said() == ["go"]


async def test_without_any_microphone_there_is_nothing_to_hear_and_no_harm(bus: LocalBus) -> None:
    async with Listening(bus) as stage:
        await stage.engines["microphone"].close()
        stage.microphone.fail(OSError("gone for good"))
        await stage.clock.advance(100)
        assert stage.listener.state == "waiting"


async def test_a_microphone_that_does_not_want_to_be_closed_is_left_behind(bus: LocalBus) -> None:
    stage = Listening(bus, Late())
    await stage.__aenter__()
    closing = asyncio.create_task(stage.__aexit__(None, None, None))
    for _ in range(20):
        await stage.clock.advance(1)
    async with asyncio.timeout(20):
        await closing
