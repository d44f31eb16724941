"""Numbers and ordinals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from hark.builtin.values.figures import figures, literal
from hark.builtin.values.language import Language, either
from hark.builtin.values.text import key

_MOST: Final = 10**15
_THOUSAND: Final = 1000


def number(text: str, language: Language, tag: str) -> int | float | None:
    """The number `text` is, or None."""
    amount = _amounts(language).get(key(text))
    if amount is not None:
        return _whole(amount)
    found = _pattern(language).fullmatch(literal(figures(text, language), language, tag))
    if found is None:
        return None
    part = found["written"] or (found["said"] or "0").replace(" ", "")
    size = float(f"{found['whole']}.{part}") * int(found["times"] or 1)
    if found["half"]:
        if size >= _THOUSAND or found["times"]:
            return None  # half a thousand, or half a million
        size += part_of(found["half"], language)
    return _whole(-size if found["minus"] else size) if size < _MOST else None


def ordinal(text: str, language: Language) -> int | None:
    """The place in a row that `text` names, or None."""
    found = _ordinal(language).fullmatch(key(text))
    if found is not None:
        return language.numbers.ordinals[found[1]]
    found = _ordinal_figures(language).fullmatch(figures(text, language, "words"))
    return int(found[1]) if found else None


def part_of(said: str, language: Language) -> float:
    """What "and a half" adds to one."""
    return next(size for pattern, size in language.numbers.halves.items() if re.fullmatch(pattern, said))


def _whole(size: float) -> int | float:
    return int(size) if size == int(size) else size


@cache
def _amounts(language: Language) -> Mapping[str, float]:
    return {key(phrase): size for phrase, size in language.numbers.amounts.items()}


@cache
def _pattern(language: Language) -> re.Pattern[str]:
    numbers = language.numbers
    return re.compile(
        rf"(?P<minus>(?:{numbers.minus}) |-)?(?P<whole>\d+)"
        rf"(?:\.(?P<written>\d+)| (?:{numbers.point}) (?P<said>\d+(?: \d+)*)| (?P<half>{either(numbers.halves)}))?"
        r"(?: \*(?P<times>\d+))?"
    )


@cache
def _ordinal(language: Language) -> re.Pattern[str]:
    known = either(dict(language.numbers.ordinals)) or "(?!)"
    return re.compile(rf"(?:(?:{language.numbers.articles}) )?({known})")


@cache
def _ordinal_figures(language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?:(?:{language.numbers.articles}) )?(\d{{1,9}})#")
