"""Words for what typed slots hold, in English: numbers, durations, days, colours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from hark.builtin.engines.sayable.automaton import Draft
from hark.builtin.values.colours import COLOUR_NAMES
from hark.builtin.values.plugin import kinds_by_name

_ONES: Final = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS: Final = [
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_UNITS: Final = ["second", "seconds", "minute", "minutes", "hour", "hours", "day", "days", "week", "weeks"]
_DAYS: Final = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_PARTS: Final = ["morning", "afternoon", "evening", "night"]


def spell(number: int) -> str:
    """A whole number below a million in words, as people read figures aloud."""
    if number < 10:
        return "zero" if number == 0 else _ONES[number - 1]
    if number < 20:
        return _TEENS[number - 10]
    if number < 100:
        tens, ones = divmod(number, 10)
        return f"{_TENS[tens - 2]} {_ONES[ones - 1]}" if ones else _TENS[tens - 2]
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    many, rest = divmod(number, size)
    return f"{spell(many)} {name} {spell(rest)}" if rest else f"{spell(many)} {name}"


def _number(draft: Draft, start: int, end: int) -> None:
    """From zero to nine hundred and ninety-nine."""
    draft.word(start, "zero", end)
    hundred, after = draft.state(), draft.state()
    for word in (*_ONES, "a"):
        draft.word(start, word, hundred)
    draft.word(hundred, "hundred", after)
    draft.skip(after, end)
    draft.word(after, "and", (rest := draft.state()))
    draft.skip(after, rest)
    for begin in (start, rest):
        for word in (*_ONES, *_TEENS, *_TENS):
            draft.word(begin, word, end)
        for word in _TENS:
            draft.word(begin, word, (ones := draft.state()))
            for one in _ONES:
                draft.word(ones, one, end)


def _duration(draft: Draft, start: int, end: int) -> None:
    """Ten minutes; an hour and a half; half an hour; two hours and five minutes."""
    many, unit, more = draft.state(), draft.state(), draft.state()
    _number(draft, start, many)
    draft.word(start, "a", many)
    draft.word(start, "an", many)
    draft.phrase(start, ("half", "an", "hour"), end)
    draft.phrase(start, ("half", "a", "minute"), end)
    for word in _UNITS:
        draft.word(many, word, unit)
    draft.skip(unit, end)
    draft.phrase(unit, ("and", "a", "half"), end)
    draft.phrase(many, ("and", "a", "half"), (halves := draft.state()))
    draft.word(unit, "and", more)
    draft.skip(unit, more)
    second = draft.state()
    _number(draft, more, second)
    for word in _UNITS:
        draft.word(second, word, end)
        draft.word(halves, word, end)


def _day(draft: Draft, start: int, end: int) -> None:
    """Today, tomorrow morning, on friday evening."""
    for word in ("today", "tonight", "tomorrow", "yesterday", "weekend"):
        draft.word(start, word, end)
    draft.phrase(start, ("this", "weekend"), end)
    part = draft.state()
    for word in ("tomorrow", "yesterday", "this"):
        draft.word(start, word, part)
    after = draft.state()
    for word in ("on", "next", "this"):
        draft.word(start, word, after)
    draft.skip(start, after)
    for word in _DAYS:
        draft.word(after, word, part)
        draft.word(after, word, end)
    for word in _PARTS:
        draft.word(part, word, end)


def _colour(draft: Draft, start: int, end: int) -> None:
    for names in COLOUR_NAMES["en"].values():
        for name in names.split("|"):
            draft.phrase(start, name.split(), end)


Writer = Callable[[Draft, int, int], None]
_WRITERS: Final[Mapping[str, Writer]] = {
    "number": _number,
    "duration": _duration,
    "date": _day,
    "color": _colour,
    "colour": _colour,
}


def writers(name: str, type: str, lang: str) -> tuple[Writer, ...]:
    """What writes down the values of a slot, by its type or else its name; none when it can hold anything."""
    if not lang.lower().startswith("en"):
        return ()
    kinds = (type,) if type else kinds_by_name(name)
    return tuple(dict.fromkeys(_WRITERS[kind] for kind in kinds if kind in _WRITERS))
