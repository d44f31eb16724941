"""Recognisers and voices behind an OpenAI-compatible server, in the house or far away. No extra is needed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from msgspec import Meta

from hark.builtin.engines.http import Server, ServerError, form, whole
from hark.model import Audio
from hark.model.wav import write_wav
from hark.plugins.engines import STTEngine, Transcript, TTSEngine

_PIECE: Final = 9_600
"""Bytes of speech at a time: a fifth of a second."""

Seconds = Annotated[float, Meta(gt=0, le=600)]


class OpenAIRecogniser(STTEngine):
    """Sends what was said to a server (`/audio/transcriptions`) and takes the text it answers.

    Sound leaves this machine for wherever `url` is.
    """

    id = "openai-stt"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        url: str = "http://127.0.0.1:8000/v1"
        """Where the server is, up to and with "/v1"."""
        model: str = "whisper-1"
        """The name of the model, as the server knows it."""
        key: str = field(default="", repr=False)
        """The key to the server, if it wants one."""
        langs: tuple[str, ...] = ()
        """The languages it may be asked for; none named: any."""
        prompt: str = ""
        """Words that help the model, such as names in your house."""
        timeout: Seconds = 20.0
        """Seconds the server may stay silent."""

    settings: Settings

    def load(self) -> None:
        """As promised by `Engine`. Whether the server answers shows when it is asked."""
        self._server = Server(self.settings.url, self.settings.key, self.settings.timeout)
        self.langs = self.settings.langs or None

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        """As promised by `STTEngine`."""
        settings = self.settings
        fields = {"model": settings.model, "language": lang.partition("-")[0].lower(), "response_format": "json"}
        if settings.prompt:
            fields["prompt"] = settings.prompt
        body, kind = form(fields, "file", write_wav(audio))
        with self._server.post("/audio/transcriptions", body, kind) as answer:
            text = _text(whole(answer))
        return Transcript((text,)) if text else Transcript()

    def about(self) -> str:
        """As promised by `Engine`."""
        return f"{self.settings.model} at {self._server}"


class OpenAIVoice(TTSEngine):
    """Has a server (`/audio/speech`) speak, and passes on the sound as it comes.

    What is said leaves this machine for wherever `url` is.
    """

    id = "openai-tts"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        url: str = "http://127.0.0.1:8000/v1"
        """Where the server is, up to and with "/v1"."""
        model: str = "tts-1"
        """The name of the model, as the server knows it."""
        voices: tuple[str, ...] = ("alloy",)
        """The voices of the model, the default first."""
        key: str = field(default="", repr=False)
        """The key to the server, if it wants one."""
        langs: tuple[str, ...] = ()
        """The languages it may be asked for; none named: any."""
        rate: Annotated[int, Meta(ge=8_000, le=192_000)] = 24_000
        """Samples a second of the raw sound the server sends."""
        speed: Annotated[float, Meta(ge=0.25, le=4.0)] = 1.0
        """How fast it speaks."""
        timeout: Seconds = 20.0
        """Seconds the server may stay silent."""

    settings: Settings

    def load(self) -> None:
        """As promised by `Engine`. Whether the server answers shows when it is asked."""
        self._server = Server(self.settings.url, self.settings.key, self.settings.timeout)
        self.langs = self.settings.langs or None

    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        """As promised by `TTSEngine`."""
        pieces = self.stream(text, lang, voice)
        return Audio(b"".join(piece.samples for piece in pieces), self.settings.rate)

    def stream(self, text: str, lang: str, voice: str | None = None) -> Iterator[Audio]:  # noqa: ARG002
        """As promised by `TTSEngine`."""
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
        """As promised by `TTSEngine`."""
        return self.settings.voices if self.serves(lang) else ()

    def about(self) -> str:
        """As promised by `Engine`."""
        return f"{self.settings.model} at {self._server}"


def _text(body: bytes) -> str:
    try:
        text = json.loads(body)["text"]
    except (ValueError, KeyError, TypeError):
        raise ServerError("it answered something that is no transcription") from None
    if not isinstance(text, str):
        raise ServerError("it answered something that is no transcription")
    return text.strip()
