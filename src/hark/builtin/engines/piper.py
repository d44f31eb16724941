"""Piper: natural voices in many languages, one file each (extra `piper`; GPL-3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from hark.builtin.engines.extras import need, release
from hark.model import Audio
from hark.plugins.engines import TTSEngine, Unavailable


class Piper(TTSEngine):
    """Speaks with the voices whose files are set."""

    id = "piper"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        voices: tuple[str, ...] = ()
        """Files of voices, each an `.onnx` with its `.onnx.json` beside it; the first of a language is its default."""
        speed: Annotated[float, Meta(gt=0, le=4)] = 1.0
        """How fast it speaks."""

    settings: Settings

    def load(self) -> None:
        library = need("piper", "piper")
        if not self.settings.voices:
            raise Unavailable("no voice is set", 'download one (see docs/voice.md): voices = ["….onnx"]')
        self._config = library.SynthesisConfig(length_scale=1 / self.settings.speed)
        self._voices: dict[str, Any] = {}
        self._langs: dict[str, str] = {}
        for name in self.settings.voices:
            path = Path(name).expanduser()
            if not path.is_file() or not path.with_name(path.name + ".json").is_file():
                raise Unavailable(f"{path} or its .json does not exist", "correct the setting `voices`")
            voice = library.PiperVoice.load(path)
            self._voices[path.stem] = voice
            self._langs[path.stem] = _lang(path.stem, voice)
        self.langs = tuple(dict.fromkeys(self._langs.values()))

    def warm_up(self) -> None:
        for name, lang in self._langs.items():
            self.synthesize("1", lang, name)

    def unload(self) -> None:
        self._voices.clear()

    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        pieces = list(self.stream(text, lang, voice))
        rate = pieces[0].sample_rate if pieces else 22_050
        return Audio(b"".join(piece.samples for piece in pieces), rate)

    def stream(self, text: str, lang: str, voice: str | None = None) -> Iterator[Audio]:
        """A piece for each sentence."""
        name = voice if voice in self._voices else self.voices(lang)[0]
        for piece in self._voices[name].synthesize(text, self._config):
            yield Audio(piece.audio_int16_bytes, piece.sample_rate, piece.sample_width, piece.sample_channels)

    def voices(self, lang: str) -> tuple[str, ...]:
        """Those of the same tag before others of the language."""
        tag = lang.lower()
        near = [name for name, own in self._langs.items() if own.lower().partition("-")[0] == tag.partition("-")[0]]
        return tuple(sorted(near, key=lambda name: self._langs[name].lower() != tag))

    def about(self) -> str:
        return f"{release('piper-tts')}: {', '.join(self._langs)}"


def _lang(stem: str, voice: Any) -> str:
    """The language in a file name such as en_US-joe-medium, else that of the phonemes."""
    first = stem.partition("-")[0]
    named: Collection[str] = first.split("_")
    if len(named) == 2 and all(part.isalpha() for part in named):
        return first.replace("_", "-")
    return str(voice.config.espeak_voice)
