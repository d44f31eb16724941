"""A parsed template: what it consists of, and the sentences it stands for, as text and as words."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from operator import attrgetter
from sys import intern
from typing import Final

from hark.intents.grammar.checks import Direction, Facts, assumed, check, check_size, measure
from hark.intents.grammar.parser import Malformed, Node, Odd, Remark, Slot, TemplateError, Tree, read, shown
from hark.intents.grammar.vocabularies import MAX_SENTENCES, Source, Vocabularies, walk
from hark.intents.text import words
from hark.model.text_cache import cached_by_text

_position = attrgetter("position")


class Template:
    """An immutable template, well-formed as far as that can be checked without its vocabularies."""

    __slots__ = ("_facts", "_last", "_tree", "direction", "references", "remarks", "slots")

    def __init__(self, tree: Tree, direction: Direction, facts: Facts) -> None:
        self._tree = tree
        self._facts = facts
        self._last: tuple[Vocabularies, Facts] | None = None
        """The facts with the vocabularies that were used last."""
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
        """The root of the tree, which can be deeper than Python recurses."""
        return self._tree.root

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Every node of the tree, parts before the whole, `root` last."""
        return tuple(self._tree.order)

    @property
    def bare_slot(self) -> Slot | None:
        """A slot that some sentence consists of; None where every sentence has a word. Vocabularies count as words."""
        return self._facts.bare

    def check(self, vocabularies: Source | Vocabularies | None = None) -> None:
        """Raise `TemplateError` for mistakes that involve the vocabularies: unknown or circular names, malformed
        members, and slots that meet because a member has no word."""
        self._known(Vocabularies.of(vocabularies))

    def count(self, vocabularies: Source | Vocabularies | None = None) -> int:
        """How many combinations of branches there are, without making them; counting stops at 10**18.

        There can be fewer sentences, when two combinations say the same.
        """
        return self._known(Vocabularies.of(vocabularies)).size

    def samples(
        self, vocabularies: Source | Vocabularies | None = None, limit: int | None = MAX_SENTENCES
    ) -> Iterator[str]:
        """Every sentence, once, slots as `{name}`, lazily.

        Raises `TemplateError` at once, also for more than `limit` combinations; None for no limit.
        """
        known = Vocabularies.of(vocabularies)
        check_size(self._tree, self._known(known), limit)
        return walk(self._tree.root, known.of_reference)

    def _known(self, vocabularies: Vocabularies) -> Facts:
        """The facts with these vocabularies; raises `TemplateError`."""
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


log = logging.getLogger("hark.intents")

Sentence = tuple[str, ...]
"""The words of one sentence; a slot is the word `{name}`."""

_MOST_TYPES: Final = 1_000
_TOLD: Final = 10
"""The number of remarks on one template that are logged."""

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
    """The sentences of a template that is compared with what users say, as words; raises `TemplateError`.

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
    """Parse a template that is compared with what users say; raises `TemplateError`."""
    return _read(template, Direction.INPUT, True)


_known_types: Final[set[str]] = set()


def _is_news(remark: Remark) -> bool:
    """Whether to log a remark: a type that is not registered is reported once, since many templates have it."""
    if remark.kind is not Odd.UNREGISTERED_TYPE:
        return True
    is_new = remark.reason not in _known_types
    if is_new and len(_known_types) < _MOST_TYPES:
        _known_types.add(remark.reason)
    return is_new


@cached_by_text(32, longest=2_000)  # few: the trees of all templates would take a megabyte
def _read(template: str, direction: Direction, slots: bool) -> Template:
    """Parse a template and log its remarks. A skill's samples are read when it is loaded and again when it registers
    them; the cache answers the second time, and nothing is logged twice."""
    found = parse(template, direction=direction, slots=slots)
    remarks = [remark for remark in found.remarks if _is_news(remark)]
    for remark in remarks[:_TOLD]:
        log.warning("%s, at column %d of %s", remark.reason, remark.position + 1, shown(template))
    if len(remarks) > _TOLD:
        log.warning("%d more like these in %s", len(remarks) - _TOLD, shown(template))
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
    return tuple(map(intern, terms))
