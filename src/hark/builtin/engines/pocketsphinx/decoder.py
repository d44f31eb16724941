"""Listening for the sentences of a graph, and for everything else, so that the one is not taken for the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import log
from typing import Any, Final, NamedTuple

from hark.builtin.engines.speech_grammar.graph import START, WordGraph

_SOUND: Final = "_"
"""Before the name of a single sound, as a word: no word of a sentence begins like this."""
_SCALE: Final = 1_024.0
"""The library keeps its scores divided by this."""
_LEAST: Final = 1e-300

_ALL: Final = "AA AE AH AO AW AY B CH D DH EH ER EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH"
_SOUNDS: Final = tuple(_ALL.split())
"""The sounds of the model."""

_AT_LEAST: Final = 6
"""Frames of 10 ms of speech below which nothing was said."""


class Segment(NamedTuple):
    """A stretch of sound and what it was taken for; the last frame is within it."""

    word: str
    first: int
    last: int
    score: float

    @property
    def frames(self) -> int:
        """How long it is."""
        return self.last - self.first + 1


class DecodedSentence(NamedTuple):
    """A sentence of the graph, and how much worse it fits than mere sounds do: all of them are 0 where it fits as well,
    below 0 the worse it fits, for each frame."""

    words: tuple[str, ...]
    whole: float
    """On the whole."""
    worst: float
    """The word that fits worst."""
    hidden: float
    """What was taken for silence or noise: speech that the sentence has no words for."""


class Decoder:
    """One recogniser with two searches: the graph, and any row of sounds. For one thread at a time."""

    def __init__(self, library: Any, model: str, dictionary: str) -> None:
        # `compallsen` makes scores comparable: both searches measure against the best of all sounds. The best path
        # through the lattice would be looked for at each question, for seconds.
        self._decoder = library.Decoder(
            hmm=model, dict=dictionary, lm=None, loglevel="FATAL", compallsen=True, bestpath=False
        )
        self._graph: WordGraph | None = None
        self._has_sounds = False

    def knows(self, word: str) -> bool:
        """Whether a word is in the dictionary."""
        return self._decoder.lookup_word(word) is not None

    def learn(self, word: str, sounds: str) -> None:
        """Add a word to the dictionary."""
        self._decoder.add_word(word, sounds, False)

    def listen_for(self, graph: WordGraph) -> None:
        """From now on these sentences are listened for. Every word has to be in the dictionary."""
        decoder, end = self._decoder, len(graph.arcs)
        arcs: list[tuple[Any, ...]] = [
            (state, to, 1.0, word) for state, leads in enumerate(graph.arcs) for word, to in leads.items()
        ]
        arcs += [(state, end, 1.0) for state in graph.finals]
        if self._graph is not None:
            decoder.activate_search("sounds")
            decoder.remove_search("sentences")
        self._graph = None
        if any(graph.arcs):
            self._add_sounds()
            decoder.add_fsg("sentences", decoder.create_fsg("sentences", START, end, arcs))
            self._graph = graph

    def hear(self, samples: bytes) -> DecodedSentence | None:
        """The sentence that fits best and how well it does; None when there is none."""
        if self._graph is None:
            return None
        parts = self._parts("sentences", samples)
        words = tuple(_plain(part.word) for part in parts if _is_word(part))
        if not words or not self._graph.accepts(words):
            return None
        return judged(words, parts, self._parts("sounds", samples))

    def _add_sounds(self) -> None:
        if self._has_sounds:
            return
        decoder, words = self._decoder, []
        for sound in _SOUNDS:
            decoder.add_word(_SOUND + sound, sound, False)
            words.append(_SOUND + sound)
        # Each sound costs as much as one of fifty does: else a row of short ones would fit anything.
        arcs = [*((0, 0, 0.02, word) for word in words), (0, 1, 1.0)]
        decoder.add_fsg("sounds", decoder.create_fsg("sounds", 0, 1, arcs))
        self._has_sounds = True

    def _parts(self, search: str, samples: bytes) -> list[Segment]:
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


def judged(words: tuple[str, ...], parts: Sequence[Segment], sounds: Iterable[Segment]) -> DecodedSentence | None:
    """How a sentence compares with the best row of sounds over the same frames; None when it is too short to tell."""
    lost = _scores(sounds)
    spoken = [part for part in parts if _is_word(part)]
    frames = sum(part.frames for part in spoken)
    if frames < _AT_LEAST:
        return None

    def gap(part: Segment) -> float:
        return part.score - lost(part.first, part.last)

    hidden = sum(min(0.0, gap(part)) for part in parts if not _is_word(part))
    return DecodedSentence(
        words,
        sum(map(gap, spoken)) / frames,
        min(gap(part) / part.frames for part in spoken),
        hidden / frames,
    )


def _scores(parts: Iterable[Segment]) -> Callable[[int, int], float]:
    """The score of any stretch of frames, each part's spread evenly over its own."""
    total = [0.0]
    for part in parts:
        while len(total) <= part.first:
            total.append(total[-1])
        total += [total[-1] + part.score / part.frames * (n + 1) for n in range(part.frames)]
        del total[part.last + 2 :]

    def between(first: int, last: int) -> float:
        top = len(total) - 1
        return total[min(top, last + 1)] - total[min(top, first)]

    return between


def _is_word(part: Segment) -> bool:
    return part.word[0] not in "<[+"


def _plain(word: str) -> str:
    """Without the number of a second pronunciation: "the(2)"."""
    return word.partition("(")[0]
