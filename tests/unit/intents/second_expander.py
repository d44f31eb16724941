"""A second expander, written straight from the steps of INTENT-1 §4: it rewrites text and looks at every sentence.

Slow and simple, so that the real one has something to be compared with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product

NAME = r"[a-z_][a-z0-9_]*"
GROUP = re.compile(r"\(([^()]*)\)")


class Refused(Exception):
    """The template is malformed, in this way."""


def second_expand(
    template: str, vocabularies: Mapping[str, Sequence[str]] | None = None, *, spoken: bool = False
) -> frozenset[str]:
    """The set of sentences; `spoken` for the output direction."""
    samples = _samples(template, vocabularies or {}, ())
    slotted = any("{" in sample for sample in samples)
    for sample in samples:
        names = re.findall(r"\{(\w+)\}", sample)
        if len(names) != len(set(names)):
            raise Refused("repeated-slot")
    if slotted and not spoken:
        for sample in samples:
            if any(not _has_word(between) for between in re.split(r"\{\w+\}", sample)[1:-1]):
                raise Refused("adjacent-slots")
        if not any(_has_word(re.sub(r"\{\w+\}", "", sample)) for sample in samples):
            raise Refused("slot-only")
    return samples


def _samples(template: str, vocabularies: Mapping[str, Sequence[str]], asked: tuple[str, ...]) -> frozenset[str]:
    text = re.sub(r"\{\{([^{}]*)\}\}", r"{\1}", template)
    text = re.sub(rf"\{{{NAME}:({NAME})\}}", r"{\1}", text)
    _look_at_the_surface(text)
    text = re.sub(r"<(\w+)>", lambda found: _members(found[1], vocabularies, asked), text)
    while "[" in text:
        text = re.sub(r"\[([^\[\]]*)\]", lambda found: f"({found[1]}|)", text)
    texts = {text}
    while any("(" in one for one in texts):
        texts = {made for one in texts for made in _without_innermost_groups(one)}
    samples = frozenset(" ".join(one.split()) for one in texts)
    if "" in samples:
        raise Refused("empty-sample")
    return samples


def _members(name: str, vocabularies: Mapping[str, Sequence[str]], asked: tuple[str, ...]) -> str:
    if name in asked:
        raise Refused("cyclic-vocabulary")
    if name not in vocabularies:
        raise Refused("undefined-vocabulary")
    members = [sample for member in vocabularies[name] for sample in _samples(member, vocabularies, (*asked, name))]
    if not members:
        raise Refused("empty-vocabulary")
    if any("{" in member for member in members):
        raise Refused("slot-not-allowed")
    return f"({'|'.join(members)})"


def _without_innermost_groups(text: str) -> list[str]:
    texts = GROUP.split(text)
    around, inside = texts[::2], [branches.split("|") for branches in texts[1::2]]
    return ["".join(a + b for a, b in zip(around, (*chosen, ""), strict=True)) for chosen in product(*inside)]


def _look_at_the_surface(text: str) -> None:
    rest = re.sub(r"\{[^{}]*\}", lambda found: "s" * len(found[0]), text)
    rest = re.sub(r"<[^<>]*>", lambda found: "r" * len(found[0]), rest)
    if re.search(r"[{}<>]", rest):
        raise Refused("unbalanced")
    opened: list[str] = []
    for place, sign in enumerate(rest):
        if sign in "([":
            opened.append(sign)
        elif sign in ")]":
            if not opened or opened.pop() + sign not in ("()", "[]"):
                raise Refused("unbalanced")
            if sign == ")" and re.search(r"\(\s*$", rest[:place]):
                raise Refused("empty-group")
        elif sign == "|" and not opened:
            raise Refused("pipe-outside-group")
    if opened:
        raise Refused("unbalanced")
    if not all(re.fullmatch(NAME, name) for name in re.findall(r"\{([^{}]*)\}", text)):
        raise Refused("invalid-slot")
    if not all(re.fullmatch(NAME, name) for name in re.findall(r"<([^<>]*)>", text)):
        raise Refused("invalid-reference")


def _has_word(text: str) -> bool:
    return any(letter.isalnum() for letter in text)
