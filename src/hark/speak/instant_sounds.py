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
from hark.speak.session_queue import SessionQueues
from hark.speak.sounds import SoundError, SoundLoader, SoundRequest, requested
from hark.spec import topics

Earcon = Literal["listening", "done", "error"]

RATE: Final = 22_050
_LOUDNESS: Final = 0.22
"""Of full scale: they should be noticed, not startle."""

_NOTES: Final[dict[Earcon, tuple[tuple[float, float, float], ...]]] = {
    # When a note begins, how long it sounds, its pitch in Hertz.
    "listening": ((0.0, 0.14, 587.33), (0.07, 0.2, 880.0)),
    "done": ((0.0, 0.14, 880.0), (0.07, 0.2, 587.33)),
    "error": ((0.0, 0.18, 311.13), (0.13, 0.26, 233.08)),
}


@lru_cache(maxsize=len(_NOTES))
def earcon(name: Earcon) -> Audio:
    """Two notes: rising when a recording starts, falling when it ends, low when recognition failed."""
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
    """Like a struck bar: attack within 10 ms, decay to silence, a little of its octave."""
    attack = min(1.0, at / 0.01)
    decay = exp(-5.0 * at / seconds) * min(1.0, (seconds - at) / 0.02)
    angle = 2 * pi * pitch * at
    return attack * decay * (sin(angle) + 0.18 * sin(2 * angle))


log = logging.getLogger("hark.speak")

EARCONS: Final[dict[str, Earcon]] = {
    topics.LISTENER_RECORD_STARTED: "listening",
    topics.LISTENER_RECORD_ENDED: "done",
    topics.STT_FAILED: "error",
}
"""The earcon for each topic."""


class InstantSounds:
    """Plays instant sounds, `most` at a time. Only closing the speaker stops them."""

    def __init__(
        self,
        loudspeaker: Loudspeaker,
        sounds: SoundLoader,
        queues: SessionQueues,
        hears: Callable[[str], bool],
        most: int,
    ) -> None:
        self._loudspeaker = loudspeaker
        self._sounds = sounds
        self._queues = queues
        self._hears = hears
        self._most = most
        self._playing = 0

    def play(self, message: Message) -> None:
        """`ovos.audio.play_sound`, for a session that can hear it."""
        if not self._hears(message.session_id):
            return
        try:
            self._start(requested(message), message)
        except SoundError as error:
            log.warning("dropped %s: %s", message.type, error)

    def play_earcon(self, message: Message) -> None:
        if self._hears(message.session_id):
            self._start(earcon(EARCONS[message.type]), message)

    def _start(self, sound: SoundRequest | Audio, message: Message) -> None:
        if self._playing >= self._most:
            log.warning("dropped %s: %d instant sounds are playing already", message.type, self._playing)
            return
        self._playing += 1
        task = self._queues.spawn(self._play(sound, message), f"play an instant sound for {message.session_id}")
        task.add_done_callback(self._ended)

    def _ended(self, _task: object) -> None:
        self._playing -= 1

    async def _play(self, sound: SoundRequest | Audio, message: Message) -> None:
        try:
            audio = sound if isinstance(sound, Audio) else await self._sounds.load(sound)
        except SoundError as error:
            log.warning("dropped %s: %s", message.type, error)
            return
        await self._loudspeaker.play(audio, _ignore)


def _ignore(_who: str, _how: str, _seconds: float, _why: str) -> None:
    """The runner logs a player's failures."""
