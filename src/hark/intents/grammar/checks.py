"""The rules about what a template's sentences may be (INTENT-1 §3.6), checked without making any sentence.

Every combination of branches is possible, so each fact about a whole follows from the same facts about its parts: two
slots meet in some sentence exactly if they meet within a part, or one part can end with a slot and the next can begin
with one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from hark.intents.grammar.parser import Choice, Literal, Malformed, Node, Reference, Sequence, Slot, TemplateError, Tree

MANY: Final = 10**18
"""Where counting stops: a larger number of sentences counts as this."""

_WORD = re.compile(r"[^\W_]")
_NONE: Final[Mapping[str, Slot]] = {}


class Facts(NamedTuple):
    """Facts about a node; "some sentence" is some combination of its branches. A word has a letter or digit."""

    size: int = 1
    """Combinations, up to `MANY`."""
    blank: bool = False
    """Some sentence is empty."""
    thin: bool = False
    """Some sentence has neither word nor slot."""
    word: bool = False
    """Some sentence has a word."""
    slotted: bool = False
    """Some sentence has a slot."""
    bare: Slot | None = None
    """A slot of a sentence with slots and no word."""
    first: Slot | None = None
    """A slot that comes before every word of some sentence."""
    last: Slot | None = None
    """A slot that comes after every word of some sentence."""
    adjacent: tuple[Slot, Slot] | None = None
    """Two slots of some sentence with no word between them."""
    repeated: Slot | None = None
    """The second occurrence of a slot that some sentence has twice."""
    watched: Mapping[str, Slot] = _NONE
    """The slots that occur, of those whose name the template has more than once."""


_BLANK: Final = Facts(blank=True, thin=True)
_SIGNS: Final = Facts(thin=True)
_A_WORD: Final = Facts(word=True)


def has_word(text: str) -> bool:
    """Whether there is a letter or digit in `text`: signs alone are dropped before text is compared with speech."""
    return _WORD.search(text) is not None


def measure(order: list[Node], members: Callable[[Reference], Facts], watched: Collection[str] = ()) -> Facts:
    """The facts of the last node in `order`, which has the parts of a node ahead of it.

    `watched` are the names of slots that occur more than once.
    """
    found: dict[Node, Facts] = {}
    facts = _BLANK
    is_word = _WORD.search
    for node in order:
        if isinstance(node, Literal):
            facts = _A_WORD if is_word(node.text) else _SIGNS if node.text.strip() else _BLANK
        elif isinstance(node, Slot):
            watch = {node.name: node} if node.name in watched else _NONE
            facts = Facts(1, False, False, False, True, node, node, node, None, None, watch)
        elif isinstance(node, Sequence):
            facts = _of_sequence([found[part] for part in node.parts])
        elif isinstance(node, Choice):
            facts = _of_choice([found[branch] for branch in node.branches])
        else:
            facts = members(node)
        found[node] = facts
    return facts


def assumed(_reference: Reference) -> Facts:
    """The facts of a vocabulary that was not read yet: members are never empty and have no slots."""
    return _A_WORD


def of_members(members: tuple[str, ...]) -> Facts:
    """The facts of a vocabulary with these members."""
    wordy = [has_word(member) for member in members]
    return Facts(size=len(members), thin=not all(wordy), word=any(wordy))


def _of_sequence(parts: list[Facts]) -> Facts:
    """The facts of a sequence."""
    size = 1
    blank = thin = True
    word = slotted = False
    bare: Slot | None = None
    first: Slot | None = None
    last: Slot | None = None
    adjacent: tuple[Slot, Slot] | None = None
    repeated: Slot | None = None
    watched = _NONE
    for part in parts:
        if part.size > 1:
            size = min(size * part.size, MANY)
        blank = blank and part.blank
        word = word or part.word
        if part.slotted:
            slotted = True
            bare = (bare if part.bare or part.thin else None) or (part.bare if thin else None)
            adjacent = adjacent or part.adjacent or ((last, part.first) if last and part.first else None)
            first = first or (part.first if thin else None)
            last = part.last or (last if part.thin else None)
            if part.watched:
                shared = next((slot for name, slot in part.watched.items() if name in watched), None)
                repeated = repeated or part.repeated or shared
                watched = {**part.watched, **watched}
        elif not part.thin:
            bare = last = None
        thin = thin and part.thin
    return Facts(size, blank, thin, word, slotted, bare, first, last, adjacent, repeated, watched)


def _of_choice(branches: list[Facts]) -> Facts:
    """The facts of a choice."""
    size = 0
    blank = thin = word = False
    slotted: list[Facts] = []
    for branch in branches:
        size += branch.size
        blank = blank or branch.blank
        thin = thin or branch.thin
        word = word or branch.word
        if branch.slotted:
            slotted.append(branch)
    size = min(size, MANY)
    if not slotted:
        return Facts(size, blank, thin, word)
    return Facts(
        size,
        blank,
        thin,
        word,
        True,
        next((facts.bare for facts in slotted if facts.bare), None),
        next((facts.first for facts in slotted if facts.first), None),
        next((facts.last for facts in slotted if facts.last), None),
        next((facts.adjacent for facts in slotted if facts.adjacent), None),
        next((facts.repeated for facts in slotted if facts.repeated), None),
        {name: slot for facts in reversed(slotted) for name, slot in facts.watched.items()} or _NONE,
    )


class Direction(StrEnum):
    """Whether a template is compared with what users say, or spoken (INTENT-1 §2)."""

    INPUT = "input"
    OUTPUT = "output"


def check(tree: Tree, facts: Facts, direction: Direction) -> None:
    """Raise `TemplateError` if some sentence is malformed."""
    if facts.blank:
        reason = "everything can be left out, which leaves an empty sentence"
        raise TemplateError(reason, tree.text, 0, Malformed.EMPTY_SAMPLE)
    if facts.repeated is not None:
        reason = f"{{{facts.repeated.name}}} appears twice in one sentence"
        raise TemplateError(reason, tree.text, facts.repeated.position, Malformed.REPEATED_SLOT)
    if direction is Direction.OUTPUT or not facts.slotted:
        return  # what is spoken is never taken apart again
    if facts.adjacent is not None:
        one, other = facts.adjacent
        reason = f"there is no word between {{{one.name}}} and {{{other.name}}}"
        raise TemplateError(reason, tree.text, other.position, Malformed.ADJACENT_SLOTS)
    if not facts.word:
        raise TemplateError("there is no word beside the slots", tree.text, 0, Malformed.SLOT_ONLY)


def check_size(tree: Tree, facts: Facts, limit: int | None) -> None:
    """Raise `TemplateError` if there are more than `limit` combinations."""
    if limit is None or facts.size <= limit:
        return
    count = f"at least {MANY}" if facts.size == MANY else str(facts.size)
    position = next((node.position for node in tree.order if isinstance(node, Choice)), 0)
    reason = f"this stands for {count} sentences, more than {limit}, which is the limit"
    raise TemplateError(reason, tree.text, position, Malformed.TOO_MANY_SENTENCES)
