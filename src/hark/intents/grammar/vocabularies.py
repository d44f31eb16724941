"""Named vocabularies: what `<name>` stands for (INTENT-1 §3.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Final

from hark.intents.grammar.checks import Direction, check, check_size
from hark.intents.grammar.errors import Malformed, TemplateError
from hark.intents.grammar.facts import Facts, measure, of_members
from hark.intents.grammar.nodes import Reference
from hark.intents.grammar.parser import Tree, read
from hark.intents.grammar.walk import walk

MAX_SENTENCES: Final = 5_000
"""A template that stands for more sentences than this is refused, and so is a vocabulary with more members."""

Source = Mapping[str, Iterable[str]] | Callable[[str], Iterable[str] | None]
"""Where the templates of a vocabulary come from, by its name: a mapping, or a function that answers None for a name
nobody knows."""


class Vocabularies:
    """Vocabularies, expanded when they are first asked for and kept. They may name each other, in no circle."""

    def __init__(self, source: Source | None = None, limit: int = MAX_SENTENCES) -> None:
        self._source = source
        self._limit = limit
        self._members: dict[str, tuple[str, ...]] = {}
        self._facts: dict[str, Facts] = {}

    @classmethod
    def of(cls, source: Source | Vocabularies | None) -> Vocabularies:
        """`source` as vocabularies; those that are some already stay what they are, with what they keep."""
        return source if isinstance(source, Vocabularies) else cls(source)

    def members(self, name: str) -> tuple[str, ...]:
        """Every phrase of a vocabulary, once, in the order of writing.

        Raises `TemplateError` with the template `<name>`, and in `chain` the vocabularies that lead to what is wrong.
        """
        if name not in self._members:
            self._resolve(name)
        return self._members[name]

    def of_reference(self, reference: Reference) -> tuple[str, ...]:
        """The members a reference stands for."""
        return self.members(reference.name)

    def facts(self, reference: Reference) -> Facts:
        """What holds for the members a reference stands for."""
        name = reference.name
        if name not in self._facts:
            self._facts[name] = of_members(self.members(name))
        return self._facts[name]

    def _resolve(self, wanted: str) -> None:
        """Expand a vocabulary and all it depends on, those first. A chain of names may be longer than Python recurses,
        so it is kept in a list."""
        trees = {wanted: self._trees(wanted, (wanted,))}
        path = {wanted: self._needs(trees[wanted])}
        while path:
            name, needs = next(reversed(path.items()))
            if not needs:
                self._members[name] = self._expanded(name, trees[name], tuple(path))
                del path[name]
                continue
            needed = needs.pop()
            if needed in path:
                way = (*path, needed)
                circle = " → ".join(f"<{step}>" for step in way[way.index(needed) :])
                raise _error(Malformed.CYCLIC_VOCABULARY, f"the vocabulary <{needed}> needs itself: {circle}", way)
            if needed not in self._members:
                trees[needed] = self._trees(needed, (*path, needed))
                path[needed] = self._needs(trees[needed])

    def _needs(self, trees: list[Tree]) -> list[str]:
        return list(dict.fromkeys(chain.from_iterable(reversed(tree.references) for tree in reversed(trees))))

    def _trees(self, name: str, way: tuple[str, ...]) -> list[Tree]:
        source = self._source
        found = source.get(name) if isinstance(source, Mapping) else source(name) if source is not None else None
        if found is None:
            raise _error(Malformed.UNDEFINED_VOCABULARY, f"the vocabulary <{name}> is not known here", way)
        try:
            trees = [read(text, slots=False) for text in ((found,) if isinstance(found, str) else found)]
        except TemplateError as error:
            raise _inside(error, way) from error
        if not trees:
            raise _error(Malformed.EMPTY_VOCABULARY, f"the vocabulary <{name}> has no members", way)
        return trees

    def _expanded(self, name: str, trees: list[Tree], way: tuple[str, ...]) -> tuple[str, ...]:
        members: dict[str, None] = {}
        count = 0
        for tree in trees:
            try:
                facts = measure(tree.order, self.facts)
                check(tree, facts, Direction.INPUT)
                check_size(tree, facts, self._limit)
            except TemplateError as error:
                raise _inside(error, way) from error
            count += facts.size
            if count > self._limit:
                reason = f"the vocabulary <{name}> has more than {self._limit} members"
                raise _error(Malformed.TOO_MANY_SENTENCES, reason, way)
            members.update(dict.fromkeys(walk(tree.root, self.of_reference)))
        return tuple(members)


def _error(kind: Malformed, reason: str, way: tuple[str, ...]) -> TemplateError:
    if len(way) > 1:
        reason += f" (asked for by {' → '.join(f'<{step}>' for step in way[:-1])})"
    return TemplateError(reason, f"<{way[0]}>", 0, kind, chain=way)


def _inside(error: TemplateError, way: tuple[str, ...]) -> TemplateError:
    """An error in a member, as an error of the vocabulary."""
    reason = f"{error.reason} in {error.template!r}, a member of the vocabulary <{way[-1]}>"
    return _error(error.kind, reason, way)
