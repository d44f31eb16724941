"""NanoTTS (SVOX Pico): five languages in five megabytes (extra `nanotts`; Apache-2.0)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from threading import Lock
from typing import Annotated, Final

from msgspec import Meta

from hark.builtin.engines.extras import need, release
from hark.model import Audio
from hark.plugins.engines import TTSEngine

_RATE: Final = 16_000
_VOICES: Final = ("en-US", "en-GB", "de-DE", "es-ES", "fr-FR", "it-IT")
_MOST: Final = 1_000
"""Characters given to it at a time: its text buffer is small."""


class NanoTTS(TTSEngine):
    """Speaks English, German, Spanish, French and Italian, plainly and fast; for small devices."""

    id = "nanotts"
    langs = _VOICES

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        speed: Annotated[float, Meta(ge=0.2, le=5.0)] = 1.0
        """How fast it speaks."""
        pitch: Annotated[float, Meta(ge=0.5, le=2.0)] = 1.0
        """How high it speaks."""

    settings: Settings

    def load(self) -> None:
        self._speaker = need("py_nanotts", "nanotts").NanoTTS()
        self._one_at_a_time = Lock()  # the library is not reentrant

    def warm_up(self) -> None:
        self.synthesize("Ready.", "en-US")

    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        name = voice if voice in _VOICES else self.voices(lang)[0]
        with self._one_at_a_time:
            return Audio(b"".join(self._spoken(piece, name) for piece in _pieces(_plain(text))), _RATE)

    def _spoken(self, text: str, voice: str) -> bytes:
        settings = self.settings
        samples: bytes = self._speaker.speak(text, voice=voice, speed=settings.speed, pitch=settings.pitch)
        return samples[: len(samples) // 2 * 2]

    def voices(self, lang: str) -> tuple[str, ...]:
        """A voice for each region, that of `lang` first."""
        primary = lang.lower().partition("-")[0]
        known = [voice for voice in _VOICES if voice.lower().startswith(primary)]
        return tuple(sorted(known, key=lambda voice: voice.lower() != lang.lower()))

    def about(self) -> str:
        return f"{release('py-nanotts')}: {', '.join(_VOICES)}"


def _plain(text: str) -> str:
    """Without brackets, which begin its markup, and characters that make it drop the text."""
    return "".join(" " if letter in "<>\0" or not letter.isprintable() else letter for letter in text)


def _pieces(text: str) -> Collection[str]:
    found, piece = [], ""
    for word in text.split():
        if len(piece) + len(word) > _MOST:
            found.append(piece)
            piece = ""
        piece = f"{piece} {word[:_MOST]}".strip()
    return [*found, piece] if piece else found
