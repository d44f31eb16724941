"""A keyword intent as a matcher holds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hark.intents.definition import Definition


class Vocabulary(NamedTuple):
    """A name for what can be said in several ways."""

    name: str
    phrases: frozenset[str]
    """Every way to say it, as folded words with one space between them."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KeywordIntent(Definition):
    """One registered keyword intent in one language, compiled (INTENT-4 §5). Its slots are its vocabularies."""

    required: tuple[Vocabulary, ...] = ()
    """All of them have to be there."""
    one_of: tuple[tuple[Vocabulary, ...], ...] = ()
    """Of each group, at least one."""
    optional: tuple[Vocabulary, ...] = ()
    excluded: tuple[Vocabulary, ...] = ()
    """None of them may be said."""
    vocabularies: tuple[Vocabulary, ...]
    """All of them, each once: required, then one-of, then optional, which become slots; then the excluded ones."""
    places: Mapping[str, tuple[int, ...]]
    """For each phrase, which of `vocabularies` it belongs to."""
    groups: tuple[tuple[int, ...], ...] = ()
    """For each group of `one_of`, which of `vocabularies` it consists of."""

    def anchors(self) -> Iterator[tuple[Vocabulary, ...]]:
        """Sets of vocabularies of each of which something has to be there: either is enough to find the intent by."""
        for vocabulary in self.required:
            yield (vocabulary,)
        yield from self.one_of
