"""Sounds that other programs have played: `ovos.audio.queue` and `ovos.audio.play_sound` (AUDIO-1 §§4.0-4.2)."""

from __future__ import annotations

import base64
import binascii
import logging
from array import array
from email.message import Message as Headers
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, unquote_to_bytes, urlsplit

import msgspec

from hark import hints
from hark.hosting import Runner
from hark.model import Audio, Message
from hark.model.wav import MalformedWav, read_wav
from hark.speak.options import SpeakOptions
from hark.speak.response import SpeechChains
from hark.speak.session_queue import ItemOutcome, QueueItem, SessionQueue

_PACKED: Final = {b"fLaC": "flac", b"OggS": "vorbis", b"ID3": "mp3"}
_RAW: Final = frozenset({"audio/pcm", "audio/x-pcm", "audio/raw", "audio/x-raw", "audio/l16"})
_RATES: Final = range(1_000, 384_001)
_AT_ONCE: Final = 65_536
"""Frames that are decoded before the length is checked again."""


class SoundError(ValueError):
    """The sound cannot be played; the text says why."""


def decode(data: bytes, mime: str | None = None, rate: object = None, longest: float = 600.0) -> Audio:
    """The sound in a WAV, MP3, OGG or FLAC file, or in a raw stream whose `mime` and `rate` are given."""
    kind, parameters = _kind(mime)
    container = _container(data, kind)
    if container == "wav":
        try:
            audio = read_wav(data)
        except MalformedWav as malformed:
            raise SoundError(f"a WAV file that cannot be read: {malformed}") from None
    elif container:
        audio = _decoded(data, container, longest)
    else:
        audio = _raw(data, kind, rate, parameters)
    if not audio.samples:
        raise SoundError("it is empty")
    if audio.seconds > longest:
        raise SoundError(f"it lasts {audio.seconds:.0f} s, and more than {longest:g} s are not played")
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
    # MP3 without an ID3 header begins with eleven set bits, and so may the samples of a raw stream.
    frame = len(data) > 2 and data[0] == 0xFF and data[1] & 0xE0 == 0xE0 and data[1] & 0x06 and data[2] & 0xF0 != 0xF0
    return "mp3" if frame and kind not in _RAW else ""


def _decoded(data: bytes, container: str, longest: float) -> Audio:
    try:
        miniaudio: Any = import_module("miniaudio")
    except ImportError:
        raise SoundError(f"playing {container} needs miniaudio: {hints.install_extra('sounds')}") from None
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
        raise SoundError(f"{container} that cannot be read: {error}") from None
    return Audio(samples.tobytes(), rate, 2, channels)


def _raw(data: bytes, kind: str, rate: object, parameters: dict[str, str]) -> Audio:
    if kind not in _RAW or rate is None:
        raise SoundError("not WAV, MP3, OGG or FLAC; a raw stream needs mime (audio/pcm) and sample_rate")
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or rate not in _RATES:
        raise SoundError(f"{rate!r} is not a sample_rate")
    channels = parameters.get("channels", "1")
    if channels not in ("1", "2"):
        raise SoundError(f"{channels!r} channels are not supported")
    frame = 2 * int(channels)
    samples = data[: len(data) - len(data) % frame]
    if kind == "audio/l16":  # big-endian
        numbers = array("h", samples)
        numbers.byteswap()
        samples = numbers.tobytes()
    return Audio(samples, int(rate), 2, int(channels))


log = logging.getLogger("hark.speak")

_SMALL: Final = 65_536
"""Bytes up to which a WAV file is decoded on the loop: a short sound should not wait for a thread."""


class SoundRequest(msgspec.Struct, frozen=True):
    """A sound to be played: where it is, or its data."""

    uri: str | None
    audio: str | None
    mime: str | None = None
    sample_rate: int | float | None = None


def requested(message: Message) -> SoundRequest:
    """What a Message asks for; raises `SoundError` when it is malformed."""
    data = message.data
    uri, audio, mime, rate = (data.get(name) for name in ("uri", "audio", "mime", "sample_rate"))
    if (uri is None) == (audio is None):
        raise SoundError("it needs either uri or audio")
    if not isinstance(audio if uri is None else uri, str):
        raise SoundError("uri and audio must be texts")
    if not isinstance(mime, str | None) or isinstance(rate, bool) or not isinstance(rate, int | float | None):
        raise SoundError("mime must be a text and sample_rate a number")
    return SoundRequest(uri, audio, mime, rate)


class SoundLoader:
    """Loads sounds from Messages and from the configured folders. Nothing is fetched over the network."""

    def __init__(self, options: SpeakOptions, runner: Runner) -> None:
        self._folders = options.sound_folders
        self._largest = options.largest_sound
        self._longest = options.longest_sound
        self._runner = runner

    async def load(self, request: SoundRequest) -> Audio:
        """Raises `SoundError`."""
        if request.audio is not None and len(request.audio) <= _SMALL:
            data = self._base64(request.audio)
            if is_wav(data):
                return decode(data, longest=self._longest)
        try:
            return await self._runner.off_loop(lambda: self._load(request))
        except OSError as error:  # also when the disk takes too long
            raise SoundError(f"it cannot be read: {error.strerror or type(error).__name__}") from None

    def _load(self, request: SoundRequest) -> Audio:
        mime = request.mime
        if request.audio is not None:
            data = self._base64(request.audio)
        else:
            data, stated = self._from_uri(request.uri or "")
            mime = mime or stated
        return decode(data, mime, request.sample_rate, self._longest)

    def _base64(self, text: str) -> bytes:
        if len(text) > self._largest * 4 // 3 + 4:
            raise SoundError(f"it has more than {self._largest} bytes")
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            raise SoundError(f"its audio is not base64: {error}") from None

    def _from_uri(self, uri: str) -> tuple[bytes, str | None]:
        try:
            parts = urlsplit(uri)
        except ValueError as error:
            raise SoundError(f"{uri[:100]!r} is not a URI: {error}") from None
        if parts.scheme == "data":
            return self._data_uri(uri)
        if parts.scheme == "file" and parts.netloc in ("", "localhost"):
            return self._file(unquote(parts.path)), None
        if not parts.scheme and not parts.netloc:
            return self._file(uri), None
        raise SoundError(f"{uri[:100]!r}: only files in [voice] sound_folders and data: URIs are played")

    def _data_uri(self, uri: str) -> tuple[bytes, str | None]:
        head, comma, body = uri.removeprefix("data:").partition(",")
        if not comma:
            raise SoundError("a data: URI without data")
        mime = head.removesuffix(";base64")
        return self._base64(unquote(body)) if mime != head else unquote_to_bytes(body), mime or None

    def _file(self, name: str) -> bytes:
        if "\0" in name or not name:
            raise SoundError(f"{name[:100]!r} is not a file")
        for folder in self._folders:
            home = folder.resolve()
            path = (home / Path(name)).resolve()
            if path.is_relative_to(home) and path.is_file():
                if path.stat().st_size > self._largest:
                    raise SoundError(f"{name[:100]} has more than {self._largest} bytes")
                return path.read_bytes()
        raise SoundError(f"{name[:100]} is in none of [voice] sound_folders")


class QueuedSound(QueueItem):
    """A sound that is played in its turn between responses."""

    def __init__(self, message: Message, request: SoundRequest, sounds: SoundLoader, chains: SpeechChains) -> None:
        super().__init__(message)
        self._request = request
        self._sounds = sounds
        self._chains = chains

    async def make(self, queue: SessionQueue) -> ItemOutcome:
        try:
            audio = await self._sounds.load(self._request)
        except SoundError as error:
            log.warning("a sound of %s cannot be played: %s", self.origin.type, error)
            return "failed"
        await queue.offer(self, audio)
        return "rendered"

    def note_playback(self, player: str, how: str, seconds: float, why: str) -> None:
        self._chains.trace_of(self.origin).step("play", player, how, seconds, why or "a sound")
