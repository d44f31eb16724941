"""Intents: hassil's blocks of sentences as the lines of `.intent` files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hark.app.convert.backwards import Backwards
from hark.app.convert.dictionary import Dictionary
from hark.app.convert.lists import Lists
from hark.app.convert.names import Names
from hark.app.convert.reading import Unreadable
from hark.app.convert.report import Report, Verdict
from hark.app.convert.scope import Scope, table
from hark.app.convert.side import Entry, entry, lines_of
from hark.app.convert.splitting import divide
from hark.app.convert.tree import Slot, render, size

DIVIDED: Final = "it is divided into several lines"
OTHER_LIST: Final = "which of several lists feeds the slot is not said"
_GATES: Final = {
    "slots": "slots with a fixed value are not filled in",
    "requires_context": "a context it requires is not asked for",
    "excludes_context": "a context it excludes is not asked for",
    "response": "which response belongs to it is not said",
    "metadata": "metadata are not passed on",
    "required_keywords": "keywords it requires are not asked for",
}


class Intents:
    """The intents of one language under conversion."""

    def __init__(
        self, scope: Scope, dictionary: Dictionary, lists: Lists, report: Report, rules: dict[str, Any]
    ) -> None:
        self._scope = scope
        self._dictionary = dictionary
        self._lists = lists
        self._report = report
        self._rules = rules
        self.names = Names()
        """Base names of intents."""
        self.files: dict[str, list[str]] = {}
        """The lines of each file."""
        self.side: dict[str, dict[str, Any]] = {}
        """What the files cannot say, by base name."""
        self.slots: dict[str, str] = {}
        """Slots that have another name in hassil."""
        self.runtime: dict[str, None] = {}
        """Lists that nobody defines: who runs the sentences brings them."""

    def add(self, name: str, intent: Any) -> None:
        """Take in an intent."""
        base = self.names.of(name)
        blocks = intent.get("data") if isinstance(intent, Mapping) else None
        if not isinstance(blocks, list):
            self._report.add(Verdict.LOST, "an intent has no data", name, f"intent {name}")
            return
        kept: dict[str, Any] = {"name": name, "lists": {}, "blocks": []}
        more = {key: value for key, value in intent.items() if key != "data"}
        if more:
            kept["more"] = more
        self.side[base] = kept
        self._report.expansions[base] = 0
        lines: dict[str, None] = {}
        written: list[str] = []
        for number, block in enumerate(blocks, 1):
            if not isinstance(block, Mapping):
                self._report.add(Verdict.LOST, "a block is no table", str(block), f"intent {name}")
                continue
            entries = self._block(base, block, kept["lists"], number)
            data = {key: value for key, value in block.items() if key != "sentences"}
            kept["blocks"].append({"data": data, "sentences": entries})
            fresh = [line for one in entries for line in lines_of(one) if line not in lines]
            lines.update(dict.fromkeys(fresh))
            written += [f"# block {number}{_told(data)}", *dict.fromkeys(fresh)] if fresh else []
        if written:
            self.files[f"{base}.intent"] = written

    def _block(self, base: str, block: Mapping[str, Any], of_slots: dict[str, str], number: int) -> list[Entry]:
        where = f"intent {self.side[base]['name']}"
        for part, reason in _GATES.items():
            if block.get(part):
                self._report.add(Verdict.KEPT, reason, str(block[part]), where)
        own, key = table(block, "lists"), f"{base}/{number}"
        scope = self._scope
        if own or block.get("expansion_rules"):
            scope = scope.inner(table(block, "expansion_rules"), own)
            for name, definition in own.items():
                self._lists.add(name, definition, scope, f"{name}@{key}")
        entries: list[Entry] = []
        for text in block.get("sentences") or ():
            slots = scope.slots(text) if isinstance(text, str) else []
            self._feed(slots, scope, own, key)
            for slot in slots:
                of_slots.setdefault(scope.slot_name(slot.name), slot.source or slot.name)
            entries.append(self._sentence(base, text, scope, of_slots, slots))
        return entries

    def _sentence(self, base: str, text: Any, scope: Scope, of_slots: dict[str, str], slots: list[Slot]) -> Entry:
        where = f"intent {self.side[base]['name']}"
        scope.notes.clear()
        try:
            if not isinstance(text, str):
                raise Unreadable("a sentence is no text")
            division = divide(scope.sentence(text), self._dictionary.known, self._dictionary.limit)
        except (Unreadable, RecursionError) as error:
            self._report.add(Verdict.REFUSED, str(error), text, where)
            return {"was": text, "lines": []}
        for _part, reasons in division.refused:
            self._report.add(Verdict.REFUSED, ", ".join(reasons), text, where)
        self._report.expansions[base] += sum(size(line, self._dictionary.known.size) for line in division.lines)
        lines = [render(line) for line in division.lines]
        if division.refused or len(lines) != 1:
            made = entry(str(text), lines, None)
        else:
            originals = {scope.slot_name(slot.name): slot.name for slot in slots}
            made = entry(str(text), lines, Backwards(self._rules, of_slots, originals).sentence(lines[0]))
            if not isinstance(made, str) and not scope.notes:
                scope.notes.add(OTHER_LIST)
        if len(lines) > 1:
            scope.notes.add(DIVIDED)
        for note in () if isinstance(made, str) else sorted(scope.notes):
            self._report.add(Verdict.REWRITTEN, note, text, where)
        return made

    def _feed(self, slots: list[Slot], scope: Scope, own: Mapping[str, Any], key: str) -> None:
        """Note where slots take their values from."""
        for slot in slots:
            base, source = scope.slot_name(slot.name), slot.source or slot.name
            if base != slot.name:
                self.slots[base] = slot.name
            if source in own:
                self._lists.feed(base, f"{source}@{key}")
            elif self._lists.has(source):
                self._lists.feed(base, source)
            elif not scope.is_number(source):
                self.runtime[source] = None


def _told(data: Mapping[str, Any]) -> str:
    """What a block is for, for who reads the file."""
    told = [
        f"{key} {name}={value}"
        for key in ("slots", "requires_context", "excludes_context")
        for name, value in table(data, key).items()
    ]
    return ": " + "; ".join(" ".join(text.split()) for text in told) if told else ""
