"""Dialogs as hassil's responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hark.app.convert.folder import LocaleFolder
from hark.app.convert.report import Report, Verdict
from hark.app.convert.responses import response_from


def export_responses(folder: LocaleFolder, names: Mapping[str, str], report: Report) -> dict[str, Any]:
    """The responses of all intents in `names`, which has their names by base name, and of errors."""
    found: dict[str, Any] = {}
    done: set[str] = set()
    for kept in folder.side.get("responses", {}).values():
        if "key" not in kept:
            _owner(found, kept["owner"], kept["was"])
            continue
        base = kept.get("dialog")
        if base is None or folder.lines("dialog", base) == [kept["line"]]:
            _owner(found, kept["owner"], {})[kept["key"]] = kept["was"]
        else:
            _export(folder, base, kept["owner"], kept["key"], found, report)
        done.add(base or "")
    for base in folder.files("dialog"):
        if base in done:
            continue
        owners = [one for one in names if base == one or base.startswith(f"{one}_")]
        if owners:
            owner = max(owners, key=len)
            _export(folder, base, names[owner], base[len(owner) + 1 :] or "default", found, report)
        elif base.startswith("error_"):
            _export(folder, base, "", base.removeprefix("error_"), found, report)
        else:
            report.add(Verdict.LOST, "a dialog belongs to no intent", base, f"file {base}.dialog")
    return found


def _export(folder: LocaleFolder, base: str, owner: str, key: str, found: dict[str, Any], report: Report) -> None:
    said = {phrase: response_from(phrase, of_slots=bool(owner)) for phrase in folder.lines("dialog", base)}
    first = next((phrase for phrase, text in said.items() if text is not None), None)
    for phrase in said:
        if phrase != first:
            report.add(Verdict.LOST, "a response is one phrase", phrase, f"file {base}.dialog")
    if first is not None:
        _owner(found, owner, {})[key] = said[first]


def _owner(found: dict[str, Any], owner: str, empty: Any) -> Any:
    """The responses of an intent, or of errors, in `found`."""
    if not owner:
        return found.setdefault("errors", empty)
    return found.setdefault("intents", {}).setdefault(owner, empty)
