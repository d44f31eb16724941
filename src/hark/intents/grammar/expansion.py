"""What templates stand for, as text and as words."""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import Final

from hark.intents.grammar.checks import Direction
from hark.intents.grammar.errors import Malformed, TemplateError, shown
from hark.intents.grammar.template import Template, parse
from hark.intents.grammar.vocabularies import MAX_SENTENCES, Source, Vocabularies
from hark.intents.text import words

log = logging.getLogger("hark.intents")

Sentence = tuple[str, ...]
"""The words of one sentence; a slot is the word `{name}`."""

_TOLD: Final = 10
"""Remarks on one template that are logged one by one."""

_TERM = re.compile(r"\{\w+\}|[^{}]+")


def is_slot(word: str) -> bool:
    """Whether a word of a sentence is a slot."""
    return word[0] == "{"


def expand(
    template: str,
    vocabularies: Source | Vocabularies | None = None,
    *,
    direction: Direction = Direction.INPUT,
    limit: int | None = MAX_SENTENCES,
) -> tuple[str, ...]:
    """Every sentence `template` stands for, once, slots as `{name}`; raises `TemplateError`."""
    return tuple(_read(template, direction, True).samples(vocabularies, limit))


def sentences(template: str, lang: str = "", vocabularies: Source | Vocabularies | None = None) -> tuple[Sentence, ...]:
    """The sentences of a template that is compared with what people say, as words; raises `TemplateError`.

    A sentence that comes out as nothing but a slot is left out: it would claim whatever is said.
    """
    samples = _read(template, Direction.INPUT, True).samples(vocabularies)
    found = dict.fromkeys(_sentence(sample, template, lang) for sample in samples)
    return tuple(sentence for sentence in found if not all(map(is_slot, sentence)))


def phrases(template: str, lang: str = "", vocabularies: Source | Vocabularies | None = None) -> tuple[str, ...]:
    """The phrases of a template that may hold no slots, as folded text; raises `TemplateError`."""
    samples = _read(template, Direction.INPUT, False).samples(vocabularies)
    return tuple(dict.fromkeys(" ".join(_sentence(sample, template, lang)) for sample in samples))


def read_template(template: str) -> Template:
    """A template that is compared with what people say, without expanding it; raises `TemplateError`."""
    return _read(template, Direction.INPUT, True)


@lru_cache(maxsize=256)
def _read(template: str, direction: Direction, slots: bool) -> Template:
    """A template, and a line in the log for everything odd about it. A skill's samples are read when it is loaded and
    again when it registers them; the second time costs nothing and says nothing."""
    found = parse(template, direction=direction, slots=slots)
    for remark in found.remarks[:_TOLD]:
        log.warning("%s, at column %d of %s", remark.reason, remark.position + 1, shown(template))
    if len(found.remarks) > _TOLD:
        log.warning("%d more like these in %s", len(found.remarks) - _TOLD, shown(template))
    return found


def _sentence(sample: str, template: str, lang: str) -> Sentence:
    if "{" not in sample:
        terms = words(sample, lang)
    else:
        terms = []
        for term in _TERM.findall(sample):
            terms += [term] if is_slot(term) else words(term, lang)
    if not terms:
        raise TemplateError("punctuation alone is no sentence", template, 0, Malformed.EMPTY_SAMPLE)
    return tuple(terms)
