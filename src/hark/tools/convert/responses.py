"""hassil's responses are Jinja templates; those that only fill in slots are dialogs, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from hark.intents.locale import Role
from hark.tools.convert.files import LanguageSource
from hark.tools.convert.report import ConversionReport, Verdict
from hark.tools.convert.translation import BaseNames, base_name, table

_FILLED: Final = re.compile(r"\{\{\s*(?:slots\.)?([a-z_][a-z0-9_]*)\s*\}\}")
_SLOT: Final = re.compile(r"\{\{?([a-z_][a-z0-9_]*)\}?\}")
_SIGNS: Final = frozenset("(){}[]<>|%#\n")


def dialog_from(response: str) -> str | None:
    """The response as a line of a `.dialog`, or None when there is more to it than filling in slots."""
    text = response.strip()
    if not text or not _SIGNS.isdisjoint(_FILLED.sub("", text)):
        return None
    return _FILLED.sub(lambda found: f"{{{found[1]}}}", text)


def response_from(phrase: str, *, of_slots: bool) -> str | None:
    """A phrase of a `.dialog` as a response, or None when it stands for several."""
    if not _SIGNS.isdisjoint(_SLOT.sub("", phrase)):
        return None
    owner = "slots." if of_slots else ""
    return _SLOT.sub(lambda found: f"{{{{ {owner}{found[1]} }}}}", phrase)


def import_responses(
    responses: Any, intents: BaseNames, report: ConversionReport
) -> tuple[dict[str, list[str]], dict[str, dict[str, Any]]]:
    """The `.dialog` files, and what to keep for converting back."""
    files: dict[str, list[str]] = {}
    kept: dict[str, dict[str, Any]] = {}
    if not isinstance(responses, Mapping):
        return files, kept
    errors = {"": table(responses, "errors")} if "errors" in responses else {}
    for owner, texts in {**errors, **table(responses, "intents")}.items():
        if not isinstance(texts, Mapping) or not texts:
            kept[f"{owner}/"] = {"owner": owner, "was": texts}
            continue
        for key, text in texts.items():
            own = kept[f"{owner}/{key}"] = {"owner": owner, "key": str(key), "was": text}
            dialog = dialog_from(text) if isinstance(text, str) else None
            if dialog is None:
                where = f"response {owner or 'errors'} {key}"
                report.add(Verdict.KEPT, "a response does more than fill in slots", text, where)
                continue
            base = _name(intents.of(owner) if owner else "", str(key))
            files[f"{base}.dialog"] = [dialog]
            own |= {"dialog": base, "line": dialog}
    return files, kept


def _name(owner: str, key: str) -> str:
    if not owner:
        return f"error_{base_name(key)}"
    return owner if key == "default" else f"{owner}_{base_name(key)}"


def export_responses(folder: LanguageSource, names: Mapping[str, str], report: ConversionReport) -> dict[str, Any]:
    """The responses of all intents in `names`, which has their names by base name, and of errors."""
    found: dict[str, Any] = {}
    done: set[str] = set()
    for kept in folder.sidecar.get("responses", {}).values():
        if "key" not in kept:
            _owner(found, kept["owner"], kept["was"])
            continue
        base = kept.get("dialog")
        if base is None or folder.lines(Role.DIALOG, base) == [kept["line"]]:
            _owner(found, kept["owner"], {})[kept["key"]] = kept["was"]
        else:
            _export(folder, base, kept["owner"], kept["key"], found, report)
        done.add(base or "")
    for base in folder.files(Role.DIALOG):
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


def _export(
    folder: LanguageSource, base: str, owner: str, key: str, found: dict[str, Any], report: ConversionReport
) -> None:
    responses = {phrase: response_from(phrase, of_slots=bool(owner)) for phrase in folder.lines(Role.DIALOG, base)}
    first = next((phrase for phrase, text in responses.items() if text is not None), None)
    for phrase in responses:
        if phrase != first:
            report.add(Verdict.LOST, "hassil has one phrase for a response", phrase, f"file {base}.dialog")
    if first is not None:
        _owner(found, owner, {})[key] = responses[first]


def _owner(found: dict[str, Any], owner: str, empty: Any) -> Any:
    """The responses of an intent, or of errors, in `found`."""
    if not owner:
        return found.setdefault("errors", empty)
    return found.setdefault("intents", {}).setdefault(owner, empty)
