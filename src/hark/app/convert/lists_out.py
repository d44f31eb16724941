"""Entities, and vocabularies that were lists, as hassil's lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hark.app.convert.backwards import Backwards
from hark.app.convert.folder import LocaleFolder
from hark.app.convert.reading import Unreadable
from hark.app.convert.report import Report, Verdict
from hark.app.convert.side import lines_of, restored

_NUMBERS: Final = {"from": 0, "to": 1000}


def export_lists(folder: LocaleFolder, used: Mapping[str, str], back: Backwards, report: Report) -> dict[str, Any]:
    """Every list; `used` has the slots of all templates with the type each has in Hark."""
    kept_lists: dict[str, Any] = folder.side.get("lists", {})
    found: dict[str, Any] = {}
    for name, kept in kept_lists.items():
        if kept.get("local"):
            continue  # stands in the data of its block
        if "as" in kept:
            found[name] = kept["as"]
            continue
        role = "entity" if "entity" in kept else "voc"
        present = folder.lines(role, str(kept.get(role, "")))
        known = {line for one in kept["values"] for line in lines_of(one)}
        values = _values(present, back, f"list {name}", report)
        fresh = [value for line, value in values.items() if line not in known]
        found[name] = {"values": restored(present, kept["values"], values) + fresh, **kept.get("more", {})}
    _add_entities(folder, found, back, report)
    _add_open_slots(folder, used, found, report)
    return found


def _add_entities(folder: LocaleFolder, found: dict[str, Any], back: Backwards, report: Report) -> None:
    """Entities that no import made."""
    references = {f"<{kept['voc']}>" for kept in folder.side.get("lists", {}).values() if "voc" in kept}
    for base in folder.files("entity"):
        lines = folder.lines("entity", base)
        if base not in found and any(line not in references for line in lines):
            found[base] = {"values": list(_values(lines, back, f"slot {base}", report).values())}
            report.add(Verdict.REWRITTEN, "hassil takes no other values than these", base, f"slot {base}")


def _add_open_slots(folder: LocaleFolder, used: Mapping[str, str], found: dict[str, Any], report: Report) -> None:
    """Slots without values: numbers, or whatever is said."""
    fed = {slot for kept in folder.side.get("intents", {}).values() for slot in kept["lists"]}
    fed |= set(folder.side.get("runtime_lists", ()))
    for slot, kind in used.items():
        if slot in found or slot in fed:
            continue
        found[slot] = {"range": dict(_NUMBERS)} if kind == "number" else {"wildcard": True}
        if kind == "number":
            reason = f"hassil wants bounds: {_NUMBERS['from']} to {_NUMBERS['to']}"
            report.add(Verdict.REWRITTEN, reason, slot, f"slot {slot}")
        elif kind:
            report.add(Verdict.LOST, "hassil has no types but numbers", f"{{{kind}:{slot}}}", f"slot {slot}")


def _values(lines: list[str], back: Backwards, where: str, report: Report) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in lines:
        try:
            text = back.sentence(line)
        except Unreadable as error:
            report.add(Verdict.LOST, str(error), line, where)
            continue
        # What a template puts out has to be said; plain text puts out itself.
        found[line] = {"in": text, "out": text} if set("()[]{}<>|") & set(text) else text
    return found
