"""Whisper's model as CTranslate2 runs it: features, transcripts, and the likelihood of a text."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from math import log, sqrt
from pathlib import Path
from typing import Any, Final, NamedTuple

from hark.plugins.engines import SAMPLE_RATE

HOP: Final = 160
"""Samples between two frames, at 16 kHz."""
_WINDOW: Final = 400
_RATE: Final = 16_000
_LEAST: Final = 1e-10


def mel_frames(numpy: Any, sound: Any, bands: int) -> Any:
    """Log mel features: `bands` rows, a column for each 10 ms of `sound`, which is mono at 16 kHz, from -1 to 1."""
    count = len(sound) // HOP
    half = _WINDOW // 2
    # Reflected at both ends; a sound shorter than that is first padded with silence.
    padded = numpy.pad(sound, (0, max(0, half + 1 - len(sound))))
    padded = numpy.pad(padded, half, mode="reflect")
    frames = numpy.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::HOP][:count]
    window = 0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(_WINDOW) / _WINDOW)
    power = numpy.abs(numpy.fft.rfft(frames * window)) ** 2
    loud = numpy.log10(numpy.maximum(_filters(numpy, bands) @ power.T, _LEAST))
    loud = numpy.maximum(loud, loud.max(initial=-10.0) - 8.0)
    return ((loud + 4.0) / 4.0).astype("float32")


@lru_cache(maxsize=2)
def _filters(numpy: Any, bands: int) -> Any:
    """A triangular filter for each band, evenly spaced on Slaney's mel scale, all of one area."""
    edges = _hertz(numpy, numpy.linspace(0.0, _mel(numpy, _RATE / 2), bands + 2))
    pitches = numpy.linspace(0, _RATE / 2, _WINDOW // 2 + 1)
    up = (pitches - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    down = (edges[2:, None] - pitches) / (edges[2:] - edges[1:-1])[:, None]
    triangles = numpy.maximum(0.0, numpy.minimum(up, down))
    return triangles * (2.0 / (edges[2:] - edges[:-2]))[:, None]


# Slaney's mel scale: linear below 1 kHz, logarithmic above.
_STEP: Final = 200.0 / 3
_KINK: Final = 1_000.0
_GROWTH: Final = 27.0
"""Steps in which the frequency grows by a factor of 6.4."""


def _mel(numpy: Any, hertz: float) -> float:
    return float(_KINK / _STEP + numpy.log(hertz / _KINK) * _GROWTH / numpy.log(6.4))


def _hertz(numpy: Any, pitch: Any) -> Any:
    high = _KINK * numpy.exp(numpy.log(6.4) / _GROWTH * (pitch - _KINK / _STEP))
    return numpy.where(pitch < _KINK / _STEP, pitch * _STEP, high)


_TOKENS: Final = 12
"""The most tokens in a second of speech, and how many may come on top for the first."""
_MOST: Final = 448
_NEVER: Final = 1e-9


class WhisperResult(NamedTuple):
    """What the model recognised in a piece of sound."""

    texts: tuple[str, ...]
    """The candidates, likeliest first."""
    score: float
    """The average log probability of a token of the first."""
    silence: float
    """The probability that there was no speech."""
    encoded: Any
    """The encoder's output, for `WhisperModel.likelihoods`."""


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
        """Whether it recognises more than English."""
        return bool(self._model.is_multilingual)

    def read(self, sound: Any, code: str, window: int, beam: int) -> WhisperResult:
        """Recognise `sound` in a window of so many frames of 10 ms."""
        numpy = self._numpy
        features = mel_frames(numpy, sound, self._model.n_mels)[:, :window]
        features = numpy.pad(features, ((0, 0), (0, window - features.shape[1])))
        encoded = self._model.encode(self._view(numpy.ascontiguousarray(features[None])))
        prompt = [*self._task(code), "<|notimestamps|>"]
        seconds = len(sound) / SAMPLE_RATE
        [found] = self._model.generate(
            encoded,
            [prompt],
            beam_size=beam,
            num_hypotheses=beam,
            max_length=min(_MOST, len(prompt) + round((seconds + 1) * _TOKENS)),
            return_scores=True,
            return_no_speech_prob=True,
        )
        texts = tuple(self.tokenizer.decode(ids).strip() for ids in found.sequences_ids)
        return WhisperResult(texts, float(found.scores[0]), float(found.no_speech_prob), encoded)

    def likelihoods(self, result: WhisperResult, texts: Sequence[str], code: str) -> list[float]:
        """The log probability of each text, to its end, for the sound of a result."""
        start = [self.tokenizer.token_to_id(token) for token in self._task(code)]
        found = []
        for text in texts:
            ids = self.tokenizer.encode(f" {text}", add_special_tokens=False).ids
            [aligned] = self._model.align(result.encoded, start, [[*ids, self._end]], result.encoded.shape[1])
            found.append(sum(log(max(share, _NEVER)) for share in aligned.text_token_probs))
        return found

    def _task(self, code: str) -> list[str]:
        """The prompt: transcribe speech in this language."""
        task = [f"<|{code}|>", "<|transcribe|>"] if self.many_languages else []
        return ["<|startoftranscript|>", *task]


_LONGEST: Final = 12
"""Words in a repeated phrase, at most."""
_SHORT: Final = 240
"""Bytes. In longer speech more words recur, so longer text may compress better."""


def repeats_itself(text: str, compression: float) -> bool:
    """Whether a text is mostly one phrase again and again, or its compression ratio is above `compression`.

    Models produce such text where there is no speech.
    """
    words = [word.strip(".,!?") for word in text.lower().split()]
    if _is_one_phrase(words) or _loops(words):
        return True
    raw = text.encode()
    limit = compression * sqrt(max(1.0, len(raw) / _SHORT))
    return len(raw) > 0 and len(raw) / len(zlib.compress(raw)) > limit


def _is_one_phrase(words: list[str]) -> bool:
    """A phrase said twice, which is too short to show in the compression ratio."""
    return any(
        all(word == words[place % size] for place, word in enumerate(words)) for size in range(2, len(words) // 2 + 1)
    )


def _loops(words: list[str]) -> bool:
    """Whether more than half of the words are one phrase, three times or more without anything in between."""
    for size in range(1, min(_LONGEST, len(words) // 3) + 1):
        same = 0
        for place in range(size, len(words)):
            same = same + 1 if words[place] == words[place - size] else 0
            if same >= 2 * size and 2 * (same + size) > max(len(words), 8):
                return True
    return False
