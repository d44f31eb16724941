"""Which handlers are under way, and showing that whoever runs them is alive."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from hark.act.questions import Questions
from hark.bus import Bus
from hark.model import Clock, Message
from hark.model.frozen import EMPTY
from hark.spec import topics


class UnderWay:
    """What handlers were called with and have not answered. While there is any, life is shown every `beat` seconds."""

    def __init__(self, bus: Bus, clock: Clock, host: str, beat: float, questions: Questions) -> None:
        self._bus = bus
        self._clock = clock
        self._host = host
        self._beat = beat
        self._questions = questions
        self._open: dict[int, Message] = {}
        """Whether their handlers have a task or not."""
        self._none_open: asyncio.Event | None = None
        """Set when nothing is under way, for whoever waits for that."""
        self._beating = False
        self._closed = False

    def began(self, dispatch: Message) -> None:
        """A handler was called."""
        self._open[id(dispatch)] = dispatch
        if not self._beating:
            self._beat_later()

    def ended(self, dispatch: Message) -> None:
        """It is done."""
        self._open.pop(id(dispatch), None)
        if self._none_open is not None and self._is_idle:
            self._none_open.set()

    async def idle(self, seconds: float) -> None:
        """Wait until no handler runs, at most this long; those that wait for an answer are not waited for."""
        if self._is_idle:
            return
        self._none_open = asyncio.Event()
        with suppress(TimeoutError):
            async with self._clock.timeout(seconds):
                await self._none_open.wait()

    def close(self) -> None:
        """Show no more."""
        self._closed = True

    @property
    def _is_idle(self) -> bool:
        return len(self._open) <= len(self._questions)

    def _beat_later(self) -> None:
        self._beating = True
        self._clock.after(self._beat, self._show_life)

    def _show_life(self) -> None:
        self._beating = False
        if self._open and not self._closed:
            running = [[dispatch.utterance_id, dispatch.type] for dispatch in self._open.values()]
            self._bus.emit(Message(topics.HOST_ALIVE, {"host": self._host, "open": running}, EMPTY))
            self._beat_later()
