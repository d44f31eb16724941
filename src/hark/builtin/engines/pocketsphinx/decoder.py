"""Decoding speech as a sentence of a graph, and as mere phones, to tell whether the sentence really fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import log
from typing import Any, Final, NamedTuple

from hark.builtin.engines.speech_grammar.graph import START, WordGraph

_PHONE: Final = "_"
"""Prefix of a phone as a word: no word of a sentence begins like this."""
_SCALE: Final = 1_024.0
"""The library divides its log scores by this."""
_LEAST: Final = 1e-300

_ALL: Final = "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH"
_PHONES: Final = tuple(_ALL.split())
"""The phones of the model."""

_AT_LEAST: Final = 6
"""Frames of 10 ms of speech below which a result is dropped."""


class Segment(NamedTuple):
    """A stretch of sound and the word it was decoded as; the last frame is within it."""

    word: str
    first: int
    last: int
    score: float

    @property
    def frames(self) -> int:
        return self.last - self.first + 1


class DecodedSentence(NamedTuple):
    """A sentence of the graph, and how it fits compared with phones, for each frame: 0 as well, below 0 worse."""

    words: tuple[str, ...]
    whole: float
    """On the whole."""
    worst: float
    """In the word that fits worst."""
    hidden: float
    """In what was decoded as silence or noise: speech that the sentence has no words for."""


class Decoder:
    """One decoder with two searches: the graph, and any sequence of phones. For one thread at a time."""

    def __init__(self, library: Any, model: str, dictionary: str) -> None:
        # `compallsen` makes the scores of both searches comparable. `bestpath` would search the lattice each time, for
        # seconds.
        self._decoder = library.Decoder(
            hmm=model, dict=dictionary, lm=None, loglevel="FATAL", compallsen=True, bestpath=False
        )
        self._graph: WordGraph | None = None
        self._has_phones = False

    def knows(self, word: str) -> bool:
        """Whether a word is in the dictionary."""
        return self._decoder.lookup_word(word) is not None

    def add_word(self, word: str, phones: str) -> None:
        self._decoder.add_word(word, phones, False)

    def listen_for(self, graph: WordGraph) -> None:
        """Decode these sentences from now on. Every word has to be in the dictionary."""
        decoder, end = self._decoder, len(graph.arcs)
        arcs: list[tuple[Any, ...]] = [
            (state, to, 1.0, word) for state, leads in enumerate(graph.arcs) for word, to in leads.items()
        ]
        arcs += [(state, end, 1.0) for state in graph.finals]
        if self._graph is not None:
            decoder.activate_search("phones")
            decoder.remove_search("sentences")
        self._graph = None
        if any(graph.arcs):
            self._add_phones()
            decoder.add_fsg("sentences", decoder.create_fsg("sentences", START, end, arcs))
            self._graph = graph

    def decode(self, samples: bytes) -> DecodedSentence | None:
        """The sentence that fits best, and how well; None when there is none."""
        if self._graph is None:
            return None
        segments = self._segments("sentences", samples)
        words = tuple(_plain(segment.word) for segment in segments if _is_word(segment))
        if not words or not self._graph.accepts(words):
            return None
        return compare(words, segments, self._segments("phones", samples))

    def _add_phones(self) -> None:
        if self._has_phones:
            return
        decoder, words = self._decoder, []
        for phone in _PHONES:
            decoder.add_word(_PHONE + phone, phone, False)
            words.append(_PHONE + phone)
        # Without a cost for each phone, a sequence of short ones would fit anything.
        arcs = [*((0, 0, 0.02, word) for word in words), (0, 1, 1.0)]
        decoder.add_fsg("phones", decoder.create_fsg("phones", 0, 1, arcs))
        self._has_phones = True

    def _segments(self, search: str, samples: bytes) -> list[Segment]:
        decoder = self._decoder
        decoder.activate_search(search)
        decoder.start_utt()
        decoder.process_raw(samples, full_utt=True)
        decoder.end_utt()
        if decoder.hyp() is None:
            return []
        return [
            Segment(one.word, one.start_frame, one.end_frame, log(max(one.ascore, _LEAST)) * _SCALE)
            for one in decoder.seg()
            if one.end_frame > one.start_frame
        ]


def compare(words: tuple[str, ...], segments: Sequence[Segment], phones: Iterable[Segment]) -> DecodedSentence | None:
    """Compare a sentence with the best sequence of phones over the same frames; None when it is too short to tell."""
    score = _scores(phones)
    spoken = [segment for segment in segments if _is_word(segment)]
    frames = sum(segment.frames for segment in spoken)
    if frames < _AT_LEAST:
        return None

    def gap(segment: Segment) -> float:
        return segment.score - score(segment.first, segment.last)

    hidden = sum(min(0.0, gap(segment)) for segment in segments if not _is_word(segment))
    return DecodedSentence(
        words,
        sum(map(gap, spoken)) / frames,
        min(gap(segment) / segment.frames for segment in spoken),
        hidden / frames,
    )


def _scores(segments: Iterable[Segment]) -> Callable[[int, int], float]:
    """The score of any stretch of frames, that of each segment spread evenly over its frames."""
    total = [0.0]
    for segment in segments:
        while len(total) <= segment.first:
            total.append(total[-1])
        total += [total[-1] + segment.score / segment.frames * (n + 1) for n in range(segment.frames)]
        del total[segment.last + 2 :]

    def between(first: int, last: int) -> float:
        top = len(total) - 1
        return total[min(top, last + 1)] - total[min(top, first)]

    return between


def _is_word(segment: Segment) -> bool:
    return segment.word[0] not in "<[+"


def _plain(word: str) -> str:
    """A word without the number of a second pronunciation, as in "the(2)"."""
    return word.partition("(")[0]
