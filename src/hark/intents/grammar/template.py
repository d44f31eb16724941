"""A template that was read: what it consists of, and what it stands for."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from hark.intents.grammar.checks import Direction, check, check_size
from hark.intents.grammar.errors import Remark, TemplateError
from hark.intents.grammar.facts import Facts, assumed, measure
from hark.intents.grammar.nodes import Node, Slot
from hark.intents.grammar.parser import Tree, read
from hark.intents.grammar.vocabularies import MAX_SENTENCES, Source, Vocabularies
from hark.intents.grammar.walk import walk

_position = attrgetter("position")


class Template:
    """A well-formed template, as far as that shows without its vocabularies. What it says never changes."""

    __slots__ = ("_facts", "_last", "_tree", "direction", "references", "remarks", "slots")

    def __init__(self, tree: Tree, direction: Direction, facts: Facts) -> None:
        self._tree = tree
        self._facts = facts
        self._last: tuple[Vocabularies, Facts] | None = None
        """What was found out with the vocabularies it was last asked about."""
        self.direction = direction
        self.slots = tuple(tree.slots)
        """Names of the slots some sentence has, in the order of writing, type prefixes left off."""
        self.references = tuple(tree.references)
        """Names of the vocabularies it needs."""
        self.remarks: tuple[Remark, ...] = tuple(sorted(tree.remarks, key=_position)) if tree.remarks else ()
        """What is odd about it, in the order of writing."""

    def __repr__(self) -> str:
        return f"Template({self.text!r})"

    @property
    def text(self) -> str:
        """The template as it was written."""
        return self._tree.text

    @property
    def root(self) -> Node:
        """The whole of it as a tree, which can be deeper than Python recurses."""
        return self._tree.root

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every node of the tree, parts before the whole, `root` last."""
        return tuple(self._tree.order)

    @property
    def bare_slot(self) -> Slot | None:
        """A slot that is all that is said in some sentence; None where a word always remains. Vocabularies are taken
        for words."""
        return self._facts.bare

    def check(self, vocabularies: Source | Vocabularies | None = None) -> None:
        """Raise `TemplateError` for what only shows with the vocabularies: unknown or circular names, bad members, and
        slots that meet because a member has no word."""
        self._known(Vocabularies.of(vocabularies))

    def count(self, vocabularies: Source | Vocabularies | None = None) -> int:
        """How many combinations of branches there are, without making them; counting stops at 10**18.

        There can be fewer sentences, when two combinations say the same.
        """
        return self._known(Vocabularies.of(vocabularies)).size

    def samples(
        self, vocabularies: Source | Vocabularies | None = None, limit: int | None = MAX_SENTENCES
    ) -> Iterator[str]:
        """Every sentence, once, slots as `{name}`, made as it is asked for.

        Raises `TemplateError` at once, also for more than `limit` combinations; None for no limit.
        """
        known = Vocabularies.of(vocabularies)
        check_size(self._tree, self._known(known), limit)
        return walk(self._tree.root, known.of_reference)

    def _known(self, vocabularies: Vocabularies) -> Facts:
        """What holds with these vocabularies."""
        tree = self._tree
        if not tree.references:
            return self._facts
        if self._last is not None and self._last[0] is vocabularies:
            return self._last[1]
        for reference in tree.references.values():
            try:
                vocabularies.members(reference.name)
            except TemplateError as error:
                place = reference.position
                raise TemplateError(error.reason, tree.text, place, error.kind, chain=error.chain) from error
        facts = measure(tree.order, vocabularies.facts, tree.repeated)
        check(tree, facts, self.direction)
        self._last = vocabularies, facts
        return facts


def parse(text: str, *, direction: Direction = Direction.INPUT, slots: bool = True) -> Template:
    """Read a template; raises `TemplateError` with kind and position. With `slots=False` it may hold none.

    What depends on vocabularies is left to `check`, `count` and `samples`.
    """
    tree = read(text, slots=slots)
    facts = measure(tree.order, assumed, tree.repeated)
    check(tree, facts, direction)
    return Template(tree, direction, facts)
