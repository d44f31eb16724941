"""Responses: hassil's are Jinja templates; those that only fill in slots are dialogs."""

from __future__ import annotations

import re
from typing import Final

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
