"""WAV files, as bytes."""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterator
from typing import Final

from hark.model.audio import Audio, as_16_bits, int16_bytes

_PCM: Final = 1
_FLOAT: Final = 3
_EXTENSIBLE: Final = 0xFFFE
_FORMAT: Final = struct.Struct("<HHIIHH")
_UNKNOWN: Final = (0, 0xFFFFFFFF)
"""Sizes that are written for streams of unknown length."""


class MalformedWav(ValueError):
    """These bytes are not a WAV file that can be read; the message says why."""


def read_wav(data: bytes) -> Audio:
    """The sound in a WAV file, converted to samples of 16 bits. Raises `MalformedWav`.

    A truncated file is read as far as it goes.
    """
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise MalformedWav("it does not begin as a WAV file does")
    form: tuple[int, int, int, int] | None = None
    for name, body in _chunks(data):
        if name == b"fmt ":
            form = _form(body)
        elif name == b"data":
            if form is None:
                raise MalformedWav("its samples come before their format")
            return _sound(body, *form)
    raise MalformedWav("it has no samples")


def write_wav(audio: Audio) -> bytes:
    """A WAV file with this sound."""
    frame = audio.sample_width * audio.channels
    form = _FORMAT.pack(
        _PCM, audio.channels, audio.sample_rate, audio.sample_rate * frame, frame, 8 * audio.sample_width
    )
    samples = audio.samples + b"\0" * (len(audio.samples) % 2)
    chunks = b"WAVE" + _chunk(b"fmt ", form) + struct.pack("<4sI", b"data", len(audio.samples)) + samples
    return _chunk(b"RIFF", chunks)


def wav_header(audio: Audio) -> bytes:
    """The header of a WAV stream of unknown length, in the format of `audio`."""
    whole = write_wav(Audio(b"", audio.sample_rate, audio.sample_width, audio.channels))
    unknown = struct.pack("<I", _UNKNOWN[1])
    return whole[:4] + unknown + whole[8:-4] + unknown


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack("<4sI", name, len(body)) + body


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 12
    while at + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, at)
        at += 8
        if name == b"data" and size in _UNKNOWN:
            size = len(data) - at
        yield name, data[at : at + size]
        at += size + size % 2


def _form(body: bytes) -> tuple[int, int, int, int]:
    """The kind of samples, channels, rate and width."""
    if len(body) < _FORMAT.size:
        raise MalformedWav("its format is cut off")
    kind, channels, rate, _per_second, _frame, bits = _FORMAT.unpack_from(body)
    if kind == _EXTENSIBLE and len(body) >= 26:
        kind = struct.unpack_from("<H", body, 24)[0]
    if kind not in (_PCM, _FLOAT):
        raise MalformedWav(f"its samples are compressed (format {kind})")
    if not channels or not rate or bits not in ((32, 64) if kind == _FLOAT else (8, 16, 24, 32)):
        raise MalformedWav(f"it has {channels} channels, {rate} samples a second and {bits} bits")
    return kind, channels, rate, bits // 8


def _sound(body: bytes, kind: int, channels: int, rate: int, width: int) -> Audio:
    body = body[: len(body) - len(body) % (width * channels)]
    if kind == _PCM:
        return as_16_bits(Audio(body, rate, width, channels))
    numbers = array("f" if width == 4 else "d")
    numbers.frombytes(body)
    if sys.byteorder == "big":
        numbers.byteswap()
    return Audio(int16_bytes(array("h", map(_short, numbers))), rate, 2, channels)


def _short(number: float) -> int:
    if number != number:  # NaN counts as silence
        return 0
    return round(max(-1.0, min(1.0, number)) * 32_767)
