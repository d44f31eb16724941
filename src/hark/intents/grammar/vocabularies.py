"""Named vocabularies: what `<name>` stands for (INTENT-1 §3.7); and expanding a tree into sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, product
from typing import Final

from hark.intents.grammar.checks import Direction, Facts, check, check_size, measure, of_members
from hark.intents.grammar.parser import (
    Choice,
    Literal,
    Malformed,
    Node,
    Reference,
    Sequence,
    Slot,
    TemplateError,
    Tree,
    read,
)

Members = Callable[[Reference], tuple[str, ...]]
_Todo = tuple[Node, "_Todo"] | None  # what still follows, as a chain, so that branches share it


def walk(root: Node, members: Members) -> Iterator[str]:
    """Every sentence of a tree, once, in the order of writing, spaces collapsed; lazily."""
    parts = root.parts if isinstance(root, Sequence) else (root,)
    flat = [_flat(part, members) for part in parts]
    pools = [pool for pool in flat if pool is not None]
    texts = map("".join, product(*pools)) if len(pools) == len(flat) else _nested(root, members)
    seen: set[str] = set()
    for text in texts:
        sentence = " ".join(text.split())
        if sentence not in seen:
            seen.add(sentence)
            yield sentence


def _flat(node: Node, members: Members) -> list[str] | None:
    """The texts of a node without groups in its groups, as most are; None for others."""
    if isinstance(node, Choice):
        found: list[str] = []
        for branch in node.branches:
            texts = _plain(branch, members)
            if texts is None:
                return None
            found += texts
        return found
    return _plain(node, members)


def _plain(node: Node, members: Members) -> list[str] | None:
    """The texts of a node without groups; None for others."""
    if isinstance(node, Literal):
        return [node.text]
    if isinstance(node, Slot):
        return [f"{{{node.name}}}"]
    if isinstance(node, Reference):
        return list(members(node))
    if isinstance(node, Choice):
        return None
    text = ""
    for part in node.parts:
        if isinstance(part, Literal):
            text += part.text
        elif isinstance(part, Slot):
            text += f"{{{part.name}}}"
        else:
            return None
    return [text]


def _nested(root: Node, members: Members) -> Iterator[str]:
    """The texts of any tree, however deep."""
    waiting: list[tuple[str, _Todo]] = [("", (root, None))]
    while waiting:
        text, todo = waiting.pop()
        while todo is not None:
            node, todo = todo
            if isinstance(node, Literal):
                text += node.text
            elif isinstance(node, Slot):
                text += f"{{{node.name}}}"
            elif isinstance(node, Sequence):
                for part in reversed(node.parts):
                    todo = (part, todo)
            elif isinstance(node, Choice):
                waiting += [(text, (branch, todo)) for branch in reversed(node.branches)]
                break
            else:
                waiting += [(text + member, todo) for member in reversed(members(node))]
                break
        else:
            yield text


MAX_COMPARED: Final = 50_000_000
"""The most combinations of a template that is compared with speech, where none of them has to be made."""
MAX_SENTENCES: Final = 5_000
"""A template that stands for more sentences than this is refused, and so is a vocabulary with more members."""

Source = Mapping[str, Iterable[str]] | Callable[[str], Iterable[str] | None]
"""The templates of vocabularies by name: a mapping, or a function that returns None for an unknown name."""


class Vocabularies:
    """Vocabularies, expanded on first use and cached. They may refer to each other, without cycles."""

    def __init__(self, source: Source | None = None, limit: int = MAX_SENTENCES) -> None:
        self._source = source
        self._limit = limit
        self._members: dict[str, tuple[str, ...]] = {}
        self._facts: dict[str, Facts] = {}

    @classmethod
    def of(cls, source: Source | Vocabularies | None) -> Vocabularies:
        """`source` as `Vocabularies`; returned as it is if it is that already, with its cache."""
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
        """The facts of the members a reference stands for."""
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
