"""Divide a template into lines that are well-formed in Hark (INTENT-1 §3.6) and not too large."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import accumulate
from typing import Final

from hark.tools.convert.normal_form import trim
from hark.tools.convert.template import (
    EMPTY,
    AltItem,
    Item,
    PermItem,
    RefItem,
    Seq,
    SlotItem,
    TextItem,
    options,
    size,
    slots_of,
)

ADJACENT: Final = "two slots have no word between them"
GLUED: Final = "a slot is glued to letters"
REPEATED: Final = "a slot appears twice"
SLOT_ONLY: Final = "there is no word beside the slot"
NOTHING: Final = "everything can be left out"


@dataclass(frozen=True, slots=True)
class SentenceShape:
    """Sentences that look alike: what they begin and end with, which slots they hold, and what is wrong with them."""

    first: str = ""
    """`w` for a word, `s` for a slot, nothing for a sentence that is empty."""
    last: str = ""
    lead: bool = False
    """Whether there is space in front."""
    trail: bool = False
    worded: bool = False
    slots: frozenset[str] = frozenset()
    defects: frozenset[str] = frozenset()


Shapes = frozenset[SentenceShape]
_BLANK: Final = SentenceShape(lead=True, trail=True)
_WORD: Final = SentenceShape("w", "w", worded=True)
START: Final[Shapes] = frozenset({SentenceShape()})


def shapes_of(node: Seq | Item, of_ref: Callable[[str], Shapes]) -> Shapes:
    """The shapes of all sentences of a tree."""
    match node:
        case TextItem(text):
            return frozenset({_shape_of_text(text)})
        case SlotItem(name):
            return frozenset({SentenceShape("s", "s", slots=frozenset({name}))})
        case RefItem(name):
            return of_ref(name)
        case AltItem():
            return frozenset().union(*(shapes_of(branch, of_ref) for branch in options(node)))
        case Seq(items):
            return reduce(joined, (shapes_of(item, of_ref) for item in items), START)
        case PermItem():
            raise ValueError("permutations are written out before shapes are computed")


def faults(shapes: Shapes) -> list[str]:
    """The faults of at least one sentence of a template that is compared with utterances."""
    return sorted(frozenset().union(*map(_faults_of, shapes)))


def any_valid(shapes: Shapes) -> bool:
    """Whether at least one sentence has no fault."""
    return any(not _faults_of(shape) for shape in shapes)


def _faults_of(shape: SentenceShape) -> frozenset[str]:
    if not shape.first:
        return shape.defects | {NOTHING}
    return shape.defects if shape.worded else shape.defects | {SLOT_ONLY}


def _shape_of_text(text: str) -> SentenceShape:
    if not text:
        return SentenceShape()
    if text.isspace():
        return _BLANK
    return replace(_WORD, lead=text[0].isspace(), trail=text[-1].isspace())


def joined(left: Shapes, right: Shapes) -> Shapes:
    """The shapes of every sentence of one template followed by every sentence of another."""
    return frozenset(_join(one, other) for one in left for other in right)


def _join(one: SentenceShape, other: SentenceShape) -> SentenceShape:
    if not one.first:
        return replace(other, lead=other.lead or one.lead, trail=other.trail or (not other.first and one.lead))
    if not other.first:
        return replace(one, trail=one.trail or other.lead)
    found = one.defects | other.defects
    if one.last == other.first == "s":
        found |= {ADJACENT}
    elif "s" in (one.last, other.first) and not (one.trail or other.lead):
        found |= {GLUED}
    if one.slots & other.slots:
        found |= {REPEATED}
    return SentenceShape(
        one.first, other.last, one.lead, other.trail, one.worded or other.worded, one.slots | other.slots, found
    )


_MOST_LINES: Final = 500
"""The most lines for one sentence."""
_MOST_PARTS: Final = 200
"""The most parts a sentence is taken apart into, valid and malformed ones together."""
_TOO_MANY: Final = f"it takes more than {_MOST_LINES} lines"


@dataclass(frozen=True, slots=True)
class VocabularyLookup:
    """Lookup of the vocabularies a template refers to."""

    body: Callable[[str], Seq]
    shapes: Callable[[str], Shapes]
    size: Callable[[str], int]


@dataclass(slots=True)
class Division:
    """The lines a sentence became, and the parts that are malformed in Hark, with the faults of each."""

    lines: list[Seq] = field(default_factory=list)
    refused: list[tuple[Seq, list[str]]] = field(default_factory=list)


def divide(seq: Seq, known: VocabularyLookup, limit: int) -> Division:
    """Divide the sentences of `seq` into as few lines as possible; malformed sentences are kept apart."""
    division = Division()
    _sort(trim(seq), known, division)
    lines, division.lines = division.lines, []
    for line in lines:
        small = [] if size(line, known.size) > limit * _MOST_LINES else list(_small_enough(line, known, limit))
        if small and len(small) + len(division.lines) <= _MOST_LINES:
            division.lines += map(trim, small)
        else:
            division.refused.append((line, [_TOO_MANY]))
    return division


def _sort(seq: Seq, known: VocabularyLookup, division: Division) -> None:
    shapes = shapes_of(seq, known.shapes)
    found = faults(shapes)
    if not found:
        division.lines.append(seq)
    elif not any_valid(shapes):
        division.refused.append((seq, found))
    elif len(division.lines) + len(division.refused) > _MOST_PARTS:
        division.refused.append((seq, [_TOO_MANY]))
    else:
        # Some sentences are valid, others not: an alternative separates them; phrases of a vocabulary are alike.
        place, choice = min(_choices(seq, known), key=lambda one: one[1].rank)
        if choice.valid:
            division.lines.append(_with(seq, place, choice.valid))
        if choice.invalid:
            rest = _with(seq, place, choice.invalid)
            division.refused.append((rest, faults(shapes_of(rest, known.shapes))))
        for branch in choice.mixed:
            _sort(_with(seq, place, [branch]), known, division)


@dataclass(slots=True)
class _Choice:
    """The branches of one alternative, by what becomes of the template with each of them alone."""

    far: bool
    """Whether it neither contains a slot nor is beside one."""
    valid: list[Seq] = field(default_factory=list)
    invalid: list[Seq] = field(default_factory=list)
    mixed: list[Seq] = field(default_factory=list)

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """Smaller is better: it separates something, is near a slot, and leaves few mixed branches."""
        return not (self.valid or self.invalid), self.far, len(self.mixed)


def _choices(seq: Seq, known: VocabularyLookup) -> Iterator[tuple[int, _Choice]]:
    # What stands before and after an alternative does not change with its branches.
    each = [shapes_of(item, known.shapes) for item in seq.items]
    before = list(accumulate(each, joined, initial=START))
    after = list(accumulate(reversed(each), lambda late, early: joined(early, late), initial=START))[::-1]
    for place, item in enumerate(seq.items):
        if not isinstance(item, AltItem):
            continue
        near = [*seq.items[max(0, place - 2) : place + 3]]
        choice = _Choice(far=not any(slots_of(other) for other in near))
        for branch in options(item):
            shapes = joined(joined(before[place], shapes_of(branch, known.shapes)), after[place + 1])
            if not faults(shapes):
                choice.valid.append(branch)
            else:
                (choice.mixed if any_valid(shapes) else choice.invalid).append(branch)
        yield place, choice


def _with(seq: Seq, place: int, branches: list[Seq]) -> Seq:
    """`seq` with one alternative narrowed down to some of its branches."""
    before, after = seq.items[:place], seq.items[place + 1 :]
    if len(branches) == 1:
        return trim(Seq((*before, *branches[0].items, *after)))
    chosen = tuple(branch for branch in branches if branch != EMPTY)
    return trim(Seq((*before, AltItem(chosen, optional=EMPTY in branches), *after)))


def _small_enough(seq: Seq, known: VocabularyLookup, limit: int) -> Iterator[Seq]:
    whole = size(seq, known.size)
    if whole <= limit:
        yield seq
        return
    place = _largest_place(seq, known)
    if place is None:
        yield seq  # one sentence, or a limit below one
        return
    item = seq.items[place]
    if isinstance(item, RefItem):
        yield from _small_enough(_with(seq, place, [known.body(item.name)]), known, limit)
        return
    share = max(1, limit * size(item, known.size) // whole)
    for branches in _portions(item, share, known):
        yield from _small_enough(_with(seq, place, branches), known, limit)


def _largest_place(seq: Seq, known: VocabularyLookup) -> int | None:
    """The alternative that multiplies most; a vocabulary is written out only when there is no alternative left."""
    for kind in (AltItem, RefItem):
        found = [(size(item, known.size), -place) for place, item in enumerate(seq.items) if isinstance(item, kind)]
        if found and max(found)[0] > 1:
            return -max(found)[1]
    return None


def _portions(item: object, share: int, known: VocabularyLookup) -> Iterator[list[Seq]]:
    """The branches of an alternative in portions of at most `share` sentences, or one by one."""
    portion: list[Seq] = []
    weight = 0
    for branch in options(item) if isinstance(item, AltItem) else ():
        own = size(branch, known.size)
        if portion and weight + own > share:
            yield portion
            portion, weight = [], 0
        portion.append(branch)
        weight += own
    if portion:
        yield portion
