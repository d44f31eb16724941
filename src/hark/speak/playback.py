"""Playing sound with the first player that works."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Final

from hark.hosting import Engines, Loaded, Runner
from hark.model import Audio
from hark.model.audio import as_mono
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

    @property
    def usable(self) -> bool:
        """Whether any player works now."""
        return next(self._players.usable(), None) is not None

    joined = staticmethod(joined)

    async def play(self, audio: Audio, note: Note) -> bool:
        """Play it to its end; false when no player could."""
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
