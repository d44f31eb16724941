"""Engines that speak."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Collection, Iterator

from hark.model import Audio
from hark.plugins.engines.engine import Engine


class TTSEngine(Engine):
    """Text to speech."""

    kind = "tts"

    @abstractmethod
    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio | Awaitable[Audio]:
        """One sentence as sound, in a language it `serves`; `voice` is one of its own, or its default."""

    def stream(self, text: str, lang: str, voice: str | None = None) -> Iterator[Audio] | AsyncIterator[Audio] | None:
        """The same in pieces, each as soon as it is there; None when it cannot do that."""
        return None

    def voices(self, lang: str) -> Collection[str]:
        """The voices it has for a language, its default first."""
        return ()


class Player(Engine):
    """Makes sound heard: a loudspeaker, a file, nothing at all."""

    kind = "player"

    @abstractmethod
    async def play(self, audio: Audio) -> None:
        """Play it to its end. Cancelling ends it at once. Several may play at a time."""

    def devices(self) -> Collection[str]:
        """What it could play on, on this machine, for people; also asked before `load`."""
        return ()
