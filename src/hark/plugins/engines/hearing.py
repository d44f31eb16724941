"""Engines that listen. What they are given is 16 kHz, one channel, 16 bits, unless they say otherwise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Collection
from typing import ClassVar, Final

import msgspec

from hark.model import Audio
from hark.plugins.engines.engine import Engine

SAMPLE_RATE: Final = 16_000
"""Samples a second of everything that is listened to."""


class Microphone(Engine):
    """A source of sound: a device, a file, a pipe."""

    kind = "microphone"

    steady: ClassVar[bool] = False
    """Whether sound always comes, as from a device: when none comes for long, it is opened again."""

    @abstractmethod
    def blocks(self) -> AsyncIterator[bytes]:
        """Samples (16 kHz, mono, 16 bits) as they come, in pieces of any length, until the source ends.

        Closing the iterator closes the source.
        """

    def devices(self) -> Collection[str]:
        """What it could listen to on this machine, for people; also asked before `load`."""
        return ()


class VoiceDetector(ABC):
    """Tells speech from everything else, block by block. It remembers what it heard; one for each stream."""

    block: ClassVar[int] = 512
    """Samples it wants at a time."""

    @abstractmethod
    def probability(self, samples: bytes) -> float:
        """How likely there is speech in this block, from 0 to 1."""

    @abstractmethod
    def reset(self) -> None:
        """Forget what was heard."""


class VADEngine(Engine):
    """Voice activity: where speech begins and ends."""

    kind = "vad"

    @abstractmethod
    def detector(self) -> VoiceDetector:
        """A detector for one stream."""


class WakeWord(msgspec.Struct, frozen=True):
    """A phrase that opens the ears."""

    name: str
    """What it is called in the settings."""
    phrase: str
    """The phrase as people say it: "hey jarvis"."""
    model: str = ""
    """A model's name or path, for engines that need one; else found by the phrase."""
    lang: str | None = None
    """The language in which whoever says it will go on."""
    persona: str | None = None
    """Who is talked to."""
    threshold: float | None = None
    """How sure the engine has to be, from 0 to 1; None takes the engine's own."""
    engine: str | None = None
    """The engine that is to listen for it; None takes the first that knows it."""


class WakeDetector(ABC):
    """Listens for one wake word. It remembers what it heard; one for each stream."""

    @abstractmethod
    def hears(self, samples: bytes) -> bool:
        """Whether the wake word ended within these samples, which follow the last ones; of any length."""

    @abstractmethod
    def reset(self) -> None:
        """Forget what was heard."""


class WakeWordEngine(Engine):
    """Spots wake words."""

    kind = "wakeword"

    @abstractmethod
    def detector(self, wake_word: WakeWord) -> WakeDetector:
        """A detector for one stream; raises `Unavailable` when it does not know the phrase."""


class Transcript(msgspec.Struct, frozen=True):
    """What was understood of some speech."""

    utterances: tuple[str, ...] = ()
    """The candidates, likeliest first; none when there was nothing to understand."""
    lang: str | None = None
    """The language of the text, where it is not the one that was asked for."""
    confidence: float | None = None
    """How sure the engine is of the first candidate, from 0 to 1; None when it does not know."""


class Recognition(ABC):
    """Speech being recognised while it is spoken. Called from one worker thread at a time."""

    @abstractmethod
    def feed(self, samples: bytes) -> str:
        """Take in more sound; what is understood so far."""

    @abstractmethod
    def finish(self) -> Transcript:
        """There is no more: what was said."""

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Nobody wants to know any more."""


class STTEngine(Engine):
    """Speech to text."""

    kind = "stt"

    @abstractmethod
    def transcribe(self, audio: Audio, lang: str) -> Transcript | Awaitable[Transcript]:
        """What was said, in a language it `serves`. Raising and returning nothing are different: the one is a failure
        after which another engine is tried, the other an answer.
        """

    def recognition(self, lang: str) -> Recognition | None:
        """A recognition that goes on while somebody speaks; None when it cannot do that."""
        return None
