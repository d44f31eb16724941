"""Playing sound with the first player that works."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Final

import msgspec

from hark.hosting import Engines, Loaded, Runner
from hark.model import Audio
from hark.model.audio import as_16_bits, as_mono, int16_bytes, int16_samples
from hark.model.resample import resample
from hark.plugins.engines import Player


def form(audio: Audio) -> tuple[int, int, int]:
    """The format of a sound, without the sound."""
    return audio.sample_rate, audio.sample_width, audio.channels


def joined(pieces: Iterable[Audio]) -> list[Audio]:
    """The same sound in as few pieces as there are changes of format."""
    return [Audio(b"".join(one.samples for one in same), *key) for key, same in groupby(pieces, form)]


def as_one(pieces: list[Audio]) -> Audio:
    """One sound of at least one piece, in the format of the first where they differ."""
    together = joined(pieces)
    if len(together) == 1:
        return together[0]
    rate = together[0].sample_rate
    return joined(resample(as_mono(piece), rate) for piece in together)[0]


USUAL_LEVEL: Final = 70
"""The level of the volume, from 0 to 100, at which sound is played as it was made."""
_TWICE: Final = 15
"""Levels of difference that make the amplitude twice as large."""


def gain_of(level: float) -> float:
    """The factor of the amplitude at a level of the volume: none at 0, one at the usual level."""
    return 2.0 ** ((level - USUAL_LEVEL) / _TWICE) if level > 0 else 0.0


def amplified(audio: Audio, gain: float) -> Audio:
    """The same sound, louder or softer, and never louder than the format can hold."""
    audio = as_16_bits(audio)
    numbers = int16_samples(audio.samples)
    peak = max(max(numbers, default=0), -min(numbers, default=0))
    gain = min(gain, _FULL / peak) if peak else 0.0
    samples = int16_bytes(array("h", [round(number * gain) for number in numbers]))
    return msgspec.structs.replace(audio, samples=samples)


_FULL: Final = 32_767
_SLOW: Final = 1.5
_GRACE: Final = 10.0
"""A player may take `_SLOW` times as long as the sound lasts, and `_GRACE` seconds more."""


Note = Callable[[str, str, float, str], None]
"""Called for each player that was tried: player, outcome, seconds, reason."""


class Loudspeaker:
    """Plays with the first player that works; when one fails, the next one plays the sound from its beginning."""

    def __init__(self, players: Engines[Player], runner: Runner) -> None:
        self._players = players
        self._runner = runner
        self.gain = 1.0
        """The factor of the amplitude of everything that is played."""

    @property
    def usable(self) -> bool:
        """Whether any player works now."""
        return next(self._players.usable(), None) is not None

    joined = staticmethod(joined)

    async def play(self, audio: Audio, note: Note) -> bool:
        """Play it to its end; false when no player could."""
        if self.gain != 1.0:
            audio = await asyncio.to_thread(amplified, audio, self.gain)
        for entry in list(self._players.usable()):
            # One limit for all sounds would cut off the long ones.
            timed = Loaded(entry.plugin, entry.call, limit=audio.seconds * _SLOW + _GRACE)
            outcome = await self._runner.call(timed, audio)
            if outcome.error is None:
                entry.succeeded()
                note(entry.id, "played", outcome.seconds, "")
                return True
            entry.failed(self._runner.clock.monotonic())
            note(entry.id, "late" if outcome.late else "failed", outcome.seconds, outcome.failure)
        return False
