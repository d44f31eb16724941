"""Whisper's model as CTranslate2 runs it: what it hears, and how likely it finds a text."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from pathlib import Path
from typing import Any, Final, NamedTuple

from hark.builtin.engines.mel import mel_frames
from hark.plugins.engines import SAMPLE_RATE

_TOKENS: Final = 12
"""The most tokens in a second of speech, and how many may come on top for the first."""
_MOST: Final = 448
_NEVER: Final = 1e-9


class Reading(NamedTuple):
    """What the model makes of a piece of sound."""

    texts: tuple[str, ...]
    """What may have been said, likeliest first."""
    score: float
    """The average log probability of a token of the first."""
    silence: float
    """How likely nobody spoke."""
    seen: Any
    """What it saw: others than the model need not look into it."""


class WhisperModel:
    """A converted model in a folder. Raises whatever the libraries raise."""

    def __init__(self, library: Any, tokenizers: Any, numpy: Any, folder: Path, **how: Any) -> None:
        self._numpy = numpy
        self._view = library.StorageView.from_array
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._model = library.models.Whisper(str(folder), **how)
        self._end = self.tokenizer.token_to_id("<|endoftext|>")

    @property
    def many_languages(self) -> bool:
        """Whether it understands more than English."""
        return bool(self._model.is_multilingual)

    def read(self, sound: Any, code: str, window: int, beam: int) -> Reading:
        """What is said in `sound`, seen in a window of so many frames of 10 ms."""
        numpy = self._numpy
        features = mel_frames(numpy, sound, self._model.n_mels)[:, :window]
        features = numpy.pad(features, ((0, 0), (0, window - features.shape[1])))
        seen = self._model.encode(self._view(numpy.ascontiguousarray(features[None])))
        prompt = [*self._task(code), "<|notimestamps|>"]
        seconds = len(sound) / SAMPLE_RATE
        [found] = self._model.generate(
            seen,
            [prompt],
            beam_size=beam,
            num_hypotheses=beam,
            max_length=min(_MOST, len(prompt) + round((seconds + 1) * _TOKENS)),
            return_scores=True,
            return_no_speech_prob=True,
        )
        texts = tuple(self.tokenizer.decode(ids).strip() for ids in found.sequences_ids)
        return Reading(texts, float(found.scores[0]), float(found.no_speech_prob), seen)

    def likelihoods(self, reading: Reading, texts: Sequence[str], code: str) -> list[float]:
        """The log probability of each text, to its end, for the sound that was read."""
        start = [self.tokenizer.token_to_id(token) for token in self._task(code)]
        found = []
        for text in texts:
            ids = self.tokenizer.encode(f" {text}", add_special_tokens=False).ids
            [aligned] = self._model.align(reading.seen, start, [[*ids, self._end]], reading.seen.shape[1])
            found.append(sum(log(max(share, _NEVER)) for share in aligned.text_token_probs))
        return found

    def _task(self, code: str) -> list[str]:
        """What is to be done: write down what is said in this language."""
        what = [f"<|{code}|>", "<|transcribe|>"] if self.many_languages else []
        return ["<|startoftranscript|>", *what]
