"""Which language is spoken, heard before recognition: a hint for the recogniser."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta

from hark.builtin.engines.extras import need
from hark.builtin.engines.whisper_model import mel_frames
from hark.model.lang import by_primary
from hark.model.resample import resample_mono
from hark.plugins import Audio, AudioTransformer, Ctx
from hark.plugins.engines import SAMPLE_RATE, Unavailable

_EXTRA: Final = "faster-whisper"
_WINDOW: Final = 3_000
"""Frames of ten milliseconds in the thirty seconds that the model was trained with."""
_PADDING: Final = 500
"""Frames of silence after the command; with fewer, the model is less sure."""
_REMEDY: Final = (
    "set model to a folder with a converted Whisper model of many languages, such as faster-whisper-base; "
    "huggingface-cli download Systran/faster-whisper-base --local-dir FOLDER"
)


class SpokenLanguage(AudioTransformer):
    """Hears in which of the assistant's languages a command is spoken, by Whisper, before it is recognised.

    The recogniser is then asked for that language. It costs one run of the encoder: about a second on a small machine,
    so it is for households that mix languages without a wake word for each.
    """

    id = "spoken-language"
    priority = 60

    @dataclass(frozen=True)
    class Settings:
        """Which model, and when to believe it."""

        model: str = ""
        """A folder with a converted Whisper model of many languages."""
        langs: tuple[str, ...] = ()
        """The languages to tell apart, as tags; empty: those the assistant understands."""
        confidence: Annotated[float, Meta(ge=0, le=1)] = 0.6
        """What the likeliest of these languages has to reach among them; below it, nothing is changed."""
        threads: Annotated[int, Meta(ge=0)] = 2
        """Threads for one command; 0 lets the library choose."""

    settings: Settings

    async def start(self) -> None:
        tags = self.settings.langs or tuple(sorted(self.host.langs))
        self._tags = by_primary(tags)
        if len(self._tags) < 2:
            raise Unavailable(
                f"there is only one language to hear: {', '.join(tags)}", "name others in [assistant] langs"
            )
        await asyncio.to_thread(self._load)

    def _load(self) -> None:
        library: Any = need("ctranslate2", _EXTRA)
        self._numpy: Any = need("numpy", _EXTRA)
        folder = Path(self.settings.model).expanduser()
        if not self.settings.model:
            raise Unavailable("the setting model names no folder", _REMEDY)
        if not (folder / "model.bin").is_file():
            raise Unavailable(f"there is no model in {self.settings.model!r}", _REMEDY)
        try:
            self._model = library.models.Whisper(str(folder), compute_type="int8", intra_threads=self.settings.threads)
        except Exception as error:  # noqa: BLE001 - the library has its own kinds of error
            raise Unavailable(f"the model in {folder} cannot be loaded: {error}", _REMEDY) from None
        if not self._model.is_multilingual:
            raise Unavailable(f"the model in {folder} knows English alone", _REMEDY)
        self._view = library.StorageView.from_array

    def transform(self, audio: Audio, ctx: Ctx) -> Audio:
        if audio.seconds < 0.3 or ctx.lang is not None:
            return audio
        shares = self._shares(audio)
        code = max(shares, key=lambda one: shares[one])
        if shares[code] >= self.settings.confidence:
            ctx.lang = self._tags[code]
        ctx.set("spoken-language.share", round(shares[code], 2))
        return audio

    def _shares(self, audio: Audio) -> dict[str, float]:
        """How likely each of the languages is, among them."""
        numpy = self._numpy
        samples = resample_mono(audio).samples[: _WINDOW * 2 * SAMPLE_RATE // 100]
        sound = numpy.frombuffer(samples, dtype="<i2").astype("float32") / 32_768
        features = mel_frames(numpy, sound, self._model.n_mels)[:, :_WINDOW]
        # Whole seconds: the library keeps memory for each new size.
        window = min(_WINDOW, -(-(features.shape[1] + _PADDING) // 100) * 100)
        features = numpy.pad(features, ((0, 0), (0, window - features.shape[1])))
        [found] = self._model.detect_language(self._view(numpy.ascontiguousarray(features[None])))
        likely = {token.strip("<|>"): share for token, share in found}
        mine = {code: likely.get(code, 0.0) for code in self._tags}
        whole = sum(mine.values()) or 1.0
        return {code: share / whole for code, share in mine.items()}
