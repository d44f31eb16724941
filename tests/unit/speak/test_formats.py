"""What the bytes of a sound are."""

from __future__ import annotations

import sys
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hark.model import Audio
from hark.model.wav import write_wav
from hark.speak.instant_sounds import earcon
from hark.speak.sounds import SoundError, decode

SOUNDS = Path(__file__).parent / "sounds"
BELL = earcon("listening")


def unlikeness(one: Audio, other: Audio) -> float:
    a, b = array("h", one.samples), array("h", other.samples)
    return sum(abs(x - y) for x, y in zip(a, b, strict=True)) / sum(map(abs, b))


@pytest.mark.parametrize(("name", "loss"), [("bell.flac", 0.0), ("bell.ogg", 0.3), ("bell.mp3", 0.3)])
def test_packed_sounds_are_unpacked(name: str, loss: float) -> None:
    audio = decode((SOUNDS / name).read_bytes(), "audio/wav")
    assert (audio.sample_rate, audio.channels, len(audio.samples)) == (22_050, 1, len(BELL.samples))
    assert unlikeness(audio, BELL) <= loss


@pytest.mark.parametrize("name", ["bell.flac", "bell.ogg", "bell.mp3"])
def test_without_the_library_it_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "miniaudio", None)
    with pytest.raises(SoundError, match=r"pip install 'hark-voice\[sounds\]'"):
        decode((SOUNDS / name).read_bytes())


@pytest.mark.parametrize("name", ["bell.flac", "bell.ogg", "bell.mp3", "bell.wav"])
def test_what_lasts_too_long_is_refused(name: str) -> None:
    data = write_wav(BELL) if name == "bell.wav" else (SOUNDS / name).read_bytes()
    with pytest.raises(SoundError, match=r"more than 0\.1 s"):
        decode(data, longest=0.1)


def test_raw_streams() -> None:
    samples = b"\x01\x00\x02\x00\x03\x00\x04\x00"
    assert decode(samples, "audio/pcm", 16_000) == Audio(samples, 16_000)
    assert decode(samples + b"\x05", "AUDIO/PCM; channels=2", 16_000.0) == Audio(samples, 16_000, 2, 2)
    assert decode(samples, "audio/L16", 8_000) == Audio(b"\x00\x01\x00\x02\x00\x03\x00\x04", 8_000)
    assert decode(b"\xff\xfb\x90\x00", "audio/pcm", 8_000) == Audio(b"\xff\xfb\x90\x00", 8_000), "which is no MP3"


@pytest.mark.parametrize(
    ("data", "mime", "rate"),
    [
        (b"", "audio/pcm", 8_000),
        (b"\0\0", "audio/pcm", 0),
        (b"\0\0", "audio/pcm", 8_000.5),
        (b"\0\0", "audio/pcm", True),
        (b"\0\0", "audio/pcm", float("nan")),
        (b"\0\0", "audio/pcm; channels=9", 8_000),
        (b"\0\0", "audio/opus", 8_000),
        (b"\0\0", "", 8_000),
        (b"\0\0", None, 8_000),
        (b"RIFF\0\0\0\0WAVE", "audio/pcm", 8_000),
        (b"fLaC" + bytes(40), None, None),
        (b"OggS" + bytes(40), None, None),
        (b"ID3" + bytes(40), None, None),
        (b"\xff\xfb\x90\x00", None, None),
        (write_wav(Audio(b"", 8_000)), None, None),
    ],
)
def test_what_cannot_be_played_is_refused(data: bytes, mime: str | None, rate: object) -> None:
    with pytest.raises(SoundError):
        decode(data, mime, rate)


HEADS = [
    b"",
    b"fLaC",
    b"OggS",
    b"ID3",
    b"\xff\xfb\x90\x44",
    b"RIFF\0\0\0\0WAVE",
    (SOUNDS / "bell.ogg").read_bytes()[:300],
]


@given(st.sampled_from(HEADS), st.binary(max_size=300), st.sampled_from([None, "audio/pcm", "x", "audio/pcm\r\nx: y"]))
def test_any_bytes_are_a_sound_or_refused(head: bytes, rest: bytes, mime: str | None) -> None:
    try:
        audio = decode(head + rest, mime, 8_000)
    except SoundError:
        return
    assert audio.defect() is None
