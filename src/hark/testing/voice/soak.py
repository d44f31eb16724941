"""Thousands of commands of every kind, one after the other: does every one end once, and does memory grow?"""

from __future__ import annotations

import gc
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from hark.bus import LocalBus
from hark.chains import Chain
from hark.hosting import Registry, Runner
from hark.model import Audio, Message
from hark.plugins import AudioTransformer, Ctx
from hark.plugins.engines import Transcript
from hark.spec import topics
from hark.testing.clock import FakeClock
from hark.testing.voice.input import FakeStreamingSTT, Scene
from hark.testing.voice.listener import FakeListener
from hark.trace import TraceStore

_OUTCOMES: Final = (topics.UTTERANCE_HANDLE, topics.STT_FAILED, topics.UTTERANCE_CANCELLED)
_WAKE: Final = "hey jarvis"


class Soaked(msgspec.Struct, frozen=True):
    """What was counted."""

    topics: Counter[str]
    dropped: int
    """Recordings that sleep cut short: these have no outcome."""
    blocks: list[int]
    """Allocated memory blocks, at every tenth of the run."""

    @property
    def recordings(self) -> int:
        """How many recordings there were."""
        return self.topics[topics.LISTENER_RECORD_STARTED]

    @property
    def whole(self) -> bool:
        """Whether every recording ended, with one outcome each."""
        outcomes = sum(self.topics[topic] for topic in _OUTCOMES)
        return self.recordings == self.topics[topics.LISTENER_RECORD_ENDED] == outcomes + self.dropped

    @property
    def growth(self) -> float:
        """How many more memory blocks are allocated at the end than after three tenths of the run: 0.1 is a tenth."""
        return self.blocks[-1] / self.blocks[3] - 1


class _Canceller(AudioTransformer):
    id = "canceller"
    quick = True

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        ctx.cancel("other")
        return audio


class Soak:
    """A listener that is given random commands and faults: `await Soak().run(10_000)`."""

    def __init__(self, seed: int = 0, bus: type[LocalBus] = LocalBus) -> None:
        self._bus = bus()
        self._clock = FakeClock()
        self._runner = Runner(self._clock)
        self._registry: Registry[Any] = Registry("audio transformer")
        chain = Chain("audio", self._registry, self._runner, self._bus.emit)
        self._stt = FakeStreamingSTT()
        self._ears = FakeListener(self._bus, self._runner, chain, TraceStore(self._clock, 20), self._stt)
        self._topics: Counter[str] = Counter()
        self._dropped = 0
        self._random = random.Random(seed)  # noqa: S311 - it decides what happens in a test
        self._scenes: tuple[Callable[[], Awaitable[None]], ...] = (
            self._understood,
            self._follow_up,
            self._silent,
            self._unclear,
            self._cancelled,
            self._cut_short,
            self._unplugged,
        )

    async def run(self, commands: int) -> Soaked:
        """Run so many commands: understood, unclear, silent, cancelled, cut short, with a microphone that fails."""
        self._bus.tap(lambda message: self._topics.update((message.type,)))
        blocks: list[int] = []
        async with self._ears:
            for number in range(commands):
                if number % max(1, commands // 10) == 0:
                    blocks.append(_allocated_blocks())
                await self._random.choice(self._scenes)()
                for noted in (self._stt.heard, self._stt.fed, self._stt.recognitions):
                    noted.clear()
            blocks.append(_allocated_blocks())
        self._runner.threads.close()
        await self._bus.close()
        return Soaked(self._topics, self._dropped, blocks)

    async def _understood(self) -> None:
        await self._ears.hears(Scene().silence(0.2).says(_WAKE).silence(0.3).says("what time is it").silence(1))

    async def _follow_up(self) -> None:
        self._bus.emit(Message(topics.MIC_LISTEN))
        await self._ears.hears(Scene().says("five minutes").silence(1))

    async def _silent(self) -> None:
        await self._ears.hears(Scene().says(_WAKE).silence(6))

    async def _unclear(self) -> None:
        self._ears.listener.listen(held=True)
        await self._ears.microphone.hears(Scene().noise(1))
        self._ears.stt.answers = [Transcript()]
        self._ears.listener.release()
        await self._ears.listener.idle()
        self._ears.stt.answers = []

    async def _cancelled(self) -> None:
        self._registry.add(_Canceller())
        await self._understood()
        self._registry.remove(_Canceller.id)

    async def _cut_short(self) -> None:
        await self._ears.hears(Scene().says(_WAKE).silence(0.3).says("what time"))
        self._dropped += 1
        self._bus.emit(Message(topics.LISTENER_SLEEP))
        await self._ears.hears(Scene().says(_WAKE).silence(1))
        self._bus.emit(Message(topics.LISTENER_WAKE))

    async def _unplugged(self) -> None:
        await self._ears.hears(Scene().says(_WAKE).silence(0.3).says("what time"))
        self._ears.microphone.fail(OSError("unplugged"))
        await self._clock.advance(1.0)
        await self._ears.listener.idle()


def _allocated_blocks() -> int:
    gc.collect()
    return sys.getallocatedblocks()
