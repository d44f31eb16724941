"""The tree of a template as a graph of pieces of text: what a word is made of, before it is known where words end.

`light[s]` is a piece and perhaps another, `living[ ]room` two pieces with perhaps a space between. The graph has a
place between any two pieces and is as large as what was written, however many sentences there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from hark.intents.grammar.nodes import Choice, Literal, Node, Reference, Sequence, Slot

SPACE: Final = " "
"""The label of a step where one word ends and another may begin."""
NOTHING: Final = ""
"""The label of a step without effect."""
START: Final = 0
END: Final = 2

_PIECE = re.compile(r"\s+|\S+")


class Pieces:
    """Places and the steps between them; ways from `START` to `END` are the sentences. No way comes back."""

    __slots__ = ("slots", "steps")

    def __init__(self, root: Node, members: Callable[[Reference], tuple[str, ...]]) -> None:
        self.steps: list[list[tuple[str, int]]] = [[], [(SPACE, END)], []]
        """For each place, the pieces that lead on from it, and where to."""
        self.slots: dict[int, tuple[str, int]] = {}
        """For each place where a slot begins, its name and the place behind it."""
        todo: list[tuple[Node, int, int]] = [(root, START, 1)]
        while todo:
            node, begin, end = todo.pop()
            if isinstance(node, Literal):
                self._text(node.text, begin, end)
            elif isinstance(node, Slot):
                # A slot stands by itself, whatever touches it.
                before, behind = self._place(), self._place()
                self.steps[begin].append((SPACE, before))
                self.slots[before] = node.name, behind
                self.steps[behind].append((NOTHING, end))
            elif isinstance(node, Sequence):
                places = [begin, *[self._place() for _ in node.parts[1:]], end]
                todo += reversed(list(zip(node.parts, places, places[1:], strict=False)))
            elif isinstance(node, Choice):
                todo += [(branch, begin, end) for branch in reversed(node.branches)]
            else:
                for member in members(node):
                    self._text(member, begin, end)

    def _text(self, text: str, begin: int, end: int) -> None:
        pieces = [SPACE if piece.isspace() else piece for piece in _PIECE.findall(text)] or [NOTHING]
        for piece in pieces[:-1]:
            following = self._place()
            self.steps[begin].append((piece, following))
            begin = following
        self.steps[begin].append((pieces[-1], end))

    def _place(self) -> int:
        self.steps.append([])
        return len(self.steps) - 1
