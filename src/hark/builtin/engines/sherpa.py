"""Sherpa-onnx: many kinds of recogniser in one library, some of them streaming (extra `sherpa-onnx`; Apache-2.0)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from hark.builtin.engines.extras import need, release
from hark.model import Audio
from hark.model.resample import resample_mono
from hark.plugins.engines import SAMPLE_RATE, Recognition, STTEngine, Transcript, Unavailable

_EXTRA: Final = "sherpa-onnx"
_TAIL: Final = 0.6
"""Seconds of silence after the end: a streaming model needs what follows before it is sure of a word."""

Architecture = Literal["transducer", "streaming-transducer", "whisper", "moonshine", "moonshine-v2"]

_PARTS: Final[Mapping[str, Mapping[str, str]]] = {
    "transducer": {"encoder": "*encoder*", "decoder": "*decoder*", "joiner": "*joiner*"},
    "streaming-transducer": {"encoder": "*encoder*", "decoder": "*decoder*", "joiner": "*joiner*"},
    "whisper": {"encoder": "*encoder*", "decoder": "*decoder*"},
    "moonshine": {
        "preprocessor": "*preprocess*",
        "encoder": "*encode*",
        "uncached_decoder": "*uncached_decode*",
        "cached_decoder": "cached_decode*",
    },
    "moonshine-v2": {"encoder": "*encoder_model*", "decoder": "*decoder_model_merged*"},
}
"""The files of each kind of model, as they are named in published folders."""


class SherpaOnnx(STTEngine):
    """Recognises speech with the model in a folder. A streaming model does so during the recording."""

    id = "sherpa-onnx"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        model: str = ""
        """The folder of the model, with its `tokens.txt`."""
        architecture: Architecture = "moonshine-v2"
        """What kind of model is in the folder."""
        langs: tuple[str, ...] = ("en",)
        """The languages of the model."""
        threads: Annotated[int, Meta(ge=1)] = 2
        """Threads for one utterance."""

    settings: Settings

    def load(self) -> None:
        settings = self.settings
        library = need("sherpa_onnx", _EXTRA)
        self._numpy = need("numpy", _EXTRA)
        files = self._files()
        self.langs = settings.langs
        self._streaming = settings.architecture.startswith("streaming-")
        kind = library.OnlineRecognizer if self._streaming else library.OfflineRecognizer
        name = settings.architecture.removeprefix("streaming-").replace("-", "_")
        extra = {"language": settings.langs[0].partition("-")[0]} if name == "whisper" and settings.langs else {}
        try:
            self._recogniser = getattr(kind, f"from_{name}")(**files, num_threads=settings.threads, **extra)
        except Exception as error:  # the library has many kinds of error for an unsuitable model
            raise Unavailable(f"the model cannot be loaded: {error}", "check the setting `architecture`") from error

    def warm_up(self) -> None:
        self.transcribe(Audio(bytes(SAMPLE_RATE), SAMPLE_RATE), next(iter(self.settings.langs), "en"))

    def unload(self) -> None:
        del self._recogniser

    def about(self) -> str:
        return f"{release('sherpa-onnx')}, {self.settings.architecture} model {Path(self.settings.model).name}"

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        samples = resample_mono(audio).samples
        if self._streaming:
            recognition = self.recognition(lang)
            assert recognition is not None  # noqa: S101 - it is streaming
            recognition.feed(samples)
            return recognition.finish()
        if not samples:
            return Transcript()
        stream = self._recogniser.create_stream()
        stream.accept_waveform(SAMPLE_RATE, self._numbers(samples))
        self._recogniser.decode_stream(stream)
        return _transcript(stream.result.text)

    def recognition(self, lang: str) -> Recognition | None:  # noqa: ARG002
        """None where the model is not a streaming one."""
        return _Stream(self._recogniser, self._numbers) if self._streaming else None

    def _numbers(self, samples: bytes) -> Any:
        return self._numpy.frombuffer(samples, dtype="<i2").astype("float32") / 32_768

    def _files(self) -> dict[str, str]:
        settings = self.settings
        folder = Path(settings.model).expanduser()
        if not settings.model or not folder.is_dir():
            raise Unavailable(
                f"{settings.model or 'nothing'!r} is not a model folder",
                'download a model (see docs/voice.md) and name its folder: model = "..."',
            )
        found = {"tokens": _one(folder, "*tokens.txt")}
        for part, pattern in _PARTS[settings.architecture].items():
            found[part] = _one(folder, pattern)
        return found


class _Stream(Recognition):
    def __init__(self, recogniser: Any, numbers: Any) -> None:
        self._recogniser = recogniser
        self._numbers = numbers
        self._stream = recogniser.create_stream()

    def feed(self, samples: bytes) -> str:
        self._stream.accept_waveform(SAMPLE_RATE, self._numbers(samples))
        return self._partial()

    def finish(self) -> Transcript:
        self.feed(bytes(2 * int(_TAIL * SAMPLE_RATE)))
        self._stream.input_finished()
        return _transcript(self._partial())

    def _partial(self) -> str:
        while self._recogniser.is_ready(self._stream):
            self._recogniser.decode_stream(self._stream)
        return str(self._recogniser.get_result(self._stream))


def _transcript(text: str) -> Transcript:
    text = text.strip()
    return Transcript((text,)) if text else Transcript()


def _one(folder: Path, pattern: str) -> str:
    """The file of that name; of two precisions, the smaller file."""
    found = [path for path in folder.glob(pattern) if path.suffix in (".onnx", ".ort", ".txt")]
    if pattern == "*encode*":
        found = [path for path in found if "decode" not in path.name]
    if not found:
        raise Unavailable(f"{folder} has no file {pattern}", "check the setting `architecture`")
    return str(min(found, key=lambda path: path.stat().st_size))
