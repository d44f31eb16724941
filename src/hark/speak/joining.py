"""Pieces of sound put together."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from hark.model import Audio
from hark.model.audio import as_mono
from hark.model.resample import resample


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
