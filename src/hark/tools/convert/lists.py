"""hassil's lists as `.entity` and `.voc` files, and back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from hark.intents.locale import Role
from hark.tools.convert.division import divide
from hark.tools.convert.files import Entry, LanguageSource, entry, lines_of, restore
from hark.tools.convert.report import ConversionReport, Verdict
from hark.tools.convert.template import UnreadableTemplate, render, slots_of
from hark.tools.convert.translation import HassilWriter, SentenceScope, VocabularySet


class ListImport:
    """The lists of one language, and which slots take their values from them."""

    def __init__(self, vocabularies: VocabularySet, report: ConversionReport) -> None:
        self._vocabularies = vocabularies
        self._report = report
        self._lines: dict[str, list[str]] = {}
        self._of_slot: dict[str, list[str]] = {}
        self.sidecar: dict[str, dict[str, Any]] = {}
        """What the files cannot express, by the name of the list."""
        self.files: dict[str, list[str]] = {}
        """The lines of each file, once `finish` was called."""

    def add(self, name: str, definition: Any, scope: SentenceScope, key: str = "") -> None:
        """Convert a list; `key` distinguishes the lists of single blocks from those of all."""
        kept = self.sidecar[key or name] = {"local": True} if key else {}
        if not isinstance(definition, Mapping):
            kept["as"] = definition
            self._report.add(Verdict.KEPT, "a list is not a table", str(definition), where=f"list {name}")
            return
        values = definition.get("values")
        if isinstance(values, list):
            kept["values"] = entries = [self._value(name, value, scope) for value in values]
            lines = [line for one in entries for line in ([one] if isinstance(one, str) else one["lines"])]
            self._lines[key or name] = list(dict.fromkeys(lines))
            self._report_kept(name, values)
        else:
            kept["as"] = dict(definition)
            if "range" in definition:
                self._report.add(Verdict.KEPT, "the bounds of a range are not checked", str(definition), f"list {name}")
        more = {part: value for part, value in definition.items() if part != "values"}
        if "values" in definition and more:
            kept["more"] = more

    def has(self, name: str) -> bool:
        """Whether there is a list of this name for all blocks."""
        return name in self.sidecar

    def lines(self, name: str) -> list[str]:
        """The values of a list for all blocks; none where it has none."""
        return self._lines.get(name, [])

    def feed(self, slot: str, key: str) -> None:
        """Record that a slot takes its values from a list."""
        lists = self._of_slot.setdefault(slot, [])
        if key not in lists:
            lists.append(key)

    def finish(self, kinds: Collection[str]) -> None:
        """Decide which file each list becomes; `kinds` are the entities that are types of slots.

        A list that feeds the slot of its own name, and no other, is that slot's `.entity`. Any other is a vocabulary
        that the `.entity` of every slot it feeds refers to.
        """
        fed: dict[str, list[str]] = {}
        for slot, lists in self._of_slot.items():
            for name in lists:
                fed.setdefault(name, []).append(slot)
        for name, lines in self._lines.items():
            slots = fed.get(name, [])
            if lines and all(slot == name and self._of_slot[slot] == [name] for slot in slots) and _is_name(name):
                self.files[f"{name}.entity"] = lines
                self.sidecar[name]["entity"] = name
            elif lines:
                base = self._vocabularies.reserve(name)
                self.files[f"{base}.voc"] = lines
                self.sidecar[name]["voc"] = base
                for slot in dict.fromkeys([*slots, *([base] if base in kinds else ())]):
                    self.files.setdefault(f"{slot}.entity", []).append(f"<{base}>")

    def _value(self, name: str, value: Any, scope: SentenceScope) -> Entry:
        text = value.get("in") if isinstance(value, Mapping) else value
        where = f"list {name}"
        if not isinstance(text, str):
            self._report.add(Verdict.REFUSED, "a value is not text", str(value), where)
            return {"was": value, "lines": []}
        try:
            seq = scope.sentence(text)
            if slots_of(seq):
                raise UnreadableTemplate("a value contains a slot")
        except UnreadableTemplate as error:
            self._report.add(Verdict.REFUSED, str(error), text, where)
            return {"was": value, "lines": []}
        division = divide(seq, self._vocabularies.known, self._vocabularies.limit)
        lines = [render(line) for line in division.lines]
        for part, reasons in division.refused:
            self._report.add(Verdict.REFUSED, ", ".join(reasons), render(part) or text, where)
        return entry(value, lines, lines[0] if len(lines) == 1 else None)

    def _report_kept(self, name: str, values: list[Any]) -> None:
        tables = [value for value in values if isinstance(value, Mapping)]
        meant = [value for value in tables if "out" in value and value["out"] != value.get("in")]
        if meant:
            text = ", ".join(f"{value.get('in')} = {value['out']}" for value in meant)
            self._report.add(Verdict.KEPT, "values stand for something else than their text", text, f"list {name}")
        for part in ("context", "metadata"):
            if any(part in value for value in tables):
                self._report.add(Verdict.KEPT, f"values carry {part}", name, f"list {name}")


def _is_name(name: str) -> bool:
    return name.isascii() and name.replace("_", "a").isalnum() and name == name.lower() and not name[0].isdigit()


_NUMBERS: Final = {"from": 0, "to": 1000}


def export_lists(
    folder: LanguageSource, used: Mapping[str, str], writer: HassilWriter, report: ConversionReport
) -> dict[str, Any]:
    """All lists; `used` has the slots of all templates with the type each has in Hark."""
    kept_lists: dict[str, Any] = folder.sidecar.get("lists", {})
    found: dict[str, Any] = {}
    for name, kept in kept_lists.items():
        if kept.get("local"):
            continue  # it is in the data of its block
        if "as" in kept:
            found[name] = kept["as"]
            continue
        role = Role.ENTITY if "entity" in kept else Role.VOCABULARY
        present = folder.lines(role, str(kept.get(role.value.removeprefix("."), "")))
        known = {line for one in kept["values"] for line in lines_of(one)}
        values = _values(present, writer, f"list {name}", report)
        added = [value for line, value in values.items() if line not in known]
        found[name] = {"values": restore(present, kept["values"], values) + added, **kept.get("more", {})}
    _add_entities(folder, found, writer, report)
    _add_free_slots(folder, used, found, report)
    return found


def _add_entities(
    folder: LanguageSource, found: dict[str, Any], writer: HassilWriter, report: ConversionReport
) -> None:
    """Add entities that were not imported."""
    references = {f"<{kept['voc']}>" for kept in folder.sidecar.get("lists", {}).values() if "voc" in kept}
    references.add(f"<{folder.sidecar.get('skip_words', {}).get('voc')}>")
    for base in folder.files(Role.ENTITY):
        lines = folder.lines(Role.ENTITY, base)
        if base not in found and any(line not in references for line in lines):
            found[base] = {"values": list(_values(lines, writer, f"slot {base}", report).values())}
            report.add(Verdict.REWRITTEN, "hassil accepts only these values", base, f"slot {base}")


def _add_free_slots(
    folder: LanguageSource, used: Mapping[str, str], found: dict[str, Any], report: ConversionReport
) -> None:
    """Add slots without values: numbers, or any text."""
    fed = {slot for kept in folder.sidecar.get("intents", {}).values() for slot in kept["lists"]}
    fed |= set(folder.sidecar.get("runtime_lists", ()))
    for slot, kind in used.items():
        if slot in found or slot in fed:
            continue
        found[slot] = {"range": dict(_NUMBERS)} if kind == "number" else {"wildcard": True}
        if kind == "number":
            reason = f"hassil needs bounds: {_NUMBERS['from']} to {_NUMBERS['to']}"
            report.add(Verdict.REWRITTEN, reason, slot, f"slot {slot}")
        elif kind:
            report.add(Verdict.LOST, "hassil has no type but numbers", f"{{{kind}:{slot}}}", f"slot {slot}")


def _values(lines: list[str], writer: HassilWriter, where: str, report: ConversionReport) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in lines:
        try:
            text = writer.line(line)
        except UnreadableTemplate as error:
            report.add(Verdict.LOST, str(error), line, where)
            continue
        # For a template the output has to be given; plain text is its own output.
        found[line] = {"in": text, "out": text} if set("()[]{}<>|") & set(text) else text
    return found
