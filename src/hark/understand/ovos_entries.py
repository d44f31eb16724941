"""The pipeline entries of OVOS, in new and old spelling, and the plugin here that does the same (ruling R17)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_NEW: Final = re.compile(r"ovos-(?P<engine>[a-z0-9-]+?)-pipeline(?:-plugin)?(?:-(?P<tier>high|medium|low))?")
_OLD: Final = re.compile(
    r"(?P<engine>stop|padatious|padacioso|adapt|ocp|ocp_legacy|fallback|persona|m2v|model2vec)_(?P<tier>high|medium|low)"
    r"|(?P<alone>common_qa|ocp_fallback|skills)"
)

_STRICTNESS: Final[Mapping[str, Mapping[str, Any]]] = {
    "high": {"mode": "strict"},
    "medium": {"mode": "normal"},
    "low": {"mode": "loose"},
}
_STOP: Final[Mapping[str, Mapping[str, Any]]] = {
    "high": {"mode": "exact"},
    "medium": {"mode": "loose"},
    "low": {"mode": "loose"},
}
_PRIORITIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "high": {"max": 4},
    "medium": {"min": 5, "max": 89},
    "low": {"min": 90},
}
_SAME: Final[Mapping[str, tuple[str, Mapping[str, Mapping[str, Any]]]]] = {
    "stop": ("stop", _STOP),
    "converse": ("converse", {}),
    "padatious": ("template", _STRICTNESS),
    "padacioso": ("template", _STRICTNESS),
    "nebulento": ("template", _STRICTNESS),
    "adapt": ("keyword", _STRICTNESS),
    "palavreado": ("keyword", _STRICTNESS),
    "common-query": ("common_query", {}),
    "common_qa": ("common_query", {}),
    "fallback": ("fallback", _PRIORITIES),
    "persona": ("persona", {"low": {"fallback": True}}),
}
"""The plugin of the same kind by the engine's name, and its configuration by tier."""


def is_ovos_name(name: str) -> bool:
    """Whether an OVOS client may name this entry, and Hark itself does not; `converse` is a name of both."""
    return _parts(name) is not None


def ovos_entry(name: str) -> tuple[str, Mapping[str, Any]] | None:
    """The plugin and the configuration that an entry of OVOS stands for; None where there is nothing of the kind."""
    parts = _parts(name)
    if parts is None or parts[0] not in _SAME:
        return None
    plugin, tiers = _SAME[parts[0]]
    return plugin, tiers.get(parts[1] or "", {})


def without_tier(name: str) -> str:
    """The id of the OVOS plugin an entry is a tier of: what its denylists name."""
    parts = _parts(name)
    return name if parts is None or parts[1] is None else name[: -len(parts[1]) - 1]


def _parts(name: str) -> tuple[str, str | None] | None:
    found = _NEW.fullmatch(name) or _OLD.fullmatch(name)
    if found is None:
        return None
    groups = found.groupdict()
    return groups["engine"] or groups["alone"], groups["tier"]
