"""Finding the words that fill the slots of an intent whose sentences are similar to an utterance but do not fit it.

The words are read from left to right; each is either outside the slots or part of one. The neighbours of a slot in the
sentences, its known values and the words of the sentences count for or against each reading, and the best reading of
the whole utterance is kept. The figures below have one unit: 1 is about the worth of one word of the sentences in its
place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import Final, NamedTuple

from hark.intents.grammar import Sentence, is_slot
from hark.intents.patterns import Span
from hark.intents.template.features import END, GAP, START
from hark.intents.template.profile import SlotWords

Known = Mapping[str, Sequence[frozenset[str]]]
"""The known values by slot."""

_LITERAL: Final = 1.0
"""A word of the sentences, outside slots."""
_LITERAL_INSIDE: Final = -1.5
"""A word of the sentences, inside a slot."""
_COMMON_INSIDE: Final = -0.5
"""A word of other intents' sentences, inside a slot."""
_VALUE_WORD: Final = 0.8
_VALUE: Final = 3.2
_VALUE_LENGTH: Final = 0.5
"""A whole known value, and each of its words."""
_LEFT: Final = 0.4
_RIGHT: Final = 0.3
_RIGHT_SEEN: Final = 0.4
_LEFT_UNSEEN: Final = -1.3
_RIGHT_UNSEEN: Final = -1.3
_BOTH_UNSEEN: Final = -1.5
_BESIDE: Final = -1.0
"""Two neighbouring slots that are never neighbours in the sentences."""
_NUMBER: Final = 0.6
_LONG: Final = -0.2
"""Each word beyond the length of the longest known value."""
LONGEST: Final = 5
"""The most words of a known value that is searched for."""
_WANTED: Final = 3.0
"""A slot that has to be found."""
_AS_WRITTEN: Final = 2.0
"""How much better another reading has to be than one that fits as written."""
_NEVER: Final = -1e9


class _Place(NamedTuple):
    """What is known about one slot."""

    name: str
    left: dict[str, float]
    right: dict[str, float]
    follows: bool
    """Whether it comes right after another slot somewhere."""
    leads: bool
    """Whether another slot comes right after it somewhere."""
    words: Mapping[str, float]
    """The words of its known values."""
    number: float
    """The worth of a number in it."""
    longest: int


_Values = dict[tuple[int, str], list[int]]
"""Where known values end, by where they begin and their slot."""


class _Reading:
    """The best reading of the words up to each place, and what it ends with."""

    __slots__ = ("best", "last", "said")

    def __init__(self, said: Sequence[str]) -> None:
        self.said = said
        self.best = [0.0, *[_NEVER] * len(said)]
        self.last: list[tuple[int, str]] = [(0, "")] * (len(said) + 1)
        """Where the last part begins, and its slot."""

    def offer(self, end: int, worth: float, begin: int, name: str) -> None:
        """Keep a reading that ends with a slot (or a word outside, without name) if there is no better one."""
        if worth > self.best[end]:
            self.best[end], self.last[end] = worth, (begin, name)

    def word(self, here: int) -> str:
        """The word at a place, or the edge beyond the words."""
        if here < 0:
            return START
        return self.said[here] if here < len(self.said) else END

    def spans(self) -> dict[str, Span]:
        """The slots of the best reading of the whole; one that comes twice keeps its first place."""
        found: dict[str, Span] = {}
        here = len(self.said)
        while here > 0:
            begin, name = self.last[here]
            if name:
                found[name] = (begin, here)
            here = begin
        return dict(reversed(found.items()))


class _Open:
    """A slot that may have begun: the best way to be in the middle of it."""

    __slots__ = ("begin", "bonus", "place", "seen", "worth")

    def __init__(self, place: _Place, bonus: float) -> None:
        self.place = place
        self.bonus = bonus
        self.worth = _NEVER
        self.begin = 0
        self.seen = False
        """Whether there is evidence for it beside its length."""

    def take(self, reading: _Reading, here: int, inside: float, values: Sequence[int]) -> None:
        """Let the slot begin with the word at `here`, or continue with it; and offer the readings that end with that
        word."""
        place, word = self.place, reading.said[here]
        begin = place.left.get(reading.word(here - 1))
        seen = begin is not None
        if begin is None:
            begin = _LEFT_UNSEEN
            if here and reading.last[here][1]:
                begin = 0.0 if place.follows else begin + _BESIDE
        begin += reading.best[here] + self.bonus
        for end in values:
            worth = begin + _VALUE + _VALUE_LENGTH * (end - here) + _end(place, reading.word(end), True)
            reading.offer(end, worth, here, place.name)
        if begin >= self.worth:
            self.worth, self.begin, self.seen = begin, here, seen
        if word in place.words:
            self.worth += _VALUE_WORD
            self.seen = True
        else:
            self.worth += inside
        if word.isdigit():
            self.worth += place.number
        if here - self.begin >= place.longest:
            self.worth += _LONG
        reading.offer(here + 1, self.worth + _end(place, reading.word(here + 1), self.seen), self.begin, place.name)


class Tagger:
    """Finds the slots of one intent, by its sentences and the known values."""

    __slots__ = ("_is_common", "_literals", "_places")

    def __init__(
        self,
        sentences: Sequence[Sentence],
        known: Known,
        slots: Mapping[str, SlotWords],
        is_common: Callable[[str], bool],
    ) -> None:
        sentences = [_read_again(sentence, known) for sentence in sentences]
        self._is_common = is_common
        terms = Counter(term for sentence in sentences for term in sentence)
        self._literals = frozenset(term for term in terms if not is_slot(term))
        terms[START] = terms[END] = len(sentences)
        left: dict[str, Counter[str]] = {}
        right: dict[str, Counter[str]] = {}
        for sentence in sentences:
            for before, term, after in zip((START, *sentence), sentence, (*sentence[1:], END), strict=False):
                if is_slot(term):
                    left.setdefault(term, Counter())[GAP if is_slot(before) else before] += 1
                    right.setdefault(term, Counter())[GAP if is_slot(after) else after] += 1
        self._places = [
            _Place(
                term[1:-1],
                {word: _LEFT * _odds(count, terms[word]) for word, count in left[term].items()},
                {word: _RIGHT * _odds(count, terms[word]) + _RIGHT_SEEN for word, count in right[term].items()},
                GAP in left[term],
                GAP in right[term],
                slots[term[1:-1]].words,
                _number(slots[term[1:-1]].numbers),
                slots[term[1:-1]].longest,
            )
            for term in left
        ]

    def tag(self, said: Sequence[str], known: Known, wanted: str = "") -> dict[str, Span]:
        """The words each slot takes; slots that were not said are left out. `wanted` is found if possible."""
        return self._read(said, self._values(said, known), wanted).spans()

    def _read(self, said: Sequence[str], values: _Values, wanted: str = "") -> _Reading:
        reading = _Reading(said)
        slots = [_Open(place, _WANTED if place.name == wanted else 0.0) for place in self._places]
        for here, word in enumerate(said):
            literal = _LITERAL if word in self._literals else 0.0
            reading.offer(here + 1, reading.best[here] + literal, here, "")
            inside = self._inside(word)
            for slot in slots:
                slot.take(reading, here, inside, values.get((here, slot.place.name), ()))
        return reading

    def has_literal(self, word: str) -> bool:
        """Whether some sentence has the word."""
        return word in self._literals

    def has_place(self, slot: str, said: Sequence[str], span: Span) -> bool:
        """Whether some sentence has the slot behind the word that is before these words, or before the next one."""
        before = said[span[0] - 1] if span[0] else START
        after = said[span[1]] if span[1] < len(said) else END
        for place in self._places:
            if place.name == slot:
                return before in place.left or (after is not END and after in place.right) or place.follows
        return False

    def prefers(self, said: Sequence[str], known: Known, spans: Mapping[str, Span]) -> dict[str, Span] | None:
        """Other words for the slots than `spans`, where those make a far better reading; else None."""
        places = {place.name: place for place in self._places}
        if not places.keys() >= spans.keys():
            return None  # its sentences lack one of them
        values = self._values(said, known)
        found = self._read(said, values)
        given = _Reading(said)
        taken = {begin: (end, name) for name, (begin, end) in spans.items()}
        here = 0
        while here < len(said):
            if here not in taken:
                given.offer(here + 1, given.best[here] + (_LITERAL if said[here] in self._literals else 0.0), here, "")
                here += 1
                continue
            end, name = taken[here]
            slot = _Open(places[name], 0.0)
            whole = [end] if end in values.get((here, name), ()) else []
            for place in range(here, end):
                slot.take(given, place, self._inside(said[place]), whole if place == here else [])
            here = end
        return found.spans() if found.best[-1] > given.best[-1] + _AS_WRITTEN else None

    def _inside(self, word: str) -> float:
        if word in self._literals:
            return _LITERAL_INSIDE
        return _COMMON_INSIDE if self._is_common(word) else 0.0

    def _values(self, said: Sequence[str], known: Known) -> _Values:
        """Where known values begin and end."""
        found: _Values = {}
        lists = [(place.name, parts) for place in self._places if (parts := known.get(place.name, ()))]
        for begin in range(len(said)) if lists else ():
            for end in range(begin + 1, min(begin + LONGEST, len(said)) + 1):
                text = " ".join(said[begin:end])
                for name, several in lists:
                    for values in several:
                        if text in values:
                            found.setdefault((begin, name), []).append(end)
                            break
        return found


def _odds(count: int, times: int) -> float:
    """How often a word stands beside the slot when it is said, as a figure that is 1 or a little less for always."""
    return log((count + 0.2) / (times + 0.5)) + 1.0


def _end(place: _Place, after: str, seen: bool) -> float:
    """The worth of ending a slot before `after`; `seen` if there is other evidence for the slot."""
    worth = place.right.get(after)
    if worth is not None:
        return worth
    return (_RIGHT_UNSEEN / 2 if place.leads else _RIGHT_UNSEEN) + (0.0 if seen else _BOTH_UNSEEN)


def _number(share: float | None) -> float:
    """The worth of a number in a slot, by the share of its known values that have one."""
    if share is None:
        return 0.0
    return _NUMBER if share > 0.4 else -_NUMBER if share < 0.1 else 0.0


def _read_again(sentence: Sentence, known: Known) -> Sentence:
    """The sentence, with words beside a slot that are a known value of another slot replaced by that slot.

    Templates cannot have two neighbouring slots (INTENT-1), so authors write an example for one; users say both.
    """
    terms = list(sentence)
    here = 0
    while here < len(terms):
        if not is_slot(terms[here]):
            found = _value_at(terms, here, known)
            if found is not None:
                end, name = found
                terms[here:end] = [f"{{{name}}}"]
        here += 1
    return tuple(terms)


def _value_at(terms: list[str], here: int, known: Known) -> tuple[int, str] | None:
    """The longest known value that begins here beside a slot: where it ends, and the slot it is a value of."""
    stop = here
    last = min(here + LONGEST, len(terms))
    while stop < last and not is_slot(terms[stop]):
        stop += 1
    if here and is_slot(terms[here - 1]):
        ends: Sequence[int] = range(stop, here, -1)
    elif stop < len(terms) and is_slot(terms[stop]):
        ends = (stop,)
    else:
        return None
    for end in ends:
        text = " ".join(terms[here:end])
        for name, parts in known.items():
            if any(text in values for values in parts) and f"{{{name}}}" not in terms:
                return end, name
    return None
