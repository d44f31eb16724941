"""From the bytes of a sound to the sound (AUDIO-1 §4.0): what the bytes are decides, not what is said of them."""

from __future__ import annotations

from array import array
from email.message import Message as Headers
from importlib import import_module
from typing import Any, Final

from hark.model import Audio
from hark.model.wav import MalformedWav, read_wav

_PACKED: Final = {b"fLaC": "flac", b"OggS": "vorbis", b"ID3": "mp3"}
_RAW: Final = frozenset({"audio/pcm", "audio/x-pcm", "audio/raw", "audio/x-raw", "audio/l16"})
_RATES: Final = range(1_000, 384_001)
_AT_ONCE: Final = 65_536
"""Frames that are unpacked before looking whether it is too much."""


class BadSound(ValueError):
    """Nothing can be played of this; the text says why."""


def decode(data: bytes, mime: str | None = None, rate: object = None, longest: float = 600.0) -> Audio:
    """The sound in a WAV, MP3, OGG or FLAC file, or in a raw stream whose `mime` and `rate` are given."""
    kind, parameters = _kind(mime)
    container = _container(data, kind)
    if container == "wav":
        try:
            audio = read_wav(data)
        except MalformedWav as malformed:
            raise BadSound(f"a WAV file that cannot be read: {malformed}") from None
    elif container:
        audio = _unpacked(data, container, longest)
    else:
        audio = _raw(data, kind, rate, parameters)
    if not audio.samples:
        raise BadSound("there is no sound in it")
    if audio.seconds > longest:
        raise BadSound(f"it lasts {audio.seconds:.0f} s, and more than {longest:g} s are not played")
    return audio


def is_wav(data: bytes) -> bool:
    """Whether these bytes begin as a WAV file does."""
    return data[:4] == b"RIFF" and data[8:12] == b"WAVE"


def _kind(mime: str | None) -> tuple[str, dict[str, str]]:
    if mime is None:
        return "", {}
    headers = Headers()
    headers["content-type"] = mime.replace("\r", " ").replace("\n", " ")
    return headers.get_content_type(), dict(headers.get_params() or ())


def _container(data: bytes, kind: str) -> str:
    if is_wav(data):
        return "wav"
    for magic, container in _PACKED.items():
        if data.startswith(magic):
            return container
    # Frames of MP3 without a title in front begin with eleven ones, and so may the samples of a raw stream.
    frame = len(data) > 2 and data[0] == 0xFF and data[1] & 0xE0 == 0xE0 and data[1] & 0x06 and data[2] & 0xF0 != 0xF0
    return "mp3" if frame and kind not in _RAW else ""


def _unpacked(data: bytes, container: str, longest: float) -> Audio:
    try:
        miniaudio: Any = import_module("miniaudio")
    except ImportError:
        raise BadSound(f"to play {container} needs miniaudio: pip install 'hark[sounds]'") from None
    try:
        info = getattr(miniaudio, f"{container}_get_info")(data)
        channels, rate = min(info.nchannels, 2), info.sample_rate
        samples = array("h")
        most = int(longest * rate * channels) + 1
        for some in miniaudio.stream_memory(
            data,
            nchannels=channels,
            sample_rate=rate,
            frames_to_read=_AT_ONCE,
            output_format=miniaudio.SampleFormat.SIGNED16,
        ):
            samples.extend(some)
            if len(samples) > most:  # a few bytes can stand for hours of silence
                break
    except (miniaudio.MiniaudioError, ZeroDivisionError) as error:
        raise BadSound(f"{container} that cannot be read: {error}") from None
    return Audio(samples.tobytes(), rate, 2, channels)


def _raw(data: bytes, kind: str, rate: object, parameters: dict[str, str]) -> Audio:
    if kind not in _RAW or rate is None:
        raise BadSound("no WAV, MP3, OGG or FLAC; and a raw stream needs mime (audio/pcm) and sample_rate")
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or rate not in _RATES:
        raise BadSound(f"{rate!r} is no sample_rate")
    channels = parameters.get("channels", "1")
    if channels not in ("1", "2"):
        raise BadSound(f"{channels!r} channels")
    frame = 2 * int(channels)
    samples = data[: len(data) - len(data) % frame]
    if kind == "audio/l16":  # which is the other way round, as everything on networks once was
        numbers = array("h", samples)
        numbers.byteswap()
        samples = numbers.tobytes()
    return Audio(samples, int(rate), 2, int(channels))
