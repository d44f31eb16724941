"""Spoken forms in English: numbers, durations, days and colours as words, and written text as it is read aloud."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

from hark.builtin.engines.speech_grammar.graph import GraphBuilder
from hark.builtin.values.colours import COLOUR_NAMES
from hark.builtin.values.plugin import kinds_by_name
from hark.intents.text import EDGES, spoken_words

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
    """A whole number below a million in words."""
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


def spell_digits(text: str) -> str:
    """A text with its digits in words."""
    return _DIGITS.sub(lambda found: f" {spell(int(found[0]))} ", text)


def _number(draft: GraphBuilder, start: int, end: int) -> None:
    """Numbers from 0 to 999."""
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


def _duration(draft: GraphBuilder, start: int, end: int) -> None:
    """Such as: ten minutes; an hour and a half; half an hour; two hours and five minutes."""
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


def _day(draft: GraphBuilder, start: int, end: int) -> None:
    """Such as: today, tomorrow morning, on friday evening."""
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


def _colour(draft: GraphBuilder, start: int, end: int) -> None:
    for names in COLOUR_NAMES["en"].values():
        for name in names.split("|"):
            draft.phrase(start, name.split(), end)


Writer = Callable[[GraphBuilder, int, int], None]
_WRITERS: Final[Mapping[str, Writer]] = {
    "number": _number,
    "duration": _duration,
    "date": _day,
    "color": _colour,
    "colour": _colour,
}


def writers(name: str, type: str, lang: str) -> tuple[Writer, ...]:
    """Writers for the values of a slot, by its type or else its name; none when it can hold anything."""
    if not lang.lower().startswith("en"):
        return ()
    kinds = (type,) if type else kinds_by_name(name)
    return tuple(dict.fromkeys(_WRITERS[kind] for kind in kinds if kind in _WRITERS))


_DIGITS: Final = re.compile(r"\d{1,6}")
_SIGNS: Final = (("%", " percent "), ("°", " degrees "), ("-", " "))


def read_aloud(text: str, lang: str) -> list[str]:
    """The words of a text as they are spoken; digits and signs only in English."""
    if lang.lower().startswith("en"):
        for sign, word in _SIGNS:
            text = text.replace(sign, word)
        text = spell_digits(text)
    return spoken_words(text, lang)


def rewritten(text: str, words: Sequence[str], lang: str) -> str:
    """`text` with as few changes as it takes to say `words`: what is the same stays written as it is."""
    tokens = text.split()
    spoken = [read_aloud(token, lang) for token in tokens]
    flat = [word for token in spoken for word in token]
    blocks = SequenceMatcher(None, flat, words, autojunk=False).get_matching_blocks()
    same = {old + at: new + at for old, new, size in blocks for at in range(size)}
    written = list(_written(tokens, spoken, same, words))
    if tokens and written:
        if tokens[0][:1].isupper():
            written[0] = written[0][:1].upper() + written[0][1:]
        end = tokens[-1][len(tokens[-1].rstrip(EDGES)) :]
        written[-1] = written[-1].rstrip(EDGES) + end
    return " ".join(written)


def _written(tokens: list[str], spoken: list[list[str]], same: dict[int, int], words: Sequence[str]) -> Iterator[str]:
    done = at = 0
    for token, said in zip(tokens, spoken, strict=True):
        places = [same.get(at + number, -1) for number in range(len(said))]
        at += len(said)
        # A number or a contraction is several words: it stays if all of them do, in sequence.
        if places and -1 not in places and places[-1] - places[0] == len(places) - 1:
            yield from words[done : places[0]]
            yield token
            done = places[-1] + 1
    yield from words[done:]
