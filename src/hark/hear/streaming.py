"""Recognising while somebody speaks."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from hark.hear.transcript import checked
from hark.hosting import Loaded, Runner, UnusableResult, cancel_all
from hark.hosting.runner import CANCEL_TIMEOUT
from hark.plugins.engines import Recognition, STTEngine, Transcript
from hark.trace import TurnTrace


class Stream:
    """Feeds a recognition what is recorded, as fast as it takes it. Where it fails, the recording is still there."""

    def __init__(
        self,
        runner: Runner,
        engine: STTEngine,
        caller: Loaded[STTEngine],
        lang: str,
        on_partial: Callable[[str], None],
    ) -> None:
        self.lang = lang
        self._runner = runner
        self._engine = engine
        self._caller = caller
        self._on_partial = on_partial
        self._waiting: deque[bytes] = deque()
        self._more = asyncio.Event()
        self._complete = False
        self._last = ""
        self._unwanted = False
        self._in_call = False
        """Whether a call is under way, or never came back."""
        self._failure: tuple[str, str] | None = None
        self._seconds = 0.0
        self._task = asyncio.get_running_loop().create_task(self._run(), name=f"recognition by {engine.id}")

    def feed(self, block: bytes) -> None:
        """Take in more of what is said."""
        if self._failure is None:
            self._waiting.append(block)
            self._more.set()

    async def finish(self, trace: TurnTrace) -> Transcript | None:
        """What was said, once all of it is recognised; None when that failed."""
        self._complete = True
        self._more.set()
        await asyncio.wait({self._task})
        if self._task.cancelled():
            return None
        heard = self._task.result()
        if heard is None:
            how, why = self._failure or ("failed", "it was given up")
            trace.step("stt", self._engine.id, how, self._seconds, why)
        else:
            detail = f"in {self.lang}, while it was said"
            trace.step("stt", self._engine.id, "heard", self._seconds, detail, None, heard.utterances)
        return heard

    async def close(self) -> None:
        """Nobody wants to know any more. A call that is under way is given a moment: it would not notice."""
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
            no = "skipped" if recognition is None else "failed"
            self._failure = self._failure or (no, "it made no recognition for this")
            return None
        try:
            while not (self._unwanted or self._failure or (self._complete and not self._waiting)):
                if self._waiting:
                    await self._feed(recognition)
                else:
                    self._more.clear()
                    await self._more.wait()
            if self._unwanted or self._failure:
                return None
            return self._checked(await self._call(recognition.finish))
        finally:
            if not self._in_call:  # it is called from one thread at a time
                await self._runner.call(self._caller, recognition.close)

    async def _feed(self, recognition: Recognition) -> None:
        sound = b"".join(self._waiting)
        self._waiting.clear()
        text = await self._call(recognition.feed, sound)
        if isinstance(text, str) and text and text != self._last:
            self._last = text
            self._on_partial(text)

    def _checked(self, value: Any) -> Transcript | None:
        if self._failure:
            return None
        try:
            transcript = checked(value)
        except UnusableResult as unusable:
            self._runner.record_failure(self._caller, str(unusable))
            self._failure = ("failed", str(unusable))
            return None
        if self._caller.failures:
            self._caller.succeeded()
        return transcript

    async def _call(self, method: Callable[..., Any], *args: Any) -> Any:
        self._in_call = True
        outcome = await self._runner.call(self._caller, method, *args)
        self._in_call = outcome.late
        self._seconds += outcome.seconds
        if outcome.error is not None:
            self._failure = ("late" if outcome.late else "failed", outcome.failure)
            self._waiting.clear()
        return outcome.value


def caller(entry: Loaded[STTEngine]) -> Loaded[STTEngine]:
    """Whom the runner takes to account for what an engine does while somebody speaks."""
    return Loaded(entry.plugin, _call, origin=entry.origin, limit=entry.limit)


def _call(method: Callable[..., Any], *args: Any) -> Any:
    return method(*args)
