"""A line of a locale file in hassil's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hark.app.convert.reading import read
from hark.app.convert.tree import Alt, Item, Perm, Ref, Seq, Slot, Text, render


class Backwards:
    """Translates lines of one intent, with the names of rules, lists and slots as they were in hassil."""

    def __init__(
        self, rules: Mapping[str, Any], lists: Mapping[str, str], slots: Mapping[str, str] | None = None
    ) -> None:
        self._rules = {rule["voc"]: name for name, rule in rules.items() if "voc" in rule}
        self._bracketed = {rule["voc"] for rule in rules.values() if rule.get("optional")}
        self._lists = lists
        self._slots = slots or {}

    def sentence(self, line: str) -> str:
        """The sentence; raises `Unreadable` when the line is no template."""
        return render(self._back(read(line)))

    def _back(self, seq: Seq) -> Seq:
        return Seq(tuple(map(self._item, seq.items)))

    def _item(self, item: Item) -> Item:
        match item:
            case Ref(name):
                return Ref(self._rules.get(name, name))
            case Slot(name):
                original = self._slots.get(name, name)
                source = self._lists.get(name, original)
                return Slot(original, "" if source == original else source)
            case Alt(branches, optional):
                only = branches[0].items if len(branches) == 1 else ()
                if optional and len(only) == 1 and isinstance(only[0], Ref) and only[0].name in self._bracketed:
                    return self._item(only[0])  # the rule itself may be left out
                return Alt(tuple(map(self._back, branches)), optional)
            case Perm(members):
                return Perm(tuple(map(self._back, members)))
            case Text():
                return item
