"""Sounds that are played at once, over everything else, and to their end (AUDIO-1 §4.2); earcons among them."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Callable
from functools import lru_cache
from math import exp, pi, sin
from typing import Final, Literal

from hark.model import Audio, Message
from hark.model.audio import int16_bytes
from hark.speak.playback import Loudspeaker
from hark.speak.session_queue import Spawn
from hark.speak.sounds import SoundError, SoundLoader, SoundRequest, requested
from hark.spec import topics

Earcon = Literal["listening", "done", "error"]

RATE: Final = 22_050
_LOUDNESS: Final = 0.22
"""Of what is possible: they are there to be noticed, not to startle."""

_NOTES: Final[dict[Earcon, tuple[tuple[float, float, float], ...]]] = {
    # When a note begins, how long it sounds, its pitch in Hertz.
    "listening": ((0.0, 0.14, 587.33), (0.07, 0.2, 880.0)),
    "done": ((0.0, 0.14, 880.0), (0.07, 0.2, 587.33)),
    "error": ((0.0, 0.18, 311.13), (0.13, 0.26, 233.08)),
}


@lru_cache(maxsize=len(_NOTES))
def earcon(name: Earcon) -> Audio:
    """Two notes: rising while somebody is heard, falling when that is over, low when it came to nothing."""
    notes = _NOTES[name]
    length = max(begin + seconds for begin, seconds, _ in notes)
    mixed = [0.0] * int(length * RATE)
    for begin, seconds, pitch in notes:
        first = int(begin * RATE)
        for n in range(min(int(seconds * RATE), len(mixed) - first)):
            mixed[first + n] += _note(n / RATE, seconds, pitch)
    loudest = max(map(abs, mixed))
    return Audio(int16_bytes(array("h", (round(value / loudest * _LOUDNESS * 32_767) for value in mixed))), RATE)


def _note(at: float, seconds: float, pitch: float) -> float:
    """A struck bar: it swells within ten milliseconds, fades, and ends in silence; a hint of its octave."""
    swell = min(1.0, at / 0.01)
    fade = exp(-5.0 * at / seconds) * min(1.0, (seconds - at) / 0.02)
    angle = 2 * pi * pitch * at
    return swell * fade * (sin(angle) + 0.18 * sin(2 * angle))


log = logging.getLogger("hark.speak")

EARCONS: Final[dict[str, Earcon]] = {
    topics.LISTENER_RECORD_STARTED: "listening",
    topics.LISTENER_RECORD_ENDED: "done",
    topics.STT_FAILED: "error",
}
"""What is heard when."""


class InstantSounds:
    """Plays instant sounds. Nothing stops them but the end of the room; there may be `most` at a time."""

    def __init__(
        self, loudspeaker: Loudspeaker, sounds: SoundLoader, spawn: Spawn, serves: Callable[[str], bool], most: int
    ) -> None:
        self._loudspeaker = loudspeaker
        self._sounds = sounds
        self._spawn = spawn
        self._serves = serves
        self._most = most
        self._heard = 0

    def play(self, message: Message) -> None:
        """`ovos.audio.play_sound`, of a session that is heard here."""
        if not self._serves(message.session_id):
            return
        try:
            self._begin(requested(message), message)
        except SoundError as bad:
            log.warning("dropped %s: %s", message.type, bad)

    def signal(self, message: Message) -> None:
        """Play the earcon that goes with a Message."""
        if self._serves(message.session_id):
            self._begin(earcon(EARCONS[message.type]), message)

    def _begin(self, what: SoundRequest | Audio, message: Message) -> None:
        if self._heard >= self._most:
            log.warning("dropped %s: %d instant sounds are heard already", message.type, self._heard)
            return
        self._heard += 1
        task = self._spawn(self._play(what, message), f"play an instant sound for {message.session_id}")
        task.add_done_callback(self._over)

    def _over(self, _task: object) -> None:
        self._heard -= 1

    async def _play(self, what: SoundRequest | Audio, message: Message) -> None:
        try:
            audio = what if isinstance(what, Audio) else await self._sounds.get(what)
        except SoundError as bad:
            log.warning("dropped %s: %s", message.type, bad)
            return
        await self._loudspeaker.play(audio, _untold)


def _untold(_who: str, _how: str, _seconds: float, _why: str) -> None:
    """Whether a player failed, its host has told."""
