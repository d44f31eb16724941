"""The sentences of a template as paths through a graph of words, as large as what was written.

`turn (on|off) [the] light` is four places in a row: from the second two words lead to the third, from there one word
and a step without any lead on. Nothing is multiplied out, except parts that touch: `light[s]` is two words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from sys import intern
from typing import Final

from hark.intents.grammar.parser import Choice, Literal, Malformed, Node, Reference, Sequence, Slot, TemplateError
from hark.intents.grammar.template import Template
from hark.intents.grammar.vocabularies import Source, Vocabularies
from hark.intents.text import words

SPACE: Final = " "
"""The label of a step where one word ends and another may begin."""
NOTHING: Final = ""
"""The label of a step without effect."""
START: Final = 0
END: Final = 2

_PIECE = re.compile(r"\s+|\S+")


class _Pieces:
    """Places and the steps between them, without cycles; paths from `START` to `END` are the sentences."""

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
                # A slot is a word of its own, whatever touches it.
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


MAX_WORDS: Final = 20_000
"""A template with more words than this is refused; parts that touch count as every word they can make."""
MAX_PLACES: Final = 1_000
"""A template with more places between words, from options and choices in a row, is refused as well."""


Step = tuple[int, int]
"""From one place to another."""


class SentenceGraph:
    """Places are numbers; every step leads to a larger one, from 0 to `end`."""

    __slots__ = ("end", "skips", "slots", "words")

    def __init__(
        self,
        end: int,
        words: dict[str, tuple[Step, ...]],
        slots: tuple[tuple[int, int, str], ...],
        skips: tuple[Step, ...],
    ) -> None:
        self.end = end
        self.words = words
        """For each word, the steps it stands on: from where to where."""
        self.slots = slots
        """Where a slot begins, the place inside it, and its name. A skip leads on from that place."""
        self.skips = skips
        """The steps without a word, in the order of the places they lead away from."""

    def steps(self) -> list[list[tuple[str, int]]]:
        """For each place, what leads on: a word, `{slot}` or nothing, and where to."""
        found: list[list[tuple[str, int]]] = [[] for _ in range(self.end + 1)]
        for word, pairs in self.words.items():
            for begin, to in pairs:
                found[begin].append((word, to))
        for begin, to, name in self.slots:
            found[begin].append((f"{{{name}}}", to))
        for begin, to in self.skips:
            found[begin].append(("", to))
        return found


def build_graph(template: Template, lang: str = "", vocabularies: Source | Vocabularies | None = None) -> SentenceGraph:
    """The graph of a template that is compared with what users say; raises `TemplateError`."""
    known = Vocabularies.of(vocabularies)
    template.check(known)
    return _GraphBuilder(template, _Pieces(template.root, known.of_reference), lang).graph()


class _GraphBuilder:
    """Finds the places where words begin, and the words that lead from each to the next."""

    __slots__ = ("_effort", "_lang", "_next", "_pieces", "_steps", "_template")

    def __init__(self, template: Template, pieces: _Pieces, lang: str) -> None:
        self._template = template
        self._pieces = pieces
        self._lang = lang
        self._next = len(pieces.steps)
        self._effort = 0
        self._steps: dict[int, dict[tuple[str, int], None]] = {}
        """For each place where a word begins, what leads on; a slot is `{name}`, nothing is empty."""

    def graph(self) -> SentenceGraph:
        waiting = [START]
        seen = {START}
        while waiting:
            for _, to in self._leading(waiting.pop()):
                if to not in seen:
                    seen.add(to)
                    waiting.append(to)
        if END in self._silent():
            raise TemplateError("punctuation alone is no sentence", self._template.text, 0, Malformed.EMPTY_SAMPLE)
        order = self._ordered()
        if len(order) > MAX_PLACES:
            reason = f"this is longer than {MAX_PLACES} words and choices one after the other"
            raise TemplateError(reason, self._template.text, 0, Malformed.TOO_MANY_SENTENCES)
        number = {place: count for count, place in enumerate(order)}
        found: dict[str, list[Step]] = {}
        slots: list[tuple[int, int, str]] = []
        skips: dict[Step, None] = {}
        for place in order:
            begin = number[place]
            for term, to in self._steps[place]:
                step = begin, number[self._beyond(to)]
                if term == NOTHING:
                    skips[step] = None
                elif term[0] == "{":
                    slots.append((begin, number[to], intern(term[1:-1])))
                else:
                    found.setdefault(term, []).append(step)
        made = {intern(word): tuple(dict.fromkeys(steps)) for word, steps in found.items()}
        return SentenceGraph(number[END], made, tuple(slots), tuple(skips))

    def _leading(self, place: int) -> list[tuple[str, int]]:
        """What leads on from a place where a word begins, or can."""
        if place >= len(self._pieces.steps):
            return list(self._steps[place])  # between the words of one that was written in short
        steps = self._steps[place] = {}
        if place in self._pieces.slots:
            name, behind = self._pieces.slots[place]
            steps[f"{{{name}}}", behind] = None
        for piece, to in self._pieces.steps[place]:
            if piece in (NOTHING, SPACE):
                steps[NOTHING, to] = None
            else:
                for text, end in self._completed(piece, to):
                    self._say(place, text, end)
        return list(steps)

    def _completed(self, piece: str, place: int) -> list[tuple[str, int]]:
        """Every text without a space that begins with a piece, and the place behind it."""
        found: list[tuple[str, int]] = []
        waiting = [(piece, place)]
        seen = {(piece, place)}
        while waiting:
            text, here = waiting.pop()
            for more, to in reversed(self._pieces.steps[here]):
                if more == SPACE:
                    found.append((text, to))
                elif (text + more, to) not in seen:
                    seen.add((text + more, to))
                    waiting.append((text + more, to))
            self._effort += 1
            if self._effort > MAX_WORDS:
                reason = f"this has more than {MAX_WORDS} words, counting each that touching parts can make"
                raise TemplateError(reason, self._template.text, 0, Malformed.TOO_MANY_SENTENCES)
        return found

    def _say(self, place: int, text: str, end: int) -> None:
        """A text between spaces leads from a place to another: as a word, as several, or as none."""
        said = words(text, self._lang)
        for word in said[:-1]:
            between = self._next
            self._next += 1
            self._steps.setdefault(place, {})[word, between] = None
            place = between
        self._steps.setdefault(place, {})[said[-1] if said else NOTHING, end] = None

    def _silent(self) -> set[int]:
        """The places that are reached without a word."""
        found = {START}
        waiting = [START]
        while waiting:
            for term, to in self._steps[waiting.pop()]:
                if term == NOTHING and to not in found:
                    found.add(to)
                    waiting.append(to)
        return found

    def _beyond(self, place: int) -> int:
        """The next place that is not left by a single skip only."""
        while place != END and len(self._steps[place]) == 1:
            ((term, to),) = self._steps[place]
            if term != NOTHING:
                break
            place = to
        return place

    def _ordered(self) -> list[int]:
        """The places that are needed, each ahead of those it leads to."""
        done: list[int] = []
        seen = {START}
        path = [(START, self._after(START))]
        while path:
            place, left = path[-1]
            if left:
                to = left.pop()
                if to not in seen:
                    seen.add(to)
                    path.append((to, self._after(to)))
            else:
                done.append(place)
                path.pop()
        return done[::-1]

    def _after(self, place: int) -> list[int]:
        return [to if term[:1] == "{" else self._beyond(to) for term, to in self._steps[place]]
