"""The microphone and the loudspeaker of a conversation that is played aloud."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from hark.app.script.device import Said
from hark.model import Audio
from hark.plugins.engines import Microphone, Player


class Ear(Microphone):
    """Hears what it is given, when it is given: `await ear.hears(samples)`."""

    id = "script-microphone"

    def __init__(self) -> None:
        self._given: asyncio.Queue[bytes] = asyncio.Queue()

    async def hears(self, samples: bytes) -> None:
        """Give it some sound, and wait until whoever listens has taken that in and wants more."""
        self._given.put_nowait(samples)
        await self._given.join()

    async def blocks(self) -> AsyncIterator[bytes]:
        """As promised by `Microphone`."""
        while True:
            samples = await self._given.get()
            try:
                yield samples
            finally:
                self._given.task_done()


class Mouth(Player):
    """Plays on the clock of the conversation: a sound takes the time it takes, and can be cut short."""

    id = "script-loudspeaker"

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._ends: list[float] = []
        self.timeline: list[tuple[float, float, bool]] = []
        """When each sound began and ended, and whether it was heard to its end."""
        self.saying: Said | None = None
        """What is being said: the sounds that are played from now on are of this."""

    @property
    def left(self) -> float | None:
        """Seconds until a sound that is heard now ends; None in silence."""
        return max(0.0, min(self._ends) - self._monotonic()) if self._ends else None

    async def play(self, audio: Audio) -> None:
        """As promised by `Player`."""
        said, began = self.saying, self._monotonic()
        end, whole = began + audio.seconds, False
        self._ends.append(end)
        if said is not None:
            said.sounds.append(audio)
        try:
            await self.host.clock.sleep(audio.seconds)
            whole = True
        finally:
            self._ends.remove(end)
            self.timeline.append((began, self._monotonic(), whole))
