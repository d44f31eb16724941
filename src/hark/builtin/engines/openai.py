"""Recognisers and voices behind an OpenAI-compatible server, local or remote. No extra is needed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import ip_address
from typing import Annotated, Any, Final
from urllib.parse import SplitResult, urlsplit

from msgspec import Meta

from hark.model import Audio
from hark.model.wav import write_wav
from hark.plugins.engines import STTEngine, Transcript, TTSEngine, Unavailable

_MOST: Final = 64 * 1024 * 1024
"""The most bytes of an answer."""
_ERROR_LENGTH: Final = 300
"""Characters of an error that are passed on."""


class OpenAIServerError(Exception):
    """The server could not be reached, timed out or refused; the text says which."""


class OpenAIServer:
    """A server by its URL, such as "http://127.0.0.1:8000/v1". With the standard library: no redirects, no proxies.

    Raises `Unavailable` for a URL that cannot be used.
    """

    def __init__(self, url: str, key: str, timeout: float) -> None:
        parts = urlsplit(url.rstrip("/"))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Unavailable(f"{url!r} is not the URL of a server", 'such as: url = "http://127.0.0.1:8000/v1"')
        if key and parts.scheme == "http" and not _is_local(parts.hostname):
            raise Unavailable("the key would be sent unencrypted over the network", "use an https URL, or no key")
        self._parts = parts
        self._key = key
        self._timeout = timeout

    def __str__(self) -> str:
        return f"{self._parts.scheme}://{self._parts.netloc.rpartition('@')[2]}"

    @contextmanager
    def post(self, path: str, body: bytes, kind: str) -> Iterator[HTTPResponse]:
        """The answer to a POST, open for reading; raises `OpenAIServerError`."""
        headers = {"Content-Type": kind, "User-Agent": "hark"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        connection = self._connection(self._parts)
        try:
            connection.request("POST", self._parts.path + path, body, headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise OpenAIServerError(
                    f"{self} answered {answer.status} {answer.reason}: {_error_text(answer)}".rstrip(": ")
                )
            yield answer
        except TimeoutError:
            raise OpenAIServerError(f"{self} did not answer within {self._timeout:g} s") from None
        except (OSError, HTTPException) as error:
            raise OpenAIServerError(f"{self} cannot be reached: {str(error) or type(error).__name__}") from error
        finally:
            connection.close()

    def _connection(self, parts: SplitResult) -> HTTPConnection:
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        return kind(parts.hostname or "", parts.port, timeout=self._timeout)


def read_all(answer: HTTPResponse) -> bytes:
    """The body of an answer; raises `OpenAIServerError` when it is too large."""
    body = answer.read(_MOST + 1)
    if len(body) > _MOST:
        raise OpenAIServerError(f"its answer has more than {_MOST} bytes")
    return body


def multipart(fields: Mapping[str, str], name: str, file: bytes) -> tuple[bytes, str]:
    """The body and content type of a form with one WAV file."""
    boundary = "hark-form-boundary-b1946ac92492d2347c6235b4d2611184"
    lines: list[bytes] = []
    for key, value in fields.items():
        lines.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode())
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; filename="speech.wav"\r\n'
    lines += [head.encode(), b"Content-Type: audio/wav\r\n\r\n", file, f"\r\n--{boundary}--\r\n".encode()]
    return b"".join(lines), f"multipart/form-data; boundary={boundary}"


def _error_text(answer: HTTPResponse) -> str:
    """The server's error message, shortened."""
    text = answer.read(4 * _ERROR_LENGTH).decode("utf-8", "replace").strip()
    try:
        error = json.loads(text)["error"]
        text = str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        pass
    return " ".join(text.split())[:_ERROR_LENGTH]


def _is_local(host: str) -> bool:
    """Whether a host is this machine or in the local network."""
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".home.arpa"))
    return address.is_loopback or address.is_private or address.is_link_local


_PIECE: Final = 9_600
"""Bytes of speech in a piece: a fifth of a second."""

Seconds = Annotated[float, Meta(gt=0, le=600)]


class OpenAIRecogniser(STTEngine):
    """Has a server (`/audio/transcriptions`) recognise speech.

    The recorded sound is sent to `url`.
    """

    id = "openai-stt"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        url: str = "http://127.0.0.1:8000/v1"
        """The URL of the server, up to and including "/v1"."""
        model: str = "whisper-1"
        """The name of the model, as the server knows it."""
        key: str = field(default="", repr=False)
        """The API key, if the server needs one."""
        langs: tuple[str, ...] = ()
        """The languages it is used for; empty: all."""
        prompt: str = ""
        """Words that help the model, such as names of people and devices."""
        timeout: Seconds = 20.0
        """Seconds the server may take to answer."""

    settings: Settings

    def load(self) -> None:
        """Does not contact the server: whether it answers shows at the first request."""
        self._server = OpenAIServer(self.settings.url, self.settings.key, self.settings.timeout)
        self.langs = self.settings.langs or None

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        settings = self.settings
        fields = {"model": settings.model, "language": lang.partition("-")[0].lower(), "response_format": "json"}
        if settings.prompt:
            fields["prompt"] = settings.prompt
        body, kind = multipart(fields, "file", write_wav(audio))
        with self._server.post("/audio/transcriptions", body, kind) as answer:
            text = _text(read_all(answer))
        return Transcript((text,)) if text else Transcript()

    def about(self) -> str:
        return f"{self.settings.model} at {self._server}"


class OpenAIVoice(TTSEngine):
    """Has a server (`/audio/speech`) synthesise speech, and streams it.

    What is said is sent to `url`.
    """

    id = "openai-tts"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        url: str = "http://127.0.0.1:8000/v1"
        """The URL of the server, up to and including "/v1"."""
        model: str = "tts-1"
        """The name of the model, as the server knows it."""
        voices: tuple[str, ...] = ("alloy",)
        """The voices of the model, the default first."""
        key: str = field(default="", repr=False)
        """The API key, if the server needs one."""
        langs: tuple[str, ...] = ()
        """The languages it is used for; empty: all."""
        rate: Annotated[int, Meta(ge=8_000, le=192_000)] = 24_000
        """Samples a second of the raw sound the server sends."""
        speed: Annotated[float, Meta(ge=0.25, le=4.0)] = 1.0
        """How fast it speaks."""
        timeout: Seconds = 20.0
        """Seconds the server may take to answer."""

    settings: Settings

    def load(self) -> None:
        """Does not contact the server: whether it answers shows at the first request."""
        self._server = OpenAIServer(self.settings.url, self.settings.key, self.settings.timeout)
        self.langs = self.settings.langs or None

    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        pieces = self.stream(text, lang, voice)
        return Audio(b"".join(piece.samples for piece in pieces), self.settings.rate)

    def stream(self, text: str, lang: str, voice: str | None = None) -> Iterator[Audio]:  # noqa: ARG002
        settings = self.settings
        if not text.strip():
            return
        wanted: dict[str, Any] = {"model": settings.model, "input": text, "response_format": "pcm"}
        wanted |= {"voice": voice or next(iter(settings.voices), "alloy"), "speed": settings.speed}
        with self._server.post("/audio/speech", json.dumps(wanted).encode(), "application/json") as answer:
            rest = b""
            while piece := answer.read1(_PIECE):
                piece = rest + piece
                cut = len(piece) // 2 * 2
                if cut:
                    yield Audio(piece[:cut], settings.rate)
                rest = piece[cut:]

    def voices(self, lang: str) -> Collection[str]:
        return self.settings.voices if self.serves(lang) else ()

    def about(self) -> str:
        return f"{self.settings.model} at {self._server}"


def _text(body: bytes) -> str:
    try:
        text = json.loads(body)["text"]
    except (ValueError, KeyError, TypeError):
        raise OpenAIServerError("its answer is not a transcription") from None
    if not isinstance(text, str):
        raise OpenAIServerError("its answer is not a transcription")
    return text.strip()
