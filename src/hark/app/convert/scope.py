"""What names mean where a hassil sentence stands, and the sentence in Hark's words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from hark.app.convert.cleaning import begins_open, cleaned, ends_open, spelled, tidy, trim
from hark.app.convert.dictionary import Dictionary
from hark.app.convert.names import Names
from hark.app.convert.reading import Unreadable, read
from hark.app.convert.shapes import shapes_of
from hark.app.convert.tree import Alt, Item, Perm, Ref, Seq, Slot, Text, render, walk

PERMUTED: Final = "a permutation is written out"
INLINED: Final = "a rule that is no vocabulary is written out"
RESPELT: Final = "capitals and signs are left out"

_RANGE: Final = re.compile(r"-?\d+\.\.-?\d+(?:,\d+)?")


class Scope:
    """The rules and lists a block of sentences can use: everybody's, and its own on top."""

    def __init__(
        self, rules: Mapping[str, Any], lists: Mapping[str, Any], dictionary: Dictionary, slot_names: Names
    ) -> None:
        self._rules = rules
        self._lists = lists
        self._dictionary = dictionary
        self._slot_names = slot_names
        self._made: dict[str, Item] = {}
        self._open: list[str] = []
        self.notes: set[str] = set()
        """What had to be said in other words, since it was last cleared."""

    def sentence(self, text: str) -> Seq:
        """The sentence with the names and words of Hark; raises `Unreadable`."""
        tree = read(text)
        if any(isinstance(item, Perm) for item in walk(tree)):
            self.notes.add(PERMUTED)
        clean = cleaned(tree, self._dictionary.lang)
        if PERMUTED not in self.notes and render(trim(clean)) != render(trim(tree)):
            self.notes.add(RESPELT)
        return spelled(trim(self._resolved(clean)))

    def rule(self, name: str) -> Item:
        """What `<name>` becomes: a reference to a vocabulary, or the rule itself where it holds a slot."""
        if name not in self._made:
            if name not in self._rules:
                raise Unreadable(f"the rule <{name}> is not defined")
            if name in self._open:
                raise Unreadable(f"the rule <{name}> refers to itself")
            self._open.append(name)
            try:
                self._made[name] = self._make(name)
            finally:
                self._open.pop()
        return self._made[name]

    def inner(self, rules: Mapping[str, Any], lists: Mapping[str, Any]) -> Scope:
        """This scope with the rules and lists of a single block on top."""
        return Scope({**self._rules, **rules}, {**self._lists, **lists}, self._dictionary, self._slot_names)

    def slots(self, text: str) -> list[Slot]:
        """The slots of a hassil sentence, those in its rules included, as hassil names them."""
        found: list[Slot] = []
        waiting, seen = [text], set[str]()
        while waiting:
            try:
                tree = read(waiting.pop())
            except Unreadable:
                continue  # told where it is converted
            for item in walk(tree):
                if isinstance(item, Slot):
                    found.append(item)
                elif isinstance(item, Ref) and item.name not in seen:
                    seen.add(item.name)
                    waiting.append(str(self._rules.get(item.name, "")))
        return found

    def slot_name(self, name: str) -> str:
        """The name of a slot in Hark."""
        return self._slot_names.of(name)

    def is_number(self, list_name: str) -> bool:
        """Whether a list is a range of numbers."""
        definition = self._lists.get(list_name)
        return bool(_RANGE.fullmatch(list_name)) or (isinstance(definition, Mapping) and "range" in definition)

    def _make(self, name: str) -> Item:
        body = self._rules[name]
        if not isinstance(body, str):
            raise Unreadable(f"the rule <{name}> is no text")
        seq = spelled(trim(self._resolved(cleaned(read(body), self._dictionary.lang))))
        if self._is_vocabulary(seq):
            return Ref(self._dictionary.add(name, seq))
        only = seq.items[0] if len(seq.items) == 1 else None
        if isinstance(only, Alt) and only.optional:
            full = trim(Seq((Alt(only.branches),)))
            if self._is_vocabulary(full):
                # A vocabulary holds no empty phrase, so the brackets go around the reference.
                return Alt((Seq((Ref(self._dictionary.add(name, full)),)),), optional=True)
        return Alt((seq,))

    def _is_vocabulary(self, seq: Seq) -> bool:
        """Whether the phrases can stand in a `.voc`: no slots, and none of them empty."""
        return all(shape.first and not shape.slots for shape in shapes_of(seq, self._dictionary.known.shapes))

    def _resolved(self, seq: Seq, before: bool = True, after: bool = True) -> Seq:
        """`seq` with what its names stand for; `before` and `after` say whether it is set apart by space there."""
        items: list[Item] = []
        for place, item in enumerate(seq.items):
            apart = (
                before if place == 0 else ends_open(seq.items[place - 1]),
                after if place + 1 == len(seq.items) else begins_open(seq.items[place + 1]),
            )
            match item:
                case Ref(name):
                    items.append(self._referred(name, *apart))
                case Slot():
                    kind = "number" if self.is_number(item.source or item.name) else ""
                    items.append(Slot(self.slot_name(item.name), kind))
                case Alt(branches, optional):
                    items.append(Alt(tuple(self._resolved(branch, *apart) for branch in branches), optional))
                case Text() | Perm():
                    items.append(item)
        return tidy(Seq(tuple(items)))

    def _referred(self, name: str, before: bool, after: bool) -> Item:
        made = self.rule(name)
        base = referred(made)
        if base is None:
            self.notes.add(INLINED)
        elif self._dictionary.is_glued(base, before=before, after=after):
            # The phrases of a vocabulary have no space around them; here it would be missing.
            self.notes.add(INLINED)
            return Alt((self._dictionary.known.body(base),), optional=isinstance(made, Alt))
        return made


def referred(item: Item) -> str | None:
    """The vocabulary that `<name>` or `[<name>]` refers to; None for anything else."""
    if isinstance(item, Alt) and item.optional and len(item.branches) == 1 and len(item.branches[0].items) == 1:
        item = item.branches[0].items[0]
    return item.name if isinstance(item, Ref) else None


def table(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The table under a key; empty when there is none."""
    found = data.get(key)
    return dict(found) if isinstance(found, Mapping) else {}
