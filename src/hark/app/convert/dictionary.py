"""The vocabularies of one language, as they are made from rules and lists."""

from __future__ import annotations

from dataclasses import replace

from hark.app.convert.names import Names
from hark.app.convert.shapes import Shapes, shapes_of
from hark.app.convert.splitting import Vocabularies, divide
from hark.app.convert.tree import Alt, Seq, render, size


class Dictionary:
    """Every `.voc` there will be, with what templates that refer to it have to know."""

    def __init__(self, lang: str, limit: int) -> None:
        self.lang = lang
        self.limit = limit
        self._names = Names()
        self._bodies: dict[str, Seq] = {}
        self._shapes: dict[str, Shapes] = {}
        self._sizes: dict[str, int] = {}
        self._spaced: dict[str, tuple[bool, bool]] = {}
        self.known = Vocabularies(self._bodies.__getitem__, self._shapes.__getitem__, self._sizes.__getitem__)
        """How templates look up the vocabularies they refer to."""

    def reserve(self, name: str) -> str:
        """The base name of a vocabulary that is none of the rules."""
        return self._names.of(name, "reserved")

    def add(self, name: str, body: Seq) -> str:
        """The base name under which `<name>` stands for `body`; another body of the same name gets another."""
        base = self._names.of(name, render(body))
        if base not in self._bodies:
            shapes = shapes_of(body, self.known.shapes)
            # Phrases are trimmed, so none has space around it where it is put in.
            self._shapes[base] = frozenset(replace(shape, lead=False, trail=False) for shape in shapes)
            self._spaced[base] = (any(shape.lead for shape in shapes), any(shape.trail for shape in shapes))
            self._sizes[base] = size(body, self.known.size)
            self._bodies[base] = body
        return base

    def is_glued(self, base: str, *, before: bool, after: bool) -> bool:
        """Whether a phrase loses space that counts, in a place that is set apart `before` and `after`, or is not."""
        lead, trail = self._spaced[base]
        return (lead and not before) or (trail and not after)

    def lines(self, base: str) -> list[str]:
        """What stands in the file."""
        return self.lines_of(self._bodies[base])

    def lines_of(self, body: Seq) -> list[str]:
        """A body as the lines of a vocabulary: an alternative at the top is one branch a line."""
        only = body.items[0] if len(body.items) == 1 else None
        branches = only.branches if isinstance(only, Alt) and not only.optional else (body,)
        return list(
            dict.fromkeys(render(line) for branch in branches for line in divide(branch, self.known, self.limit).lines)
        )

    def bases(self) -> list[str]:
        """All base names, in the order of making."""
        return list(self._bodies)
