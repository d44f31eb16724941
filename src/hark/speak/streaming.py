"""A sentence from an engine that gives it in pieces."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from hark.hosting import Loaded, Outcome, Runner
from hark.model import Audio
from hark.plugins.engines import TTSEngine
from hark.trace import TurnTrace

if TYPE_CHECKING:
    from hark.speak.voice import Sentence

_END: Final[Any] = object()


async def streamed(
    entry: Loaded[TTSEngine], runner: Runner, sentence: Sentence, voice: str | None, trace: TurnTrace
) -> AsyncGenerator[Audio, None]:
    """The pieces of a sentence; none when the engine cannot give any. One that fails midway ends the sentence there."""
    engine = entry.plugin
    began = runner.clock.monotonic()
    opened = await runner.call(_as(entry, engine.stream), sentence.text, sentence.lang, voice)
    steps = _steps(opened.value)
    if steps is None:
        if opened.error is not None or opened.value is not None:
            _failed(entry, runner, opened, trace, sentence)
        return
    step, close = steps
    seconds, first = 0.0, 0.0
    try:
        while True:
            outcome = await runner.call(_as(entry, step))
            audio = outcome.value
            if audio is _END:
                break
            if type(audio) is not Audio or audio.defect() is not None:
                _failed(entry, runner, outcome, trace, sentence)
                return
            if audio.samples:
                first = first or runner.clock.monotonic() - began
                seconds += audio.seconds
                yield audio
    finally:
        await runner.call(_as(entry, close))
    if seconds:
        entry.succeeded()
        told = f"{seconds:.2f} s of {sentence.lang} in pieces, the first after {first:.3f} s"
        trace.step("tts", entry.id, "made", runner.clock.monotonic() - began, told, sentence.text)


def _as(entry: Loaded[TTSEngine], call: Callable[..., Any]) -> Loaded[TTSEngine]:
    """Another method of a loaded engine, under the same limit."""
    return Loaded(entry.plugin, call, limit=entry.limit)


def _steps(value: Any) -> tuple[Callable[[], Any], Callable[[], Any]] | None:
    """How to get the next piece, and how to let go of those that are not wanted."""
    if isinstance(value, AsyncIterator):

        async def step_later() -> Any:
            return await anext(value, _END)

        async def close_later() -> None:
            if hasattr(value, "aclose"):
                await value.aclose()

        return step_later, close_later
    if isinstance(value, Iterator):

        def close() -> None:
            if hasattr(value, "close"):
                value.close()

        return lambda: next(value, _END), close
    return None


def _failed(entry: Loaded[TTSEngine], runner: Runner, outcome: Outcome, trace: TurnTrace, sentence: Sentence) -> None:
    entry.failed(runner.clock.monotonic())
    why = outcome.failure or f"a piece of its speech was no sound but {type(outcome.value).__name__}"
    trace.step("tts", entry.id, "late" if outcome.late else "failed", outcome.seconds, why, sentence.text)
