"""Hands the sound of the microphone to audio taps, without waiting for them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from hark.bus import Bus
from hark.hear.options import HearOptions
from hark.hear.recording import BYTES_A_SECOND
from hark.hosting import Loaded, Registry, Runner, cancel_all, check_emittable
from hark.model import Audio, Message, Session
from hark.model.frozen import EMPTY, freeze_object
from hark.plugins import AudioTap
from hark.plugins.engines import SAMPLE_RATE
from hark.spec.names import stamp_key

log = logging.getLogger("hark.hear")

MOST_WAITING: Final = 5.0
"""Seconds of sound that may wait for a tap; beyond that the oldest are dropped."""

_STAMP: Final = stamp_key("audio")

Listen = Callable[[str, str | None], None]
"""Starts a recording for a tap, by its id, in a language."""


class TapFeed:
    """Gives every loaded tap the sound in its own time: a slow tap misses sound, it delays nothing."""

    def __init__(
        self, bus: Bus, runner: Runner, taps: Registry[AudioTap] | None, options: HearOptions, listen: Listen
    ) -> None:
        self._bus = bus
        self._runner = runner
        self._registry = taps
        self._options = options
        self._listen = listen
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._queues: dict[Loaded[AudioTap], TapQueue] = {}
        self._version = -1
        self._position = 0
        """Bytes of sound until now."""

    def feed(self, block: bytes, *, is_recording: bool) -> None:
        """Give all taps another block."""
        registry = self._registry
        if registry is None or not len(registry):
            return
        if self._version != registry.version:
            self._version = registry.version
            self._queues = {entry: self._queues.get(entry) or TapQueue(entry, self) for entry in registry}
        for queue in self._queues.values():
            queue.put(block, self._position, is_recording)
        self._position += len(block)

    def gap(self) -> None:
        """There is a hole in the sound."""
        for queue in self._queues.values():
            queue.has_gap = True

    async def idle(self) -> None:
        """Wait until every tap has heard what there is. Only recorded sound can wait."""
        tasks = [queue.task for queue in self._queues.values() if queue.task is not None]
        if tasks:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        queues, self._queues, self._registry = self._queues, {}, None
        await cancel_all([queue.task for queue in queues.values() if queue.task is not None], self._runner.clock)

    async def call(self, entry: Loaded[AudioTap], audio: Audio, ctx: HeardSound) -> None:
        outcome = await self._runner.call(entry, audio, ctx)
        if outcome.error is None and entry.failures:
            entry.succeeded()

    async def reset(self, entry: Loaded[AudioTap]) -> None:
        await self._runner.call(Loaded(entry.plugin, entry.plugin.reset, limit=entry.limit))

    def is_available(self, entry: Loaded[AudioTap]) -> bool:
        return entry.available(self._runner.clock.monotonic())

    def emit(self, tap_id: str, topic: str, data: Mapping[str, Any]) -> None:
        """Emit a Message for a tap; raises `PermissionError` for a topic that only Hark emits."""
        check_emittable(topic, tap_id)
        context = {**self._options.context, _STAMP: [tap_id]}
        self._bus.post(Message(topic, freeze_object(data), context, Session(self._options.session_id)))

    def listen(self, tap_id: str, lang: str | None) -> None:
        if threading.get_ident() == self._thread:
            self._listen(tap_id, lang)
        else:
            self._loop.call_soon_threadsafe(self._listen, tap_id, lang)


class TapQueue:
    """The sound that waits for one tap, and the task that hands it over while there is any."""

    def __init__(self, entry: Loaded[AudioTap], feed: TapFeed) -> None:
        self.entry = entry
        self.has_gap = False
        self.task: asyncio.Task[None] | None = None
        self._feed = feed
        self._waiting: deque[tuple[bytes, int, bool]] = deque()
        self._size = 0
        self._dropped = 0

    def put(self, block: bytes, at: int, is_recording: bool) -> None:
        self._waiting.append((block, at, is_recording))
        self._size += len(block)
        while self._size > MOST_WAITING * BYTES_A_SECOND:
            self._drop()
        if self.task is None:
            name = f"audio tap {self.entry.id}"
            self.task = asyncio.get_running_loop().create_task(self._run(), name=name)
            self.task.add_done_callback(self._ended)

    def _drop(self) -> None:
        if not self._dropped:
            log.warning("audio tap %s is slower than the sound and misses some of it", self.entry.id)
        size = len(self._waiting.popleft()[0])
        self._size -= size
        self._dropped += size
        self.has_gap = True

    async def _run(self) -> None:
        while self._waiting:
            if not self._feed.is_available(self.entry):
                while self._waiting:
                    self._drop()
                return
            if self.has_gap:
                self.has_gap = False
                await self._feed.reset(self.entry)
            _, at, is_recording = self._waiting[0]
            sound = b"".join(block for block, _, _ in self._waiting)
            self._waiting.clear()
            self._size = 0
            dropped = self._dropped / BYTES_A_SECOND
            ctx = HeardSound(self.entry.id, self._feed, at / BYTES_A_SECOND, dropped, is_recording)
            await self._feed.call(self.entry, Audio(sound, SAMPLE_RATE), ctx)

    def _ended(self, _task: asyncio.Task[None]) -> None:
        self.task = None


class HeardSound:
    """The `SoundContext` of one chunk."""

    __slots__ = ("_feed", "_tap_id", "dropped", "is_recording", "seconds")

    def __init__(self, tap_id: str, feed: TapFeed, seconds: float, dropped: float, is_recording: bool) -> None:
        self._tap_id = tap_id
        self._feed = feed
        self.seconds = seconds
        self.dropped = dropped
        self.is_recording = is_recording

    def emit(self, topic: str, data: Mapping[str, Any] = EMPTY) -> None:
        self._feed.emit(self._tap_id, topic, data)

    def listen(self, lang: str | None = None) -> None:
        self._feed.listen(self._tap_id, lang)
