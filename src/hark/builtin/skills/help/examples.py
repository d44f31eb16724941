"""Something that may be said for an intent, out of what was registered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, zip_longest
from typing import Any

from hark.intents import TemplateError, expand

_OPTIONAL = re.compile(r"\[[^\[\]]*\]")
_SLOT = re.compile(r"\{(\w+)\}")

Entry = Mapping[str, Any]
"""An intent as `ovos.intent.list` tells it."""
Fill = Callable[[str], str]
"""What to say in the place of a slot."""


def best(entries: Iterable[Entry], lang: str) -> Iterator[Entry]:
    """One entry for each intent in this language: of the very tag rather than of a near one, and sentences rather than
    keywords."""
    chosen: dict[tuple[str, str], tuple[tuple[bool, bool], Entry]] = {}
    for entry in entries:
        if _primary(entry["lang"]) == _primary(lang):
            worse = (entry["lang"] != lang, entry["method"] != "template")
            name = (entry["skill_id"], entry["intent_name"])
            if name not in chosen or worse < chosen[name][0]:
                chosen[name] = (worse, entry)
    return (entry for _, entry in chosen.values())


def in_turn(entries: Iterable[Entry]) -> Iterator[Entry]:
    """The first of every skill ahead of the second of any."""
    by_skill: dict[str, list[Entry]] = {}
    for entry in entries:
        by_skill.setdefault(entry["skill_id"], []).append(entry)
    return (entry for entry in chain.from_iterable(zip_longest(*by_skill.values())) if entry is not None)


def example(definition: Mapping[str, Any], method: str, fill: Fill) -> str:
    """Something that may be said for an intent, if it can be said now; nothing when its definition cannot be read."""
    if definition.get("requires_context"):
        return ""  # makes sense only after something else
    if method == "template":
        return _SLOT.sub(lambda slot: fill(slot[1].replace("_", " ")), _simplest(definition.get("samples")))
    try:
        groups = [group[0] for group in definition.get("one_of", ())]
        said = [_simplest(vocabulary["samples"]) for vocabulary in (*definition.get("required", ()), *groups)]
    except (TypeError, LookupError):
        return ""
    return " ".join(said) if all(said) else ""


def _simplest(samples: Any) -> str:
    """The first sentence of the first sample that can be read, without what may be left out; nothing without one."""
    for sample in samples if isinstance(samples, tuple) else ():
        try:
            return _first(_bare(sample)) or _first(sample)
        except TypeError:
            continue
        except TemplateError:
            with suppress(TemplateError):
                return _first(sample)
    return ""


def _first(template: str) -> str:
    return next(iter(expand(template)), "")


def _bare(template: str) -> str:
    while (shorter := _OPTIONAL.sub("", template)) != template:
        template = shorter
    return " ".join(template.split())


def _primary(lang: str) -> str:
    return lang.partition("-")[0].lower()
