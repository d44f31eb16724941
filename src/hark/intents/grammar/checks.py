"""The rules about what a template's sentences may be (INTENT-1 §3.6), applied to its facts."""

from __future__ import annotations

from enum import StrEnum

from hark.intents.grammar.errors import Malformed, TemplateError
from hark.intents.grammar.facts import MANY, Facts
from hark.intents.grammar.nodes import Choice
from hark.intents.grammar.parser import Tree


class Direction(StrEnum):
    """Whether a template is compared with what people say, or spoken (INTENT-1 §2)."""

    INPUT = "input"
    OUTPUT = "output"


def check(tree: Tree, facts: Facts, direction: Direction) -> None:
    """Raise `TemplateError` if some sentence is none."""
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
