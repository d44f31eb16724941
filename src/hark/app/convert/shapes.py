"""What can be wrong with some sentence of a template, found without writing out its sentences (INTENT-1 §3.6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

from hark.app.convert.tree import Alt, Item, Perm, Ref, Seq, Slot, Text, options

ADJACENT: Final = "two slots have no word between them"
GLUED: Final = "a slot is glued to letters"
REPEATED: Final = "a slot appears twice"
SLOT_ONLY: Final = "there is no word beside the slot"
NOTHING: Final = "everything can be left out"


@dataclass(frozen=True, slots=True)
class Shape:
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


Shapes = frozenset[Shape]
_BLANK: Final = Shape(lead=True, trail=True)
_WORD: Final = Shape("w", "w", worded=True)
START: Final[Shapes] = frozenset({Shape()})


def shapes_of(node: Seq | Item, of_ref: Callable[[str], Shapes]) -> Shapes:
    """The shapes of all sentences of a tree."""
    match node:
        case Text(text):
            return frozenset({_shape_of_text(text)})
        case Slot(name):
            return frozenset({Shape("s", "s", slots=frozenset({name}))})
        case Ref(name):
            return of_ref(name)
        case Alt():
            return frozenset().union(*(shapes_of(branch, of_ref) for branch in options(node)))
        case Seq(items):
            return reduce(joined, (shapes_of(item, of_ref) for item in items), START)
        case Perm():
            raise ValueError("permutations are written out before anybody looks at shapes")


def faults(shapes: Shapes) -> list[str]:
    """What is wrong with at least one sentence of a template that is compared with what people say."""
    return sorted(frozenset().union(*map(_faults_of, shapes)))


def any_sound(shapes: Shapes) -> bool:
    """Whether at least one sentence can be said."""
    return any(not _faults_of(shape) for shape in shapes)


def _faults_of(shape: Shape) -> frozenset[str]:
    if not shape.first:
        return shape.defects | {NOTHING}
    return shape.defects if shape.worded else shape.defects | {SLOT_ONLY}


def _shape_of_text(text: str) -> Shape:
    if not text:
        return Shape()
    if text.isspace():
        return _BLANK
    return replace(_WORD, lead=text[0].isspace(), trail=text[-1].isspace())


def joined(left: Shapes, right: Shapes) -> Shapes:
    """The shapes of every sentence of one template followed by every sentence of another."""
    return frozenset(_join(one, other) for one in left for other in right)


def _join(one: Shape, other: Shape) -> Shape:
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
    return Shape(
        one.first, other.last, one.lead, other.trail, one.worded or other.worded, one.slots | other.slots, found
    )
