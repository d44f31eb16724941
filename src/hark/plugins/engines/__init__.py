"""The engines: microphone, voice activity, wake word, speech to text, text to speech, player."""

from hark.plugins.engines.engine import ENGINE_KINDS, Engine, EngineKind, Unavailable
from hark.plugins.engines.hearing import (
    SAMPLE_RATE,
    Microphone,
    Recognition,
    STTEngine,
    Transcript,
    VADEngine,
    VoiceDetector,
    WakeDetector,
    WakeWord,
    WakeWordEngine,
)
from hark.plugins.engines.speaking import Player, TTSEngine

__all__ = [
    "ENGINE_KINDS",
    "SAMPLE_RATE",
    "Engine",
    "EngineKind",
    "Microphone",
    "Player",
    "Recognition",
    "STTEngine",
    "TTSEngine",
    "Transcript",
    "Unavailable",
    "VADEngine",
    "VoiceDetector",
    "WakeDetector",
    "WakeWord",
    "WakeWordEngine",
]
