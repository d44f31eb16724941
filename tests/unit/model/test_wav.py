"""WAV files, read and written."""

from __future__ import annotations

import io
import struct
import wave
from array import array

import pytest

from hark.model import Audio
from hark.model.wav import MalformedWav, read_wav, wav_header, write_wav

SOUND = Audio(array("h", [0, 1, -1, 32_767, -32_768, 500]).tobytes(), 16_000)


def form(kind: int, channels: int, bits: int, rate: int = 8_000, more: bytes = b"") -> bytes:
    frame = channels * bits // 8
    return struct.pack("<HHIIHH", kind, channels, rate, rate * frame, frame, bits) + more


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"".join(struct.pack("<4sI", name, len(data)) + data + b"\0" * (len(data) % 2) for name, data in chunks)
    return struct.pack("<4sI", b"RIFF", len(body) + 4) + b"WAVE" + body


def shorts(audio: Audio) -> list[int]:
    return array("h", audio.samples).tolist()


@pytest.mark.parametrize(
    "audio", [SOUND, Audio(SOUND.samples, 44_100, 2, 2), Audio(b"", 16_000)], ids=["mono", "stereo", "nothing"]
)
def test_what_was_written_is_read_again(audio: Audio) -> None:
    assert read_wav(write_wav(audio)) == audio


def test_other_programs_read_what_is_written() -> None:
    with wave.open(io.BytesIO(write_wav(Audio(SOUND.samples, 22_050, 2, 2)))) as file:
        assert (file.getnchannels(), file.getframerate(), file.getsampwidth()) == (2, 22_050, 2)
        assert file.readframes(100) == SOUND.samples


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_what_other_programs_wrote_is_read_as_16_bits(width: int) -> None:
    low = b"\0" * (width - 2)
    samples = b"\x00\x80\xff" if width == 1 else low + b"\x00\x80" + low + b"\x00\x00" + low + b"\x00\x7f"
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((1, width, 8_000, 0, "NONE", ""))
        writer.writeframes(samples)
    read = read_wav(file.getvalue())
    assert (read.sample_rate, read.sample_width, read.channels) == (8_000, 2, 1)
    assert shorts(read) == [-32_768, 0, 0x7F00]


def test_floats_are_read_and_kept_within_bounds() -> None:
    samples = struct.pack("<5f", 0.0, 1.0, -1.0, 7.0, float("nan"))
    assert shorts(read_wav(riff((b"fmt ", form(3, 1, 32)), (b"data", samples)))) == [0, 32_767, -32_767, 32_767, 0]
    assert shorts(read_wav(riff((b"fmt ", form(3, 1, 64)), (b"data", struct.pack("<d", 0.5))))) == [16_384]


def test_the_extensible_format_and_chunks_of_no_interest() -> None:
    more = struct.pack("<HHIH", 22, 16, 0, 1) + b"\0" * 14
    data = riff((b"LIST", b"odd"), (b"fmt ", form(0xFFFE, 1, 16, more=more)), (b"fact", b"1234"), (b"data", b"\1\0"))
    assert shorts(read_wav(data)) == [1]


def test_a_stream_of_unknown_length() -> None:
    assert read_wav(wav_header(SOUND) + SOUND.samples) == SOUND


def test_what_was_cut_off_is_read_as_far_as_it_goes() -> None:
    assert shorts(read_wav(write_wav(SOUND)[:-3])) == [0, 1, -1, 32_767]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "does not begin"),
        (b"RIFF\0\0\0\0WAVE", "no samples"),
        (riff((b"data", b"\0\0")), "before their format"),
        (riff((b"fmt ", b"\1\0"), (b"data", b"")), "cut off"),
        (riff((b"fmt ", form(85, 2, 16)), (b"data", b"")), r"compressed \(format 85\)"),
        (riff((b"fmt ", form(1, 0, 16)), (b"data", b"")), "0 channels"),
        (riff((b"fmt ", form(1, 1, 12)), (b"data", b"")), "12 bits"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, why: str) -> None:
    with pytest.raises(MalformedWav, match=why):
        read_wav(data)
