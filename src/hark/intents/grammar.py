"""Sentence templates: one line that stands for a set of sentences (INTENT-1).

    turn (on|off) [the] {room} light

`(a|b)` is one of several, `[x]` may be left out, `{slot}` is filled by what was said; groups nest. A type prefix,
`{number:count}`, is read and dropped. Nothing can be escaped.
"""

from __future__ import annotations

import re
from typing import Final

from hark.intents.text import words

MAX_SENTENCES: Final = 5_000
"""A template that stands for more sentences than this is refused."""

Sentence = tuple[str, ...]
"""The words of one sentence; a slot is the word `{name}`."""

_PART = re.compile(r"[^()\[\]{}<>|]+|\{\{[^{}]*\}\}|\{[^{}]*\}|<[^<>]*>|.", re.DOTALL)
_SLOT = re.compile(r"\{\{?(?:[a-z_][a-z0-9_]*:)?([a-z_][a-z0-9_]*)\}\}?")
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_TERM = re.compile(r"\{\w+\}|[^{}]+")
_CLOSERS: Final = {")": "(", "]": "["}


class TemplateError(ValueError):
    """A template that is malformed: what is wrong, and where."""

    def __init__(self, reason: str, template: str, position: int) -> None:
        super().__init__(f"{reason}, at column {position + 1} of {template!r}")
        self.reason = reason
        self.template = template
        self.position = position
        """Offset into the template, from 0."""


def is_slot(word: str) -> bool:
    """Whether a word of a sentence is a slot."""
    return word[0] == "{"


def expand(template: str, limit: int = MAX_SENTENCES) -> tuple[str, ...]:
    """Every sentence `template` stands for, once, slots as `{name}`; raises `TemplateError`."""
    groups = [_Group("", 0)]
    for part in _PART.finditer(template):
        _read(part[0], part.start(), groups, template, limit)
    if len(groups) > 1:
        raise TemplateError(f"{groups[-1].opener!r} is never closed", template, groups[-1].position)
    samples = tuple(dict.fromkeys(" ".join(sample.split()) for sample in groups[0].current))
    if "" in samples:
        raise TemplateError("everything can be left out, which leaves an empty sentence", template, 0)
    return samples


def sentences(template: str, lang: str = "") -> tuple[Sentence, ...]:
    """The sentences of a template that is compared with what people say; raises `TemplateError`.

    A sentence that comes out as nothing but a slot is left out: it would claim whatever is said.
    """
    found = dict.fromkeys(_sentence(sample, template, lang) for sample in expand(template))
    spoken = tuple(sentence for sentence in found if not all(map(is_slot, sentence)))
    if not spoken:
        raise TemplateError("there is no word beside the slots", template, 0)
    return spoken


def phrases(template: str, lang: str = "") -> tuple[str, ...]:
    """The phrases of a template that may hold no slots, as folded text; raises `TemplateError`."""
    brace = template.find("{")
    if brace >= 0:
        raise TemplateError("there can be no slot here", template, brace)
    return tuple(dict.fromkeys(" ".join(_sentence(sample, template, lang)) for sample in expand(template)))


class _Group:
    """A bracket that is being read: the branches that are complete, and the texts of the one that is not."""

    __slots__ = ("branches", "current", "opener", "position")

    def __init__(self, opener: str, position: int) -> None:
        self.opener = opener
        self.position = position
        self.branches: list[str] = []
        self.current = [""]

    def append(self, texts: list[str], limit: int) -> bool:
        """Let every text follow every text there is; false when that makes too many."""
        if len(self.current) * len(texts) > limit:
            return False
        self.current = [before + after for before in self.current for after in texts]
        return True


def _read(part: str, position: int, groups: list[_Group], template: str, limit: int) -> None:
    """Take in one part of a template. Groups multiply out as they close, so no tree is kept and depth costs nothing."""
    group = groups[-1]
    if part in ("(", "["):
        groups.append(_Group(part, position))
    elif part == "|":
        if not group.opener:
            raise TemplateError("'|' stands outside every group", template, position)
        group.branches += group.current
        group.current = [""]
    elif part in _CLOSERS:
        if group.opener != _CLOSERS[part]:
            raise TemplateError(f"{part!r} closes nothing", template, position)
        if part == ")" and not template[group.position + 1 : position].strip():
            raise TemplateError("the group is empty", template, group.position)
        options = [*group.branches, *group.current, *([""] if part == "]" else [])]
        groups.pop()
        if not groups[-1].append(list(dict.fromkeys(options)), limit):
            raise TemplateError(f"this makes more than {limit} sentences", template, group.position)
    else:
        group.append([_literal(part, position, template)], limit)


def _literal(part: str, position: int, template: str) -> str:
    if part in ("{", "}", "<", ">"):
        raise TemplateError(f"{part!r} has no partner", template, position)
    if part[0] == "{":
        slot = _SLOT.fullmatch(part)
        if slot is None:
            raise TemplateError(
                f"{part!r} is no slot: write {{name}} in lower-case letters, digits and '_'", template, position
            )
        return f"{{{slot[1]}}}"
    if part[0] == "<":
        if _NAME.fullmatch(part[1:-1]) is None:
            raise TemplateError(f"{part!r} is no vocabulary name", template, position)
        raise TemplateError(f"the vocabulary {part} is not known here", template, position)
    return part


def _sentence(sample: str, template: str, lang: str) -> Sentence:
    terms: list[str] = []
    for term in _TERM.findall(sample):
        if not is_slot(term):
            terms += words(term, lang)
            continue
        if term in terms:
            raise TemplateError(f"{term} appears twice in {sample!r}", template, _place(term, template))
        if terms and is_slot(terms[-1]):
            raise TemplateError(f"there is no word between {terms[-1]} and {term}", template, _place(term, template))
        terms.append(term)
    if not terms:
        raise TemplateError("punctuation alone is no sentence", template, 0)
    return tuple(terms)


def _place(slot: str, template: str) -> int:
    """Where a slot stands last, prefixed or not."""
    return max(found.start() for found in _SLOT.finditer(template) if found[1] == slot[1:-1])
