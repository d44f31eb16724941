"""Detects any English phrase, without a model trained for it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from msgspec import Meta

from hark.builtin.engines.extras import need, release
from hark.builtin.engines.pocketsphinx.pronounce import phones_of
from hark.intents.text import spoken_words
from hark.plugins.engines import Unavailable, WakeDetector, WakeWord, WakeWordEngine

_AGAIN: Final = 30 * 16_000
"""Samples after which it is reset: its memory grows with time."""
_EASIEST: Final = 40
"""A threshold of 0 is ten to the minus this."""


class KeywordSpotter(WakeWordEngine):
    """Detects any English phrase, less reliably than an engine with a model for it. Longer phrases are better: three or
    four syllables at least."""

    id = "pocketsphinx-kws"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        threshold: Annotated[float, Meta(ge=0, le=1)] = 0.4
        """How sure it has to be; a wake word's own `threshold` takes precedence."""

    settings: Settings

    def load(self) -> None:
        self._library = need("pocketsphinx", "pocketsphinx")

    def detector(self, wake_word: WakeWord) -> WakeDetector:
        library, phrase = self._library, spoken_words(wake_word.phrase)
        if not phrase:
            raise Unavailable("the wake word has no phrase", 'such as: phrase = "hey computer"')
        known = _pronunciations(Path(library.get_model_path("en-us/cmudict-en-us.dict")), set(phrase))
        threshold = self.settings.threshold if wake_word.threshold is None else wake_word.threshold
        decoder = library.Decoder(
            hmm=library.get_model_path("en-us/en-us"),
            dict=os.devnull,
            lm=None,
            loglevel="FATAL",
            kws_threshold=10.0 ** (-_EASIEST * (1 - threshold)),
        )
        for word in dict.fromkeys(phrase):
            phones = known.get(word) or [phones_of(word)]
            if phones[0] is None:
                raise Unavailable(f"the pronunciation of {word!r} is unknown", "choose a phrase of English words")
            for number, one in enumerate(phones, start=1):
                decoder.add_word(word if number == 1 else f"{word}({number})", one, False)
        decoder.add_keyphrase("wake", " ".join(phrase))
        decoder.activate_search("wake")
        return _Detector(decoder)

    def about(self) -> str:
        return f"{release('pocketsphinx')}: any English phrase"


class _Detector(WakeDetector):
    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder
        self._samples = 0
        decoder.start_utt()

    def hears(self, samples: bytes) -> bool:
        if not samples:
            return False
        self._decoder.process_raw(samples)
        self._samples += len(samples) // 2
        found = self._decoder.hyp() is not None
        if found or self._samples > _AGAIN:
            self.reset()
        return found

    def reset(self) -> None:
        self._decoder.end_utt()
        self._decoder.start_utt()
        self._samples = 0


def _pronunciations(dictionary: Path, wanted: set[str]) -> dict[str, list[str | None]]:
    """All pronunciations of some words, without loading the whole dictionary into memory."""
    found: dict[str, list[str | None]] = {}
    with dictionary.open(encoding="utf-8") as lines:
        for line in lines:
            word, _, phones = line.strip().partition(" ")
            plain = word.partition("(")[0]
            if plain in wanted:
                found.setdefault(plain, []).append(phones)
    return found
