"""All sentences of one language in one tree of words.

Sentences that begin alike share their beginning, so a lookup follows the words that were said and never sees the
intents they do not lead to. Adding or removing an intent touches its own sentences only.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from hark.intents.definition import TemplateIntent
from hark.intents.grammar import Sentence, is_slot
from hark.intents.template.slots import Shape


class Claim:
    """A sentence of an intent, where its words end."""

    __slots__ = ("intent", "literals", "rank", "sentence", "shape")

    def __init__(self, intent: TemplateIntent, sentence: Sentence, literals: int) -> None:
        self.intent = intent
        self.sentence = sentence
        self.shape = Shape(sentence) if literals < len(sentence) else None
        """None where there is no slot."""
        self.literals = literals
        self.rank = (-literals, intent.order)
        """Smallest first: most literal words, so those without slots lead; then whoever registered first."""


by_rank = attrgetter("rank")


class Node:
    """A place in the tree, reached by the words above it."""

    # Readers may be on another thread than the one that adds: claims are replaced whole, never changed.
    __slots__ = ("claims", "is_slot", "literals", "slot", "words")

    def __init__(self, literals: int = 0, is_slot: bool = False) -> None:
        self.words: dict[str, Node] = {}
        self.slot: Node | None = None
        self.is_slot = is_slot
        self.literals = literals
        self.claims: tuple[Claim, ...] = ()

    @property
    def is_bare(self) -> bool:
        """Whether nothing ends or goes on here."""
        return not self.claims and not self.words and self.slot is None

    def add(self, intent: TemplateIntent) -> None:
        """Enter an intent's sentences."""
        for sentence in intent.sentences:
            node = self
            for word in sentence:
                node = node._child(word)
            node.claims = tuple(sorted((*node.claims, Claim(intent, sentence, node.literals)), key=by_rank))

    def remove(self, intent: TemplateIntent) -> None:
        """Take an intent's sentences out, and the places only they led to."""
        for sentence in intent.sentences:
            path = [self]
            for word in sentence:
                child = path[-1].slot if is_slot(word) else path[-1].words.get(word)
                if child is None:
                    break
                path.append(child)
            else:
                path[-1].claims = tuple(claim for claim in path[-1].claims if claim.intent is not intent)
                _prune(path, sentence)

    def walk(self, words: Sequence[str]) -> tuple[list[Claim], Node]:
        """The claims of every sentence that fits, best first, and the place furthest along the words.

        All ways through the tree are followed side by side; a slot takes one word or more, so it stays where it is
        and also goes on. The effort is words times open slots, whatever was said.
        """
        open_nodes = [self]
        furthest = self
        for word in words:
            following: list[Node] = []
            for node in open_nodes:
                if node.is_slot and node not in following:
                    following.append(node)
                child = node.words.get(word)
                if child is not None:
                    following.append(child)
                    if child.literals > furthest.literals:
                        furthest = child
                slot = node.slot
                if slot is not None and slot not in following:
                    following.append(slot)
            if not following:
                return [], furthest
            open_nodes = following
        claims = [claim for node in open_nodes for claim in node.claims]
        if len(claims) > 1:
            claims.sort(key=by_rank)
        return claims, furthest

    def example(self) -> Claim | None:
        """Some sentence that goes on from here."""
        node: Node | None = self
        while node is not None and not node.claims:
            node = node.slot or next(iter(node.words.values()), None)
        return node.claims[0] if node is not None else None

    def _child(self, word: str) -> Node:
        if is_slot(word):
            if self.slot is None:
                self.slot = Node(self.literals, is_slot=True)
            return self.slot
        child = self.words.get(word)
        if child is None:
            child = self.words[word] = Node(self.literals + 1)
        return child


def _prune(path: list[Node], sentence: Sentence) -> None:
    for parent, child, word in zip(reversed(path[:-1]), reversed(path[1:]), reversed(sentence), strict=True):
        if not child.is_bare:
            return
        if child.is_slot:
            parent.slot = None
        else:
            del parent.words[word]
