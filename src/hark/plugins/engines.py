"""The engines: microphone, voice activity, wake word, speech to text, text to speech, player.

Engines that listen are given 16 kHz, one channel, 16 bits, unless they say otherwise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Collection, Iterator
from typing import ClassVar, Final, Literal, get_args

import msgspec

from hark.model import Audio
from hark.plugins.plugin import Plugin

__all__ = [
    "ENGINE_KINDS",
    "SAMPLE_RATE",
    "Engine",
    "EngineKind",
    "Microphone",
    "Player",
    "Recognition",
    "STTEngine",
    "TTSEngine",
    "Transcript",
    "Unavailable",
    "VADEngine",
    "VoiceDetector",
    "WakeDetector",
    "WakeWord",
    "WakeWordEngine",
]

EngineKind = Literal["stt", "tts", "vad", "wakeword", "microphone", "player"]
ENGINE_KINDS: Final[tuple[EngineKind, ...]] = get_args(EngineKind)


class Unavailable(Exception):
    """An engine cannot work here: `raise Unavailable("the model is missing", "download it by: ...")`."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.remedy = remedy


class Engine(Plugin):
    """Base of the six kinds of engine, which take in sound or make it. Subclass one of them.

    Importing its module must be cheap: import heavy libraries in `load`.
    """

    kind: ClassVar[EngineKind]
    """Which kind of engine it is; set by the six classes below."""

    langs: Collection[str] | None = None
    """The languages it supports, as tags such as "en" or "en-US"; None for an engine independent of language."""

    def load(self) -> None:
        """Import libraries and load the model. Called once, on a worker thread; raises `Unavailable`."""

    def warm_up(self) -> None:
        """Run the model once, so that the first real call is as fast as the next. On a worker thread."""

    def unload(self) -> None:
        """Release what `load` acquired. On a worker thread."""

    def about(self) -> str:
        """One line for `hark doctor`, once loaded: which model, of which version."""
        return ""

    def serves(self, lang: str) -> bool:
        """Whether it supports this language; the region does not matter."""
        if self.langs is None:
            return True
        wanted = lang.lower()
        return any(wanted.split("-")[0] == known.lower().split("-")[0] for known in self.langs)


SAMPLE_RATE: Final = 16_000
"""Samples a second of the audio that engines listen to."""


class Microphone(Engine):
    """A source of sound: a device, a file, a pipe."""

    kind = "microphone"

    steady: ClassVar[bool] = False
    """Whether it delivers sound continuously, as a device does: after a long silence it is reopened."""

    @abstractmethod
    def blocks(self) -> AsyncIterator[bytes]:
        """Samples (16 kHz, mono, 16 bits) as they arrive, in blocks of any length, until the source ends.

        Closing the iterator closes the source.
        """

    def devices(self) -> Collection[str]:
        """The devices it could listen to on this machine, as text for users; may be called before `load`."""
        return ()


class VoiceDetector(ABC):
    """Distinguishes speech from other sound, block by block. It has state: one detector for each stream."""

    block: ClassVar[int] = 512
    """Samples in each block."""

    @abstractmethod
    def probability(self, samples: bytes) -> float:
        """The probability of speech in this block, from 0 to 1."""

    @abstractmethod
    def reset(self) -> None:
        """Discard the state of the stream."""


class VADEngine(Engine):
    """Voice activity detection: where speech begins and ends."""

    kind = "vad"

    @abstractmethod
    def detector(self) -> VoiceDetector:
        """A detector for one stream."""


class WakeWord(msgspec.Struct, frozen=True):
    """A phrase that makes the assistant listen."""

    name: str
    """Its name in the settings."""
    phrase: str
    """The phrase as users say it: "hey jarvis"."""
    model: str = ""
    """The name or path of a model, for engines that need one; by default found by the phrase."""
    lang: str | None = None
    """The language of the command that follows it."""
    persona: str | None = None
    """The persona that is addressed."""
    threshold: float | None = None
    """The least confidence of the engine, from 0 to 1; None for the engine's default."""
    engine: str | None = None
    """The engine that listens for it; None for the first that supports it."""


class WakeDetector(ABC):
    """Listens for one wake word. It has state: one detector for each stream."""

    @abstractmethod
    def hears(self, samples: bytes) -> bool:
        """Whether the wake word ended within these samples, which follow the last ones and may have any length."""

    @abstractmethod
    def reset(self) -> None:
        """Discard the state of the stream."""


class WakeWordEngine(Engine):
    """Detects wake words."""

    kind = "wakeword"

    @abstractmethod
    def detector(self, wake_word: WakeWord) -> WakeDetector:
        """A detector for one stream; raises `Unavailable` when the engine does not support the phrase."""


class Transcript(msgspec.Struct, frozen=True):
    """The result of recognising speech."""

    utterances: tuple[str, ...] = ()
    """The candidates, most likely first; empty when there was no speech."""
    lang: str | None = None
    """The language of the text, if it is not the requested one."""
    confidence: float | None = None
    """The confidence in the first candidate, from 0 to 1; None when unknown."""


class Recognition(ABC):
    """Streaming recognition: speech is recognised while it is spoken. Called from one worker thread at a time."""

    @abstractmethod
    def feed(self, samples: bytes) -> str:
        """Add sound; returns the text so far."""

    @abstractmethod
    def finish(self) -> Transcript:
        """The final result; no sound follows."""

    def close(self) -> None:  # noqa: B027 - most have nothing to release
        """Release resources; the result is not wanted any more."""


class STTEngine(Engine):
    """Speech to text."""

    kind = "stt"

    @abstractmethod
    def transcribe(self, audio: Audio, lang: str) -> Transcript | Awaitable[Transcript]:
        """The transcript of `audio`, in a language it `serves`.

        An empty transcript is a result; raising is a failure, after which another engine is tried.
        """

    def recognition(self, lang: str) -> Recognition | None:
        """A streaming recognition; None when the engine does not support it."""
        return None


class TTSEngine(Engine):
    """Text to speech."""

    kind = "tts"

    @abstractmethod
    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio | Awaitable[Audio]:
        """One sentence as sound, in a language it `serves`; `voice` is one of `voices`, or None for the default."""

    def stream(self, text: str, lang: str, voice: str | None = None) -> Iterator[Audio] | AsyncIterator[Audio] | None:
        """The same in pieces, each as soon as it is ready; None when the engine does not support it."""
        return None

    def voices(self, lang: str) -> Collection[str]:
        """The voices for a language, the default first."""
        return ()


class Player(Engine):
    """Plays sound: on a loudspeaker, into a file, or not at all."""

    kind = "player"

    @abstractmethod
    async def play(self, audio: Audio) -> None:
        """Play it to the end; cancelling stops it at once. Several sounds may play at a time."""

    def devices(self) -> Collection[str]:
        """The devices it could play on, as text for users; may be called before `load`."""
        return ()
