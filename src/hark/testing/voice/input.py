"""Engines that listen, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from hark.model import Audio
from hark.model.audio import level
from hark.plugins.engines import (
    Microphone,
    Recognition,
    STTEngine,
    Transcript,
    VADEngine,
    VoiceDetector,
    WakeDetector,
    WakeWord,
    WakeWordEngine,
)
from hark.testing.voice.sound import Scene, frames, words_in

__all__ = ["FakeMicrophone", "FakeSTT", "FakeStreamingSTT", "FakeVAD", "FakeWakeWords", "Scene", "words_in"]

_END: Final[Any] = object()


class FakeMicrophone(Microphone):
    """Gives the sound of the test, when the test says so: `await microphone.hears(scene)`."""

    id = "fake-microphone"

    def __init__(self) -> None:
        self.opened = 0
        """How often it was opened."""
        self.open = False
        """Whether it is open now."""
        self._queue: asyncio.Queue[Any] = asyncio.Queue()

    async def blocks(self) -> AsyncIterator[bytes]:
        """Everything that is given, until `runs_out`."""
        self.opened += 1
        self.open = True
        try:
            while True:
                piece = await self._queue.get()
                try:
                    if piece is _END:
                        return
                    if isinstance(piece, BaseException):
                        raise piece
                    yield piece
                finally:
                    self._queue.task_done()
        finally:
            self.open = False

    async def hears(self, scene: Scene | bytes) -> None:
        """Give a sound, and wait until the listener has processed it and asked for more."""
        self.give(scene)
        await self.heard()

    def give(self, scene: Scene | bytes) -> None:
        """Give a sound, without waiting."""
        for block in scene.blocks() if isinstance(scene, Scene) else (scene,):
            self._queue.put_nowait(block)

    async def heard(self) -> None:
        """Wait until everything that was given has been processed."""
        await self._queue.join()

    def fail(self, error: BaseException) -> None:
        """Fail after what was given so far."""
        self._queue.put_nowait(error)

    def runs_out(self) -> None:
        """End after what was given so far, as a file does."""
        self._queue.put_nowait(_END)


class _FakeVoice(VoiceDetector):
    def probability(self, samples: bytes) -> float:
        return 1.0 if level(samples).peak > 0.1 else 0.0

    def reset(self) -> None:
        """It has no state."""


class FakeVAD(VADEngine):
    """Detects voice in every sound that is not silence."""

    id = "fake-vad"
    quick = True

    def detector(self) -> VoiceDetector:
        """A detector without state."""
        return _FakeVoice()


class _FakeSpotter(WakeDetector):
    """Detects its phrase once its last word is over, and not before."""

    def __init__(self, phrase: str) -> None:
        self._phrase = phrase.replace("_", " ").lower().split()
        self._said: list[str] = []
        self._last: tuple[int, str] | None = None
        self._due = False

    def hears(self, samples: bytes) -> bool:
        spotted = False
        for frame in frames(samples):
            if frame == self._last:
                continue
            spotted, self._due = spotted or self._due, False
            self._last = frame
            if frame is not None:
                self._said = [*self._said, frame[1].lower()][-len(self._phrase) :]
                self._due = self._said == self._phrase
        return spotted

    def reset(self) -> None:
        self._said, self._due = [], False


class FakeWakeWords(WakeWordEngine):
    """Detects any phrase in a `Scene`."""

    id = "fake-wakeword"
    quick = True

    def detector(self, wake_word: WakeWord) -> WakeDetector:
        """A detector for the phrase of a wake word."""
        return _FakeSpotter(wake_word.phrase)


class FakeSTT(STTEngine):
    """Recognises every word of a `Scene`; or gives its `answers` in order: a Transcript, text, or an error to raise."""

    id = "fake-stt"
    quick = True

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.heard: list[tuple[Audio, str]] = []
        """What it was given, and in which language."""

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        """The next of `answers`, else the words of the scene."""
        self.heard.append((audio, lang))
        answer = self.answers.pop(0) if self.answers else " ".join(words_in(audio.samples))
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, str):
            return Transcript((answer,) if answer else ())
        result: Transcript = answer
        return result


class _FakeRecognition(Recognition):
    def __init__(self, engine: FakeStreamingSTT) -> None:
        self._engine = engine
        self._said: list[str] = []
        self._last: tuple[int, str] | None = None

    def feed(self, samples: bytes) -> str:
        self._engine.fed.append(samples)
        for frame in frames(samples):
            if frame is not None and frame != self._last:
                self._last = frame
                self._said.append(frame[1])
        return " ".join(self._said)

    def finish(self) -> Transcript:
        return Transcript((" ".join(self._said),))

    def close(self) -> None:
        self._engine.closed += 1


class FakeStreamingSTT(FakeSTT):
    """Recognises during the recording."""

    id = "fake-streaming-stt"

    def __init__(self, *answers: Any) -> None:
        super().__init__(*answers)
        self.fed: list[bytes] = []
        """What it was fed."""
        self.recognitions: list[str] = []
        """The languages of the recognitions that were started."""
        self.closed = 0
        """How many were closed."""

    def recognition(self, lang: str) -> Recognition | None:
        """A recognition of the words of a scene."""
        self.recognitions.append(lang)
        return _FakeRecognition(self)
