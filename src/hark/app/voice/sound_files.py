"""Recorded sound as a microphone, a player that keeps what it plays, and WAV output: for commands."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

from hark.errors import UserError
from hark.model import Audio
from hark.model.resample import resample_mono
from hark.model.wav import write_wav
from hark.plugins.engines import SAMPLE_RATE, Microphone, Player

_BLOCK: Final = SAMPLE_RATE // 10 * 2
"""Bytes in a block: a tenth of a second."""


class RecordedMicrophone(Microphone):
    """Gives recorded sound as fast as it is taken, once `go` is set."""

    id = "recorded"

    def __init__(self, audio: Audio) -> None:
        self._samples = resample_mono(audio, SAMPLE_RATE).samples
        self.go = asyncio.Event()

    async def blocks(self) -> AsyncIterator[bytes]:
        await self.go.wait()
        for start in range(0, len(self._samples), _BLOCK):
            yield self._samples[start : start + _BLOCK]


class CollectingPlayer(Player):
    """Plays nothing, takes no time, and keeps what it was given."""

    id = "kept"

    def __init__(self) -> None:
        self.sounds: list[Audio] = []

    async def play(self, audio: Audio) -> None:
        self.sounds.append(audio)

    def whole(self, pause: float = 0.25) -> Audio | None:
        """Everything in one piece, with a pause in between; None when there was nothing."""
        if not self.sounds:
            return None
        rate = max(audio.sample_rate for audio in self.sounds)
        silence = bytes(int(pause * rate) * 2)
        return Audio(silence.join(resample_mono(audio, rate).samples for audio in self.sounds), rate)


def progress() -> Callable[[str], None]:
    """Reports what takes long, on a terminal only: not where a program reads standard error."""
    if sys.stderr.isatty():
        return lambda line: print(f"hark: {line} ...", file=sys.stderr)
    return lambda _line: None


def save(audio: Audio, name: str) -> None:
    """Write a WAV file, or to standard output for `-`."""
    data = write_wav(audio)
    if name == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        Path(name).write_bytes(data)
    except OSError as error:
        raise UserError(f"{name}: cannot be written: {error.strerror}") from None
