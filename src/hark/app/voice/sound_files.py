"""Recorded sound as a microphone, a player that keeps what it plays, and WAV output: for commands."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

from hark.app.commands.common import complain
from hark.app.trouble import Trouble
from hark.model import Audio
from hark.model.resample import resample_mono
from hark.model.wav import write_wav
from hark.plugins.engines import SAMPLE_RATE, Microphone, Player

_BLOCK: Final = SAMPLE_RATE // 10 * 2
"""Bytes that are read at a time: a tenth of a second."""


class RecordedMicrophone(Microphone):
    """Plays a recording into the ears, as fast as they listen, once it is told to `go`."""

    id = "recorded"

    def __init__(self, audio: Audio) -> None:
        self._samples = resample_mono(audio, SAMPLE_RATE).samples
        self.go = asyncio.Event()

    async def blocks(self) -> AsyncIterator[bytes]:
        """As promised by `Microphone`."""
        await self.go.wait()
        for start in range(0, len(self._samples), _BLOCK):
            yield self._samples[start : start + _BLOCK]


class CollectingPlayer(Player):
    """Plays nothing and takes no time; keeps what it was to play."""

    id = "kept"

    def __init__(self) -> None:
        self.sounds: list[Audio] = []

    async def play(self, audio: Audio) -> None:
        """As promised by `Player`."""
        self.sounds.append(audio)

    def whole(self, pause: float = 0.25) -> Audio | None:
        """Everything in one piece, with a pause in between; None when there was nothing."""
        if not self.sounds:
            return None
        rate = max(audio.sample_rate for audio in self.sounds)
        silence = bytes(int(pause * rate) * 2)
        return Audio(silence.join(resample_mono(audio, rate).samples for audio in self.sounds), rate)


def progress() -> Callable[[str], None]:
    """Tells a person at the terminal what takes its time; a program that reads the errors is not bothered."""
    if sys.stderr.isatty():
        return lambda line: complain(f"{line} ...")
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
        raise Trouble(f"{name}: the sound cannot be written: {error.strerror}") from None
