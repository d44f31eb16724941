"""What the sentences say should be answered. Theirs are Jinja templates; only those that fill in slots are used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_FILLED: Final = re.compile(r"\{\{\s*slots\.(\w+)\s*\}\}")


class Answers:
    """The responses of one language."""

    def __init__(self, responses: Any) -> None:
        intents = responses.get("intents") if isinstance(responses, Mapping) else None
        self._texts: Mapping[str, Any] = intents if isinstance(intents, Mapping) else {}

    def text(self, intent: str, key: str, slots: Mapping[str, str]) -> str | None:
        """The answer to an intent, or None when there is none that is only text and slots that are filled."""
        own = self._texts.get(intent)
        text = own.get(key) if isinstance(own, Mapping) else None
        if not isinstance(text, str) or any(name not in slots for name in _FILLED.findall(text)):
            return None
        if "{{" in _FILLED.sub("", text) or "{%" in text:
            return None
        return _FILLED.sub(lambda found: slots[found[1]], text).strip() or None
