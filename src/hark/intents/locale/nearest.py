"""Which languages can replace a missing one (INTENT-2 §2.2, which leaves the measure to the implementation)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from hark.model.lang import canonical

_OTHER_NAMES: Final = {"nb": "no", "iw": "he", "in": "id", "ji": "yi"}
"""Codes that mean the same language."""

# Regions with similar written forms; all other regions of the language form the second group (after Unicode CLDR).
_GROUPS: Final = {
    "en": "AS GU MH MP PH PR UM US VI",
    "es": "419 AR BO CL CO CR CU DO EC GT HN MX NI PA PE PR PY SV US UY VE",
    "pt": "BR",
}
_USUAL_REGION: Final = {"en": "US", "es": "ES", "pt": "PT"}
"""The region that a tag without one is assumed to have, where it matters."""

_TRADITIONAL: Final = frozenset({"TW", "HK", "MO"})
_FARTHEST: Final = 3


class _Parts(NamedTuple):
    language: str
    script: str
    region: str
    rest: tuple[str, ...]


def nearest(lang: str, available: Iterable[str]) -> list[str]:
    """Those of `available` that can replace `lang`, the nearest first, which is `lang` itself if it is available.

    Same language and same script only. Ahead of the others: the language without region, then regions that write alike
    (`en-AU` is nearer to `en-GB` than to `en-US`). Tags may be in any case, and are returned as they came.
    """
    wanted = canonical(lang)
    ranked = [(_distance(wanted, canonical(tag)), canonical(tag), tag) for tag in available]
    return [tag for distance, _, tag in sorted(ranked) if distance <= _FARTHEST]


def _distance(wanted: str, other: str) -> int:
    """0 for the same tag, up to `_FARTHEST` for one that can replace it, more for all others."""
    if wanted == other:
        return 0
    one, two = _parts(wanted), _parts(other)
    if one.language != two.language or (one.script and two.script and one.script != two.script):
        return _FARTHEST + 1
    if one.region == two.region or not two.region:
        return 1
    return 2 if _group(one) == _group(two) else 3


def _group(parts: _Parts) -> bool:
    region = parts.region or _USUAL_REGION.get(parts.language, "")
    return region in _GROUPS.get(parts.language, "").split()


@lru_cache(maxsize=256)
def _parts(tag: str) -> _Parts:
    language, *rest = tag.split("-")
    script = rest.pop(0) if rest and len(rest[0]) == 4 and rest[0].isalpha() else ""
    is_region = bool(rest) and (len(rest[0]) == 2 or (len(rest[0]) == 3 and rest[0].isdigit()))
    region = rest.pop(0) if is_region else ""
    if language == "zh" and not script:
        script = "Hant" if region in _TRADITIONAL else "Hans"
    if language == "sr" and not script:
        script = "Cyrl"
    return _Parts(_OTHER_NAMES.get(language, language), script, region, tuple(rest))
