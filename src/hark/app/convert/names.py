"""Names that may stand in a locale folder: lower-case letters, digits and `_` (INTENT-2 §2)."""

from __future__ import annotations

import re
import unicodedata


class Names:
    """Gives every name of another format a base name of its own, the same one each time."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, name: str, key: str = "") -> str:
        """The base name for `name`; things of one name that differ are told apart by `key`."""
        known = self._given.get(f"{name}\0{key}")
        if known is not None:
            return known
        base = candidate = base_name(name)
        number = 2
        while candidate in self._taken:
            candidate = f"{base}_{number}"
            number += 1
        self._given[f"{name}\0{key}"] = candidate
        self._taken.add(candidate)
        return candidate


def base_name(name: str) -> str:
    """`name` in lower-case letters, digits and `_`, not beginning with a digit: `HassTurnOn` is `hass_turn_on`."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", plain).lower()
    base = re.sub(r"[^a-z0-9]+", "_", apart).strip("_") or "unnamed"
    return f"n_{base}" if base[0].isdigit() else base
