"""Sounds that others have played: `ovos.audio.queue` and `ovos.audio.play_sound` (AUDIO-1 §§4.1, 4.2)."""

from __future__ import annotations

import base64
import binascii
import logging
from pathlib import Path
from typing import Final
from urllib.parse import unquote, unquote_to_bytes, urlsplit

import msgspec

from hark.hosting import Runner
from hark.model import Audio, Message
from hark.speak.formats import BadSound, decode, is_wav
from hark.speak.item import Item, Outcome
from hark.speak.off_loop import off_loop
from hark.speak.options import SpeakOptions
from hark.speak.run import Run
from hark.speak.wording import Wording

log = logging.getLogger("hark.speak")

_SMALL: Final = 65_536
"""Bytes up to which a WAV file is read on the spot: an earcon should not wait for a thread."""


class Request(msgspec.Struct, frozen=True):
    """A sound that somebody wants played: where it is, or what it is."""

    uri: str | None
    audio: str | None
    mime: str | None = None
    sample_rate: int | float | None = None


def requested(message: Message) -> Request:
    """What a Message asks for; raises `BadSound` when that is not clear."""
    data = message.data
    uri, audio, mime, rate = (data.get(name) for name in ("uri", "audio", "mime", "sample_rate"))
    if (uri is None) == (audio is None):
        raise BadSound("it needs one of uri and audio, and not both")
    if not isinstance(audio if uri is None else uri, str):
        raise BadSound("uri and audio are texts")
    if not isinstance(mime, str | None) or isinstance(rate, bool) or not isinstance(rate, int | float | None):
        raise BadSound("mime is a text and sample_rate a number")
    return Request(uri, audio, mime, rate)


class Sounds:
    """Gets sounds, from Messages and from the folders that are open to them. Nothing is fetched over the network."""

    def __init__(self, options: SpeakOptions, runner: Runner) -> None:
        self._folders = options.sound_folders
        self._largest = options.largest_sound
        self._longest = options.longest_sound
        self._runner = runner

    async def get(self, request: Request) -> Audio:
        """The sound; raises `BadSound`."""
        if request.audio is not None and len(request.audio) <= _SMALL:
            data = self._plain(request.audio)
            if is_wav(data):
                return decode(data, longest=self._longest)
        try:
            return await off_loop(self._runner, lambda: self._get(request))
        except OSError as error:  # also when the disk takes too long
            raise BadSound(f"it cannot be read: {error.strerror or type(error).__name__}") from None

    def _get(self, request: Request) -> Audio:
        mime = request.mime
        if request.audio is not None:
            data = self._plain(request.audio)
        else:
            data, stated = self._fetched(request.uri or "")
            mime = mime or stated
        return decode(data, mime, request.sample_rate, self._longest)

    def _plain(self, text: str) -> bytes:
        if len(text) > self._largest * 4 // 3 + 4:
            raise BadSound(f"it has more than {self._largest} bytes")
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            raise BadSound(f"its audio is no base64: {error}") from None

    def _fetched(self, uri: str) -> tuple[bytes, str | None]:
        try:
            parts = urlsplit(uri)
        except ValueError as error:
            raise BadSound(f"{uri[:100]!r} is no address: {error}") from None
        if parts.scheme == "data":
            return self._inline(uri)
        if parts.scheme == "file" and parts.netloc in ("", "localhost"):
            return self._file(unquote(parts.path)), None
        if not parts.scheme and not parts.netloc:
            return self._file(uri), None
        raise BadSound(f"{uri[:100]!r}: only files in the folders for sounds, and data: addresses, are played")

    def _inline(self, uri: str) -> tuple[bytes, str | None]:
        head, comma, body = uri.removeprefix("data:").partition(",")
        if not comma:
            raise BadSound("a data: address without data")
        mime = head.removesuffix(";base64")
        return self._plain(unquote(body)) if mime != head else unquote_to_bytes(body), mime or None

    def _file(self, name: str) -> bytes:
        if "\0" in name or not name:
            raise BadSound(f"{name[:100]!r} is no file")
        for folder in self._folders:
            home = folder.resolve()
            path = (home / Path(name)).resolve()
            if path.is_relative_to(home) and path.is_file():
                if path.stat().st_size > self._largest:
                    raise BadSound(f"{name[:100]} has more than {self._largest} bytes")
                return path.read_bytes()
        raise BadSound(f"{name[:100]} is in none of the folders for sounds")


class Sound(Item):
    """A sound that waits for its turn between responses."""

    def __init__(self, message: Message, request: Request, sounds: Sounds, wording: Wording) -> None:
        super().__init__(message)
        self._request = request
        self._sounds = sounds
        self._wording = wording

    async def make(self, run: Run) -> Outcome:
        """As promised by `Item`."""
        try:
            audio = await self._sounds.get(self._request)
        except BadSound as bad:
            log.warning("a sound of %s cannot be played: %s", self.origin.type, bad)
            return "failed"
        await run.offer(self, audio)
        return "rendered"

    def note(self, who: str, how: str, seconds: float, why: str) -> None:
        """As promised by `Item`."""
        self._wording.trace_of(self.origin).step("play", who, how, seconds, why or "a sound")
