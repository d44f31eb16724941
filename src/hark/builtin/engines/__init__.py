"""The engines that come with Hark. What each needs is an extra, imported when the engine is loaded.

`engine_class("stt", "faster-whisper")` gives the class; nothing else is imported for it.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from hark.plugins.engines import Engine, EngineKind

_HERE: Final = "hark.builtin.engines"

ENGINES: Final[Mapping[tuple[EngineKind, str], str]] = {
    ("stt", "faster-whisper"): f"{_HERE}.whisper:FasterWhisper",
    ("stt", "sherpa-onnx"): f"{_HERE}.sherpa:SherpaOnnx",
    ("stt", "pocketsphinx"): f"{_HERE}.pocketsphinx.stt:Pocketsphinx",
    ("stt", "openai-stt"): f"{_HERE}.openai:OpenAIRecogniser",
    ("tts", "hibari"): f"{_HERE}.hibari:Hibari",
    ("tts", "nanotts"): f"{_HERE}.nanotts:NanoTTS",
    ("tts", "espeak-ng"): f"{_HERE}.espeak_ng:EspeakNG",
    ("tts", "piper"): f"{_HERE}.piper:Piper",
    ("tts", "openai-tts"): f"{_HERE}.openai:OpenAIVoice",
    ("vad", "silero"): f"{_HERE}.silero:Silero",
    ("wakeword", "microwakeword"): f"{_HERE}.microwakeword:MicroWakeWord",
    ("wakeword", "pocketsphinx-kws"): f"{_HERE}.pocketsphinx.kws:KeywordSpotter",
    ("microphone", "sounddevice"): f"{_HERE}.sounddevice:SoundDeviceMicrophone",
    ("microphone", "file"): f"{_HERE}.files:FileMicrophone",
    ("microphone", "pipe"): f"{_HERE}.pipe:PipeMicrophone",
    ("player", "sounddevice"): f"{_HERE}.sounddevice:SoundDevicePlayer",
    ("player", "recorder"): f"{_HERE}.files:FilePlayer",
    ("player", "null"): f"{_HERE}.files:NullPlayer",
}
"""Where each engine is, by kind and id: "module:Class"."""


def engine_class(kind: EngineKind, engine_id: str) -> type[Engine]:
    """The class of an engine that comes with Hark; raises `KeyError` when there is none of that name."""
    module, _, name = ENGINES[kind, engine_id].partition(":")
    found: Any = getattr(import_module(module), name)
    return found  # type: ignore[no-any-return]


__all__ = ["ENGINES", "engine_class"]
