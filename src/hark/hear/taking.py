"""Taking sound in, block by block, whatever becomes of the task that does it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from hark.hear.audio_source import AudioSource
from hark.hear.pacing import Pacing
from hark.hear.recognition import RecognitionQueue
from hark.hosting import cancel_all
from hark.model import Clock

log = logging.getLogger("hark.hear")


class Taking:
    """Hands every block of a source on, until the sound ends or `close`. A task that breaks is begun again."""

    def __init__(
        self,
        source: AudioSource,
        thinking: RecognitionQueue,
        pacing: Pacing | None,
        clock: Clock,
        reopen_after: float,
        hear: Callable[[bytes], Awaitable[None]],
        ended: Callable[[], None],
    ) -> None:
        self._source = source
        self._thinking = thinking
        self._pacing = pacing
        self._clock = clock
        self._reopen_after = reopen_after
        self._hear = hear
        self._ended = ended
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._finished = asyncio.Event()

    @property
    def on(self) -> bool:
        """Whether sound is taken in."""
        return self._task is not None and not self._task.done()

    def begin(self, size: Callable[[], int]) -> None:
        """Take blocks of as many bytes as `size` says each time."""
        self._task = asyncio.get_running_loop().create_task(self._run(size), name="listening")
        self._task.add_done_callback(lambda task: self._stopped(task, size))

    async def finished(self) -> None:
        """Wait until the sound has ended, and everything in it has its outcome; or until it is closed."""
        await self._finished.wait()

    def give_up(self) -> None:
        """Do not begin again."""
        self._closed = True

    async def close(self) -> None:
        """Take no more."""
        self.give_up()
        if self._task is not None:
            await cancel_all([self._task], self._clock)
        await self._source.close()

    def over(self) -> None:
        """Nothing more comes: whoever waits for that goes on."""
        self._finished.set()

    async def _run(self, size: Callable[[], int]) -> None:
        await self._source.close()  # this may be another go, after somebody ended the task
        while True:
            if self._pacing is not None:
                await self._thinking.idle()
                await self._pacing.answered()
            block = await self._source.block(size())
            if block is None:
                break
            try:
                await self._hear(block)
            except Exception:
                log.exception("a block of sound could not be listened to")
            await asyncio.sleep(0)  # recorded sound never waits by itself, and others want to live
        self._ended()
        await self._thinking.idle()
        self.over()

    def _stopped(self, task: asyncio.Task[None], size: Callable[[], int]) -> None:
        if self._closed:
            return
        if task.cancelled():
            log.warning("somebody ended the task that listens: it is begun again")
            self.begin(size)
        elif task.exception() is not None:
            log.error("listening broke and is begun again", exc_info=task.exception())
            self._clock.after(self._reopen_after, lambda: None if self._closed else self.begin(size))
