"""From a sentence to its sound."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any, Final

import msgspec

from hark.chains import Chain, Flow
from hark.hosting import Engines, Loaded, Outcome, Runner, UnusableResult
from hark.model import Audio, Session
from hark.model.lang import canonical, is_tag
from hark.model.sentences import sentences
from hark.plugins.engines import Player, TTSEngine
from hark.speak.cache import SpeechCache
from hark.speak.options import SpeakOptions
from hark.speak.playback import joined
from hark.speak.response import DialogResult
from hark.spec import DEFAULT_SESSION_ID
from hark.trace import TurnTrace

_END: Final[Any] = object()


async def streamed(
    entry: Loaded[TTSEngine], runner: Runner, sentence: Sentence, voice: str | None, trace: TurnTrace
) -> AsyncGenerator[Audio, None]:
    """The pieces of a sentence, if the engine gives any. An engine that fails midway ends the sentence there."""
    engine = entry.plugin
    began = runner.clock.monotonic()
    opened = await runner.call(_as(entry, engine.stream), sentence.text, sentence.lang, voice)
    steps = _steppers(opened.value)
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
        detail = f"{seconds:.2f} s of {sentence.lang} in pieces, the first after {first:.3f} s"
        trace.step("tts", entry.id, "made", runner.clock.monotonic() - began, detail, sentence.text)


def _as(entry: Loaded[TTSEngine], call: Callable[..., Any]) -> Loaded[TTSEngine]:
    """Another method of a loaded engine, under the same limit."""
    return Loaded(entry.plugin, call, limit=entry.limit)


def _steppers(value: Any) -> tuple[Callable[[], Any], Callable[[], Any]] | None:
    """A call for the next piece, and one to close the iterator."""
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
    why = outcome.failure or f"it yielded {type(outcome.value).__name__}, not Audio"
    trace.step("tts", entry.id, "late" if outcome.late else "failed", outcome.seconds, why, sentence.text)


VOICE_ID: Final = "voice_id"
"""The context key by which a dialog transformer asks for a voice (TRANSFORM-1 §3.5)."""


def is_device(session_id: str) -> bool:
    """Whether this is the session of the device itself."""
    return session_id == DEFAULT_SESSION_ID


class AudioOutput(msgspec.Struct, frozen=True):
    """What a speaker needs to be heard, not only read."""

    runner: Runner
    tts: Chain
    """The chain of tts transformers."""
    engines: Engines[TTSEngine]
    players: Engines[Player]
    options: SpeakOptions = SpeakOptions()
    hears: Callable[[str], bool] = is_device
    """Whether a session can hear this loudspeaker (AUDIO-1 §4.1)."""


class Sentence(msgspec.Struct, frozen=True):
    """A text to be spoken without a pause, in a language, by a voice if one was asked for."""

    text: str
    lang: str
    voice: str | None = None


def spoken_lang(stated: str | None, session: Session, default: str) -> str:
    """The language to speak a response in (AUDIO-1 §3.2): its own, else what its session wants to hear."""
    for tag in (stated, session.output_lang, session.lang):
        if tag is not None and is_tag(tag):
            return canonical(tag)
    return default


def checked_audio(value: object) -> Audio:
    """What an engine returned; raises `UnusableResult` when it is not sound."""
    if type(value) is not Audio:
        raise UnusableResult(f"it must return Audio, not {type(value).__name__}")
    defect = value.defect()
    if defect is not None:
        raise UnusableResult(f"the Audio it returned is malformed: {defect}")
    if not value.samples:
        raise UnusableResult("the Audio it returned is empty")
    return value


class Synthesizer:
    """Speaks sentences with the first engine that works, from the cache where it did so before."""

    def __init__(self, output: AudioOutput) -> None:
        self.tts = output.tts
        self.options = output.options
        self._engines = output.engines
        self._runner = output.runner
        self._cache = SpeechCache(output.options, output.runner)
        self._voices: dict[tuple[str, str], tuple[str, ...]] = {}

    def lang_of(self, flow: Flow) -> str:
        """The language to speak in, after the dialog chain."""
        return spoken_lang(flow.lang, flow.session, self.options.lang)

    def sentences(self, result: DialogResult) -> Iterator[Sentence]:
        """A response, sentence by sentence, with the language and the voice to speak it in."""
        flow = result.flow
        lang, wanted = self.lang_of(flow), flow.context.get(VOICE_ID)
        name = wanted if isinstance(wanted, str) else None
        return (Sentence(text, lang, name) for text in sentences(flow.artifact, lang, self.options.longest_sentence))

    def streams(self, result: DialogResult) -> bool:
        """Whether pieces of a sentence may be played before the rest is there: no tts transformer needs it whole."""
        flow = result.flow
        return self.options.stream and not self.tts.effective(flow.session, flow.denials)

    async def whole(self, sentence: Sentence, trace: TurnTrace) -> Audio | None:
        """A sentence as one sound; None when no engine worked."""
        for entry in list(self._engines.usable(sentence.lang)):
            voice = await self._voice_of(entry, sentence)
            audio = await self._whole_by(entry, sentence, voice, trace)
            if audio is not None:
                return audio
        trace.step("tts", "", "failed", 0.0, f"no engine could speak {sentence.lang}", sentence.text)
        return None

    async def pieces(self, sentence: Sentence, trace: TurnTrace) -> AsyncGenerator[Audio, None]:
        """A sentence in pieces, each as soon as it is there; none when no engine worked."""
        entry = next(self._engines.usable(sentence.lang), None)
        if entry is not None and type(entry.plugin).stream is not TTSEngine.stream:
            voice = await self._voice_of(entry, sentence)
            key = self._cache.key(entry, sentence.lang, voice, sentence.text)
            if await self._cache.get(key) is None:
                kept: list[Audio] = []
                async with aclosing(streamed(entry, self._runner, sentence, voice, trace)) as pieces:
                    async for audio in pieces:
                        kept.append(audio)
                        yield audio
                if kept:
                    whole = joined(kept)
                    if len(whole) == 1:
                        await self._cache.put(key, whole[0])
                    return
        whole_sentence = await self.whole(sentence, trace)
        if whole_sentence is not None:
            yield whole_sentence

    async def _whole_by(
        self, entry: Loaded[TTSEngine], sentence: Sentence, voice: str | None, trace: TurnTrace
    ) -> Audio | None:
        def note(engine: str, how: str, seconds: float, why: str) -> None:
            trace.step("tts", engine, how, seconds, why, sentence.text)

        key = self._cache.key(entry, sentence.lang, voice, sentence.text)
        kept = await self._cache.get(key)
        if kept is not None:
            note(entry.id, "cached", 0.0, _described(kept, sentence))
            return kept
        done = await self._engines.ask(entry, sentence.text, sentence.lang, voice, check=checked_audio, note=note)
        if done is None:
            return None
        audio: Audio = done.value
        note(entry.id, "made", done.seconds, _described(audio, sentence))
        await self._cache.put(key, audio)
        return audio

    async def _voice_of(self, entry: Loaded[TTSEngine], sentence: Sentence) -> str | None:
        """The voice that was asked for, if this engine has it."""
        if sentence.voice is None:
            return None
        key = entry.id, sentence.lang
        if key not in self._voices:
            listed = await self._runner.call(Loaded(entry.plugin, entry.plugin.voices, limit=5.0), sentence.lang)
            voices = listed.value if isinstance(listed.value, (list, tuple, set, frozenset)) else ()
            self._voices[key] = tuple(voice for voice in voices if type(voice) is str)
        return sentence.voice if sentence.voice in self._voices[key] else None


def _described(audio: Audio, sentence: Sentence) -> str:
    return f"{audio.seconds:.2f} s of {sentence.lang}"
