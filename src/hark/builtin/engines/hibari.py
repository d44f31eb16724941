"""Hibari: a small neural English voice inside its package (extra `hibari`; Apache-2.0)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Annotated, Any, Final

from msgspec import Meta

from hark.builtin.engines.extras import need, release
from hark.model import Audio
from hark.plugins.engines import TTSEngine, Unavailable

_RATE: Final = 24_000


class Hibari(TTSEngine):
    """Speaks English, American or British, at a hundred times real time."""

    id = "hibari"
    langs = ("en",)

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        voice: str = "heart"
        """The voice to speak with. "heart" comes inside the package; others are downloaded once, if `download`."""
        download: bool = False
        """Whether a missing voice may be downloaded from the author's model hub."""
        speed: Annotated[float, Meta(ge=0.5, le=2.0)] = 1.0
        """1 is the pace the model was trained with."""
        threads: Annotated[int, Meta(ge=1)] = 1
        """Threads for one sentence."""

    settings: Settings

    def load(self) -> None:
        self._module = need("hibari.tts", "hibari")
        self._numpy = need("numpy", "hibari")
        self._files = need("hibari.voices", "hibari")
        self._loading = Lock()
        self._loaded: dict[str, Any] = {}
        self._speaker(self.settings.voice)

    def warm_up(self) -> None:
        self.synthesize("Ready.", "en")

    def unload(self) -> None:
        self._loaded.clear()

    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        pieces = self.stream(text, lang, voice)
        return Audio(b"".join(piece.samples for piece in pieces), _RATE)

    def stream(self, text: str, lang: str, voice: str | None = None) -> Iterator[Audio]:  # noqa: ARG002
        """A piece for each sentence."""
        for piece in self._speaker(voice or self.settings.voice).stream(text, speed=self.settings.speed):
            loud = self._numpy.clip(piece, -1.0, 1.0) * 32_767
            yield Audio(loud.astype("<i2").tobytes(), _RATE)

    def voices(self, lang: str) -> Collection[str]:
        """Those that are installed."""
        if not self.serves(lang):
            return ()
        others = (name for name in self._files.VOICES if name != self.settings.voice and self._is_installed(name))
        return (self.settings.voice, *others)

    def about(self) -> str:
        return f"{release('hibari-tts')}, voice {self.settings.voice}"

    def _is_installed(self, name: str) -> bool:
        try:
            self._files.voice_path(name, download_missing=False)
        except FileNotFoundError:
            return False
        return True

    def _speaker(self, voice: str) -> Any:
        with self._loading:
            if voice not in self._loaded:
                if voice not in self._files.VOICES:
                    raise Unavailable(f"it has no voice {voice!r}", f"its voices: {', '.join(self._files.VOICES)}")
                if not self.settings.download and not self._is_installed(voice):
                    raise Unavailable(f"the voice {voice!r} is not installed", "allow it with: download = true")
                speaker = self._module.Hibari(voice=voice, threads=self.settings.threads)
                _ = speaker.g2p  # created on first use, which must be one thread only
                self._loaded[voice] = speaker
            return self._loaded[voice]
