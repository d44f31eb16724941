"""Engines of OVOS, for speech recognition and synthesis, voice activity and wake words, as engines of Hark."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Final

from hark.bridges.opm.catalogue import FoundKind, FoundPlugin, found
from hark.bridges.opm.instance import accepts, make, shut_down
from hark.model.wav import MalformedWav, read_wav
from hark.plugins import Audio
from hark.plugins.engines import (
    SAMPLE_RATE,
    Engine,
    EngineKind,
    STTEngine,
    Transcript,
    TTSEngine,
    Unavailable,
    VADEngine,
    VoiceDetector,
    WakeDetector,
    WakeWord,
    WakeWordEngine,
)


class OvosEngine(Engine):
    """What the kinds of engine have in common."""

    found: ClassVar[FoundPlugin]
    Settings = dict  # type: ignore[assignment]  # whatever the plugin understands
    settings: dict[str, Any]

    _inner: Any = None

    def load(self) -> None:
        self._inner = make(self.found, self.settings, lang=self.settings.get("lang", "en-us"))
        known = getattr(self._inner, "available_languages", None)
        self.langs = tuple(map(str, known)) if isinstance(known, set | list | tuple) and known else None

    def unload(self) -> None:
        shut_down(self._inner, "shutdown", "stop")

    def about(self) -> str:
        return f"{self.found.package} {self.found.version}"


class OvosSTT(OvosEngine, STTEngine):
    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        data = audio_data(audio)
        inner = self._inner
        if callable(getattr(inner, "stream_start", None)):
            inner.stream_start(lang)
            inner.stream_data(audio.samples)
            return _transcript(inner.stream_stop())
        if callable(getattr(inner, "transcribe", None)):
            return _transcript(inner.transcribe(data, lang))
        return _transcript(inner.execute(data, lang))


class OvosTTS(OvosEngine, TTSEngine):
    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        inner = self._inner
        wanted = {"lang": lang, "voice": voice}
        named = accepts(inner.get_tts, *(name for name, value in wanted.items() if value))
        with TemporaryDirectory(prefix="hark-") as folder:
            file = Path(folder, f"speech.{getattr(inner, 'audio_ext', 'wav')}")
            result = inner.get_tts(text, str(file), **{name: wanted[name] for name in named})
            path = result[0] if isinstance(result, tuple) else result
            sound = Path(path or file).read_bytes()
        try:
            return read_wav(sound)
        except MalformedWav:
            return _decoded(sound, self.found)


class OvosVAD(OvosEngine, VADEngine):
    def detector(self) -> VoiceDetector:
        # Such a plugin has the state of its stream in itself: each stream needs one of its own.
        return _VoiceDetector(make(self.found, self.settings, sample_rate=SAMPLE_RATE))


class _VoiceDetector(VoiceDetector):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def probability(self, samples: bytes) -> float:
        return 0.0 if self._inner.is_silence(samples) else 1.0

    def reset(self) -> None:
        if callable(getattr(self._inner, "reset", None)):
            self._inner.reset()


class OvosWakeWords(OvosEngine, WakeWordEngine):
    def load(self) -> None:
        if self.found.missing:
            raise Unavailable("ovos-plugin-manager is not installed", self.found.missing)
        self.found.load()  # so that a package that cannot be imported is found out now

    def detector(self, wake_word: WakeWord) -> WakeDetector:
        settings = dict(self.settings)
        if wake_word.model:
            settings["model"] = wake_word.model
        if wake_word.threshold is not None:
            settings["sensitivity"] = wake_word.threshold
        phrase = wake_word.phrase.lower()
        inner = make(self.found, settings, key_phrase=phrase, hotword=phrase, lang=wake_word.lang or "en-us")
        return _WakeDetector(inner)


class _WakeDetector(WakeDetector):
    def __init__(self, inner: Any) -> None:
        self._inner = inner
        # The oldest generation is handed the sound when it is asked.
        self._takes_sound = bool(accepts(inner.found_wake_word, "frame_data"))

    def hears(self, samples: bytes) -> bool:
        if callable(getattr(self._inner, "update", None)):
            self._inner.update(samples)
        return bool(self._inner.found_wake_word(samples) if self._takes_sound else self._inner.found_wake_word())

    def reset(self) -> None:
        if callable(getattr(self._inner, "reset", None)):
            self._inner.reset()


_CLASSES: Final[Mapping[EngineKind, tuple[FoundKind, type[OvosEngine]]]] = {
    "stt": ("stt", OvosSTT),
    "tts": ("tts_engine", OvosTTS),
    "vad": ("vad", OvosVAD),
    "wakeword": ("wakeword", OvosWakeWords),
}


def engine(kind: EngineKind, name: str) -> Engine | None:
    """The engine of this name, if a package offers one; nothing of it is imported yet."""
    if kind not in _CLASSES:
        return None
    of, base = _CLASSES[kind]
    for one in found((of,)):
        if name in (one.id, one.name):
            made: Engine = type(base.__name__, (base,), {"id": one.id, "found": one, "__doc__": one.origin})()
            return made
    return None


def engine_names(kind: EngineKind) -> Collection[str]:
    """The engines of this kind that packages offer."""
    return [one.id for one in found((_CLASSES[kind][0],))] if kind in _CLASSES else ()


def audio_data(audio: Audio) -> Any:
    try:
        made: Any = import_module("ovos_plugin_manager.utils.audio").AudioData
    except (ImportError, AttributeError):  # older than that class
        made = import_module("speech_recognition").AudioData
    return made(audio.samples, audio.sample_rate, audio.sample_width)


def _transcript(result: Any) -> Transcript:
    """What a recogniser returned: a text, or candidates with their confidence."""
    pairs = result if isinstance(result, list) else [(result, None)]
    found = [(one if isinstance(one, tuple) else (one, None)) for one in pairs]
    texts = [(str(text).strip().strip('"').strip(), sure) for text, sure in found if text]
    texts = [(text, sure) for text, sure in texts if text]
    if not texts:
        return Transcript()
    sure = texts[0][1]
    share = float(sure) if isinstance(sure, int | float) and 0 <= sure <= 1 else None
    return Transcript(tuple(text for text, _ in texts), None, share)


def _decoded(sound: bytes, plugin: FoundPlugin) -> Audio:
    """Sound of another format than WAV."""
    from hark import hints

    try:
        miniaudio: Any = import_module("miniaudio")
    except ImportError:
        raise Unavailable(f"{plugin.name} gives no WAV", hints.install_extra("sounds")) from None
    decoded = miniaudio.decode(sound, nchannels=1)
    return Audio(bytes(decoded.samples), decoded.sample_rate, 2, 1)
