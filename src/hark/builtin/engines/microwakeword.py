"""microWakeWord: tiny models for four phrases inside its package, or one of your own (extra `microwakeword`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hark.builtin.engines.extras import need, release
from hark.plugins.engines import Unavailable, WakeDetector, WakeWord, WakeWordEngine

_EXTRA: Final = "microwakeword"
_REST: Final = 16_000
"""Samples after a detection in which the same word is not detected again: it is still being said."""


class MicroWakeWord(WakeWordEngine):
    """Detects "hey jarvis", "alexa", "hey mycroft" and "okay nabu", and phrases you have a model for."""

    id = "microwakeword"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        models: str = ""
        """A folder with further models, each a `.json` beside its `.tflite`. A wake word's `model` may also be the path
        of such a `.json`."""

    settings: Settings

    def load(self) -> None:
        self._module = need("pymicro_wakeword", _EXTRA)
        inside = Path(self._module.__file__).parent / "models"
        folders = [inside, *([Path(self.settings.models).expanduser()] if self.settings.models else [])]
        self._known: dict[str, Path] = {}
        for folder in folders:
            if not folder.is_dir():
                raise Unavailable(f"{folder} is not a folder", "correct the setting `models`, or leave it out")
            for path in sorted(folder.glob("*.json")):
                self._known |= dict.fromkeys((path.stem, _folded(_phrase(path))), path)

    def warm_up(self) -> None:
        first = next(iter(self._known.values()), None)
        if first is not None:
            _Detector(self._module, first, None).hears(bytes(6_400))

    def detector(self, wake_word: WakeWord) -> WakeDetector:
        name = wake_word.model or wake_word.phrase
        path = self._known.get(name) or self._known.get(_folded(name))
        if path is None and name.endswith(".json"):
            path = Path(name).expanduser()
        if path is None or not path.is_file():
            phrases = ", ".join(sorted({_phrase(known) for known in self._known.values()}))
            raise Unavailable(f"there is no model for {name!r}", f"there are: {phrases}; or name a model's .json file")
        return _Detector(self._module, path, wake_word.threshold)

    def about(self) -> str:
        phrases = ", ".join(sorted({_folded(_phrase(path)) for path in self._known.values()}))
        return f"{release('pymicro-wakeword')}: {phrases}"


class _Detector(WakeDetector):
    def __init__(self, module: Any, path: Path, threshold: float | None) -> None:
        self._model = module.MicroWakeWord.from_config(path)
        if threshold is not None:
            self._model.probability_cutoff = threshold
        self._features = module.MicroWakeWordFeatures()
        self._rest = 0
        self._detected = False

    def hears(self, samples: bytes) -> bool:
        found = False
        for features in self._features.process_streaming(samples):
            # The model keeps state: it needs every frame, also after a detection.
            heard = bool(self._model.process_streaming(features))
            # One word is detected once, however long the model stays sure of it.
            found = found or (heard and not self._detected and self._rest <= 0)
            self._detected = heard
        self._rest = _REST if found else max(0, self._rest - len(samples) // 2)
        return found

    def reset(self) -> None:
        self._model.reset()
        self._features.reset()
        self._rest = 0
        self._detected = False


def _phrase(path: Path) -> str:
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["wake_word"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"{path} is not a model description: {error}", "fix or remove it") from error


def _folded(phrase: str) -> str:
    return " ".join(phrase.replace("_", " ").lower().split())
