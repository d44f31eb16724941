"""Recognition during the recording."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from hark.chains import ChunkedRun
from hark.hear.transcript import checked
from hark.hosting import Loaded, Runner, UnusableResult, cancel_all
from hark.hosting.runner import CANCEL_TIMEOUT
from hark.model import Audio
from hark.plugins.engines import SAMPLE_RATE, Recognition, STTEngine, Transcript
from hark.trace import TurnTrace


class Stream:
    """Feeds a recognition what is recorded, as fast as the engine takes it; if that fails, the recording is there."""

    def __init__(
        self,
        runner: Runner,
        engine: STTEngine,
        entry: Loaded[STTEngine],
        lang: str,
        on_partial: Callable[[str], None],
        chunks: ChunkedRun | None = None,
    ) -> None:
        self.lang = lang
        self.chunks = chunks
        """The audio chain, where there is one: each chunk goes through it first."""
        self._runner = runner
        self._engine = engine
        self._entry = entry
        self._on_partial = on_partial
        self._waiting: deque[bytes] = deque()
        self._more = asyncio.Event()
        self._complete = False
        self._partial = ""
        self._unwanted = False
        self._in_call = False
        """Whether a call is under way, or never came back."""
        self._failure: tuple[str, str] | None = None
        self._seconds = 0.0
        self._task = asyncio.get_running_loop().create_task(self._run(), name=f"recognition by {engine.id}")

    def feed(self, block: bytes) -> None:
        if self._failure is None:
            self._waiting.append(block)
            self._more.set()

    async def finish(self, trace: TurnTrace) -> Transcript | None:
        """The transcript, once all of the sound is recognised; None when that failed."""
        self._complete = True
        self._more.set()
        await asyncio.wait({self._task})
        if self._task.cancelled():
            return None
        transcript = self._task.result()
        if transcript is None:
            how, why = self._failure or ("failed", "recognition was given up")
            trace.step("stt", self._engine.id, how, self._seconds, why)
        else:
            detail = f"in {self.lang}, during the recording"
            trace.step("stt", self._engine.id, "heard", self._seconds, detail, None, transcript.utterances)
        return transcript

    async def close(self) -> None:
        """Give it up. A call that is under way is given a moment: an engine on a worker cannot be interrupted."""
        self._unwanted = True
        self._more.set()
        try:
            async with self._runner.clock.timeout(CANCEL_TIMEOUT):
                await asyncio.wait({self._task})
        except TimeoutError:
            await cancel_all([self._task], self._runner.clock)

    async def _run(self) -> Transcript | None:
        recognition = await self._call(self._engine.recognition, self.lang)
        if not isinstance(recognition, Recognition):
            how = "skipped" if recognition is None else "failed"
            self._failure = self._failure or (how, "recognition() returned no Recognition")
            return None
        try:
            while not (self._unwanted or self._failure or (self._complete and not self._waiting)):
                if self._waiting:
                    await self._feed(recognition)
                else:
                    self._more.clear()
                    await self._more.wait()
            if self.chunks is not None and not (self._unwanted or self._failure):
                await self._feed(recognition, is_last=True)
            if self._unwanted or self._failure:
                return None
            return self._checked(await self._call(recognition.finish))
        finally:
            if not self._in_call:  # one thread at a time may call it
                await self._runner.call(self._entry, recognition.close)

    async def _feed(self, recognition: Recognition, *, is_last: bool = False) -> None:
        sound = b"".join(self._waiting)
        self._waiting.clear()
        if self.chunks is not None:
            sound = await self._transformed(self.chunks, sound, is_last=is_last)
            if not sound or self._failure:
                return
        text = await self._call(recognition.feed, sound)
        if isinstance(text, str) and text and text != self._partial:
            self._partial = text
            self._on_partial(text)

    async def _transformed(self, chunks: ChunkedRun, sound: bytes, *, is_last: bool) -> bytes:
        audio = await chunks.feed(Audio(sound, SAMPLE_RATE), is_last=is_last)
        if chunks.flow.cancelled:
            self._failure = ("skipped", "a transformer cancelled the command")
        elif audio.samples and (audio.sample_rate, audio.sample_width, audio.channels) != (SAMPLE_RATE, 2, 1):
            self._failure = ("failed", "a transformer changed the format of the sound")
        return audio.samples

    def _checked(self, value: Any) -> Transcript | None:
        if self._failure:
            return None
        try:
            transcript = checked(value)
        except UnusableResult as unusable:
            self._runner.record_failure(self._entry, str(unusable))
            self._failure = ("failed", str(unusable))
            return None
        if self._entry.failures:
            self._entry.succeeded()
        return transcript

    async def _call(self, method: Callable[..., Any], *args: Any) -> Any:
        self._in_call = True
        outcome = await self._runner.call(self._entry, method, *args)
        self._in_call = outcome.late
        self._seconds += outcome.seconds
        if outcome.error is not None:
            self._failure = ("late" if outcome.late else "failed", outcome.failure)
            self._waiting.clear()
        return outcome.value


def stream_entry(entry: Loaded[STTEngine]) -> Loaded[STTEngine]:
    """The same engine for calls of any of its methods, with its own count of failures."""
    return Loaded(entry.plugin, _call, origin=entry.origin, limit=entry.limit)


def _call(method: Callable[..., Any], *args: Any) -> Any:
    return method(*args)
