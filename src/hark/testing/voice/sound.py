"""Sound with words written into its samples, for fake microphones and recognisers."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final

from hark.model.audio import int16_bytes, int16_samples
from hark.plugins.engines import SAMPLE_RATE

FRAME: Final = 32
"""Samples in which a word is written once; it is repeated for as long as it is spoken."""
BLOCK: Final = 512
_MARK: Final = 30_000
_BASE: Final = 10_000
_LONGEST: Final = FRAME - 3
_NUMBERS: Final = 5_000


class Scene:
    """A sound, described: `Scene().silence(1).says("hey jarvis").silence(0.5).says("what time is it")`."""

    def __init__(self) -> None:
        self._samples = array("h")
        self._words = 0

    @property
    def samples(self) -> bytes:
        """All of it, at 16 kHz."""
        return int16_bytes(self._samples)

    @property
    def seconds(self) -> float:
        """Its length."""
        return len(self._samples) / SAMPLE_RATE

    def silence(self, seconds: float) -> Scene:
        """Add silence."""
        self._samples.extend(array("h", bytes(2 * _blocks(seconds) * BLOCK)))
        return self

    def says(self, text: str, seconds_a_word: float = 0.25) -> Scene:
        """Add speech, without pauses between the words."""
        for word in text.split():
            self._words += 1
            frame = _written(word, self._words)
            self._samples.extend(frame * (_blocks(seconds_a_word) * BLOCK // FRAME))
        return self

    def noise(self, seconds: float) -> Scene:
        """Add sound as loud as a voice, without words."""
        self._samples.extend(array("h", [_BASE, -_BASE]) * (_blocks(seconds) * BLOCK // 2))
        return self

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """The sound in blocks of `size` samples."""
        samples = self.samples
        for at in range(0, len(samples), 2 * size):
            yield samples[at : at + 2 * size]


def frames(samples: bytes) -> Iterator[tuple[int, str] | None]:
    """For each run of equal frames, the number and text of the word in it, or None."""
    last = b""
    for at in range(0, len(samples) - 2 * FRAME + 1, 2 * FRAME):
        frame = samples[at : at + 2 * FRAME]
        if frame != last:
            last = frame
            yield _read(int16_samples(frame))


def words_in(samples: bytes) -> list[str]:
    """The words that are, at least in part, in some sound."""
    found: list[str] = []
    last = None
    for frame in frames(samples):
        if frame is not None and frame != last:
            last = frame
            found.append(frame[1])
    return found


def _blocks(seconds: float) -> int:
    return max(1, round(seconds * SAMPLE_RATE / BLOCK))


def _written(word: str, number: int) -> array[int]:
    letters = word.encode()
    if len(letters) > _LONGEST:
        raise ValueError(f"{word!r} is too long to be spoken")
    padding = [_BASE] * (_LONGEST - len(letters))
    return array("h", [_MARK, number % _NUMBERS + 1, len(letters), *(_BASE + 1 + byte for byte in letters), *padding])


def _read(frame: array[int]) -> tuple[int, str] | None:
    if frame[0] != _MARK or not 0 < frame[2] <= _LONGEST:
        return None
    letters = bytes(max(0, min(255, number - _BASE - 1)) for number in frame[3 : 3 + frame[2]])
    return frame[1], letters.decode(errors="replace")
