"""All templates of one language, found by words that they cannot do without.

One sentence without slots is found by all of its words; one with slots by those before its first slot or after its
last. Any other template hangs on two words that each of its sentences has. Adding or removing an intent touches its own
templates only.
"""

from __future__ import annotations

from hark.intents.definition import TemplateIntent
from hark.intents.grammar import Sentence
from hark.intents.patterns import Line
from hark.intents.patterns.shape import Shape, fits
from hark.intents.template.claims import Claim, by_rank
from hark.intents.template.edges import CROWDED, Edges
from hark.intents.template.hanging import Hanging, Hung

Fit = tuple[Claim, Shape, int]
"""What is claimed if the shape fits, and how many words that takes at least."""


class Exact:
    """The templates of one language under one session id."""

    # Readers may be on another thread than the one that adds: what is entered is replaced whole, never changed.
    __slots__ = ("_begins", "_ends", "_hanging", "_hung", "_lines", "_plain")

    def __init__(self) -> None:
        self._plain: dict[Sentence, tuple[Claim, ...]] = {}
        """Those that are one sentence without slots."""
        self._begins: Edges[Fit] = Edges()
        """Those that are one sentence with slots, by the words before the first."""
        self._ends: Edges[Fit] = Edges()
        """Others of them, by the words after the last."""
        self._hanging = Hanging()
        """All others."""
        self._lines: dict[TemplateIntent, list[tuple[Edges[Fit], Sentence, Fit]]] = {}
        self._hung: dict[TemplateIntent, list[Hung]] = {}
        """Where those of an intent are."""

    @property
    def is_bare(self) -> bool:
        """Whether there is nothing in it."""
        return not self._lines

    def add(self, intent: TemplateIntent) -> None:
        """Enter an intent's templates."""
        lines = self._lines[intent] = []
        hung = self._hung[intent] = []
        for number, pattern in enumerate(intent.patterns):
            if isinstance(pattern, Line):
                claim = Claim(intent, number, pattern.sentence)
                if claim.shape is None:
                    self._plain[pattern.sentence] = (*self._plain.get(pattern.sentence, ()), claim)
                    continue
                edges, edge = self._edge(claim.shape)
                if edge and edges.load(edge) < CROWDED:
                    fit = claim, claim.shape, len(pattern.sentence)
                    edges.add(edge, edge[0] if edges is self._begins else edge[-1], fit)
                    lines.append((edges, edge, fit))
                    continue
            hung.append(self._hanging.add(intent, number, pattern))

    def remove(self, intent: TemplateIntent) -> None:
        """Take an intent's templates out."""
        if intent not in self._lines:
            return
        for pattern in intent.patterns:
            if isinstance(pattern, Line) and pattern.is_plain and pattern.sentence in self._plain:
                left = tuple([claim for claim in self._plain[pattern.sentence] if claim.intent is not intent])
                if left:
                    self._plain[pattern.sentence] = left
                else:
                    del self._plain[pattern.sentence]
        for edges, edge, fit in self._lines.pop(intent):
            edges.remove(edge, edge[0] if edges is self._begins else edge[-1], fit)
        for hung in self._hung.pop(intent):
            self._hanging.remove(hung)

    def claims(self, said: list[str]) -> list[Claim]:
        """The claims of every sentence that fits, best first."""
        if not said:
            return []
        whole = tuple(said)
        claims = [*self._plain.get(whole, ()), *self._hanging.claims(said)]
        size = len(said)
        for claim, shape, least in self._begins.begins(whole) + self._ends.ends(whole):
            if size >= least and fits(shape, said):
                claims.append(claim)
        if len(claims) > 1:
            claims.sort(key=by_rank)
        return claims

    def _edge(self, shape: Shape) -> tuple[Edges[Fit], Sentence]:
        """Where to enter a sentence with slots: by its longer edge, unless too many share that one."""
        begin, end = tuple(shape.chunks[0]), tuple(shape.chunks[-1])
        if len(end) > len(begin) or (end and self._begins.load(begin) >= CROWDED):
            return self._ends, end
        return self._begins, begin
