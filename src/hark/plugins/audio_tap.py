"""What hears the sound of the microphone as it comes, before any wake word."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

from hark.model import Audio
from hark.model.frozen import EMPTY
from hark.plugins.plugin import Plugin


class AudioTap(Plugin):
    """The live side of the audio chain (TRANSFORM-1 §3.1): it hears everything, from a microphone and a file alike.

    It never delays what is recorded: a tap that is slower than the sound gets longer chunks, and when several seconds
    wait for it, the oldest are dropped and counted. It hears nothing while the listener is asleep, unless a wake word
    can end the sleep.
    """

    @abstractmethod
    def hear(self, audio: Audio, ctx: SoundContext) -> Awaitable[None] | None:
        """Hear the next chunk: 16 kHz, 16 bit, one channel, of any length. May be `async def`.

        Calls come one at a time and in order. What it raises is logged, and the next chunk comes nevertheless.
        """

    def reset(self) -> None:
        """The sound has a hole: what comes now does not follow what was heard before. Called before that chunk."""


class SoundContext(Protocol):
    """What an `AudioTap` can do about a chunk. Usable from any thread, also after `hear` returned."""

    @property
    def seconds(self) -> float:
        """Seconds of sound before this chunk, since the listener was started."""

    @property
    def dropped(self) -> float:
        """Seconds of sound this tap has missed because it was too slow."""

    @property
    def is_recording(self) -> bool:
        """Whether a command was being recorded when this chunk came."""

    def emit(self, topic: str, data: Mapping[str, Any] = EMPTY) -> None:
        """Emit a Message of the device's session, stamped with the tap's id in `audio_transformer_ids`."""

    def listen(self, lang: str | None = None) -> None:
        """Start to record a command, as a wake word does, in this language if one is given.

        Nothing happens while a command is being recorded, or the listener is asleep.
        """
