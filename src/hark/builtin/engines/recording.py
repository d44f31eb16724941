"""A WAV file that grows."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Final

from hark.model import Audio
from hark.model.audio import as_mono, int16_bytes, int16_samples
from hark.model.resample import resample
from hark.model.wav import write_wav

_HEADER: Final = len(write_wav(Audio(b"", 16_000)))


class Recording:
    """One WAV file, mono, 16 bits, which is complete after each `add`."""

    def __init__(self, path: Path, rate: int) -> None:
        self._rate = rate
        self._frames = 0
        self._file = path.open("w+b")
        self._write_header()

    def add(self, audio: Audio, seconds: float, at: float | None) -> None:
        """The first `seconds` of a sound, mixed in `at` seconds from the beginning, or put at the end."""
        if self._file.closed:
            return
        wanted = round(seconds * self._rate)
        numbers = int16_samples(resample(as_mono(audio), self._rate).samples)[:wanted]
        place = self._frames if at is None else round(at * self._rate)
        there = self._read(place, len(numbers))
        mixed = array("h", (max(-32_768, min(32_767, a + b)) for a, b in zip(numbers, there, strict=True)))
        self._write(place, mixed if any(there) else numbers)
        self._write_header()

    def close(self) -> None:
        """No more is to come."""
        self._file.close()

    def _read(self, place: int, count: int) -> array[int]:
        self._file.seek(_HEADER + 2 * place)
        found = self._file.read(2 * max(0, min(count, self._frames - place)))
        return int16_samples(found.ljust(2 * count, b"\0"))

    def _write(self, place: int, numbers: array[int]) -> None:
        # Beyond its end, a file reads as zeros, which is silence.
        self._file.seek(_HEADER + 2 * place)
        self._file.write(int16_bytes(numbers))
        self._frames = max(self._frames, place + len(numbers))

    def _write_header(self) -> None:
        header = bytearray(write_wav(Audio(b"", self._rate)))
        size = 2 * self._frames
        header[4:8] = (len(header) - 8 + size).to_bytes(4, "little")
        header[-4:] = size.to_bytes(4, "little")
        self._file.seek(0)
        self._file.write(header)
        self._file.flush()
