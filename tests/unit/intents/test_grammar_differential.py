"""The same templates through the reference implementation, `ovos-spec-tools`.

It is no authority: where it and our catalogue of INTENT-1 disagree, the catalogue wins, and the case is listed here. A
listed disagreement that disappears fails, and so does one that is not listed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

import ovos_spec_tools as reference
import pytest
from hypothesis import given, settings
from template_texts import VOCABULARIES, templates

from hark.intents.grammar import Direction, TemplateError, expand, has_word

KNOWN = {**VOCABULARIES, "_v": ["fine"]}
IN, OUT = Direction.INPUT, Direction.OUTPUT

UNDERSCORE = "a name may begin with '_' (INTENT-1/3.4.c, trap T5)"
NO_WORD = "what is compared with speech needs a word beside its slots (INTENT-1/3.6.d, trap T3)"
SIGNS = "signs vanish before anything is compared, so they keep no slots apart (INTENT-1/3.6.f, trap T9)"
LIMIT = "an expander may refuse what is too big, and says so (INTENT-1/4.3.b, trap T10)"

DISAGREEMENTS = [
    ("say {_a}", IN, {"say {_a}"}, "invalid slot name", UNDERSCORE),
    ("say {_a}", OUT, {"say {_a}"}, "invalid slot name", UNDERSCORE),
    ("say {_t:a}", IN, {"say {a}"}, "invalid slot name", UNDERSCORE),
    ("say {number:_a}", IN, {"say {_a}"}, "invalid slot name", UNDERSCORE),
    ("say <_v>", IN, {"say fine"}, "invalid vocabulary name", UNDERSCORE),
    ("({a}|{b})", IN, "slot-only", {"{a}", "{b}"}, NO_WORD),
    ("({a})", IN, "slot-only", {"{a}"}, NO_WORD),
    ("[!] {a}", IN, "slot-only", {"{a}", "! {a}"}, NO_WORD),
    ("go {a}, {b}", IN, "adjacent-slots", {"go {a}, {b}"}, SIGNS),
    ("go {a} - {b}", IN, "adjacent-slots", {"go {a} - {b}"}, SIGNS),
    ("go {a} <sign> {b}", IN, "adjacent-slots", {"go {a} ! {b}", "go {a} ok {b}"}, SIGNS),
    ("(a|b)" * 13, IN, "too-many-sentences", 2**13, LIMIT),
]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """It logs every oddity; thousands of them tell nothing."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def ours(text: str, direction: Direction) -> frozenset[str] | str:
    """Our sentences, or the kind of our refusal."""
    try:
        return frozenset(expand(text, KNOWN, direction=direction))
    except TemplateError as error:
        return error.kind


def theirs(text: str, direction: Direction) -> frozenset[str] | str:
    """Their sentences, or the words of their refusal."""
    try:
        return frozenset(reference.expand(text, KNOWN, direction=direction.value))
    except reference.MalformedTemplate as error:
        return f"refused: {error}"


@pytest.mark.parametrize(("text", "direction", "we", "they", "why"), DISAGREEMENTS)
def test_a_listed_disagreement_is_still_one(
    text: str, direction: Direction, we: set[str] | str, they: set[str] | str | int, why: str
) -> None:
    assert ours(text, direction) == we, why
    found = theirs(text, direction)
    if isinstance(they, str):
        assert isinstance(found, str)
        assert they in found
    elif isinstance(they, int):
        assert len(found) == they
    else:
        assert found == they


@pytest.mark.spec("INTENT-1/4.a")
@pytest.mark.parametrize("direction", list(Direction))
@settings(deadline=None, max_examples=250)
@given(text=templates)
def test_there_is_no_other_disagreement(direction: Direction, text: str) -> None:
    we, they = ours(text, direction), theirs(text, direction)
    if isinstance(we, str) and isinstance(they, str):
        return
    assert we == they or _is_listed(text, direction, we, they)


def _is_listed(text: str, direction: Direction, we: frozenset[str] | str, they: frozenset[str] | str) -> bool:
    """Whether one of the reasons above explains it, judged by what the other side made of the template."""
    if isinstance(they, str):
        return "invalid" in they and re.search(r"[{<:]_", text) is not None  # UNDERSCORE
    if direction is OUT:
        return False
    apart = [re.split(r"\{\w+\}", sample) for sample in they]
    if we == "slot-only":  # NO_WORD
        return not any(has_word(literal) for sample in apart for literal in sample)
    if we == "adjacent-slots":  # SIGNS
        return any(literal.strip() and not has_word(literal) for sample in apart for literal in sample[1:-1])
    return False
