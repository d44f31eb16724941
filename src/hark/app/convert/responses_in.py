"""Responses: hassil's are Jinja templates; those that only fill in slots become `.dialog` files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hark.app.convert.names import Names, base_name
from hark.app.convert.report import Report, Verdict
from hark.app.convert.responses import dialog_from
from hark.app.convert.scope import table


def import_responses(
    responses: Any, intents: Names, report: Report
) -> tuple[dict[str, list[str]], dict[str, dict[str, Any]]]:
    """The `.dialog` files, and what to keep for the way back."""
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
