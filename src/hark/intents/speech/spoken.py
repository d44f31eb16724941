"""Writing out what stands in a text as figures and symbols, in the words of its language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Final

from hark.intents.speech.markup import plain_text
from hark.intents.speech.words import SPOKEN_LANGUAGES, SpokenWords, spelled, spelled_by, spoken_words

_NARROW: Final = "\u202f\u00a0"
_LONGEST_NUMBER: Final = 15
_GENDERS: Final = ("masculine", "feminine", "neuter", "reale")
_LONGEST: Final = 20_000
"""Characters of a text that are worked on; no answer is that long."""


def speakable(text: str, lang: str | None, *, markup: bool = True) -> str:
    """`text` as it should be spoken in `lang`, a language tag; of an unknown language only markup is removed.

    With `markup` false, markdown and emoji stay. Never raises for any text.
    """
    if len(text) > _LONGEST:
        return text
    if markup:
        text = plain_text(text)
    code = (lang or "").partition("-")[0].lower()
    if code not in SPOKEN_LANGUAGES or not _needs_words(text):
        return text
    return _spoken_form(code, (lang or "").lower()).write(text)


_SPECIAL: Final = re.compile(r"[0-9&+=@%°€£¥$#/.]")


def _needs_words(text: str) -> bool:
    return _SPECIAL.search(text) is not None


@lru_cache(maxsize=32)
def _spoken_form(code: str, lang: str) -> _SpokenForm:
    return _SpokenForm(
        code, spoken_words(code), _number_rules(code, lang), code == "en" and lang not in ("en", "en-us")
    )


def _number_rules(code: str, lang: str) -> str:
    """The rules that spell numbers: some countries count in other words."""
    if code == "pt":
        return "pt" if lang == "pt-br" else "pt_PT"
    own = f"{code}_{lang.rpartition('-')[2].upper()}"
    return own if own in ("de_CH", "fr_BE", "fr_CH") else code


class _SpokenForm:
    """The rules of one language, compiled."""

    def __init__(self, code: str, words: SpokenWords, rules: str, british: bool) -> None:
        self._code = code
        self._rules = rules
        self._words = words
        self._month_first = words.date_order == "mdy" and not british
        group = f"[{re.escape(words.group)}{_NARROW}]"
        point = re.escape(words.decimal)
        self._group = re.compile(group)
        number = rf"(?:\d{{1,3}}(?:{group}\d{{3}})+|\d+)(?:{point}\d+)?"
        start, end = r"(?<![\w.,:/-])", r"(?![\w]|[.,:/-]\d)"
        signed = rf"(?P<sign>(?<!\S)[-\u2212])?(?P<number>(?<![\w.,:/])(?<!\w-){number})"
        coins, units = _any(words.currencies), _any(words.units)
        self._abbreviation = (
            re.compile(rf"(?<!\w)(?:{_any(words.abbreviations)})(?!\w)") if words.abbreviations else None
        )
        self._iso_date = re.compile(rf"{start}(\d{{4}})-(\d\d)-(\d\d){end}")
        self._local_date = re.compile(rf"{start}(\d{{1,2}})([/.-])(\d{{1,2}})\2(\d{{4}}){end}")
        self._time = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])")
        self._coin_first = re.compile(rf"(?<!\w)({coins}) ?(?P<number>{number}){end}")
        self._coin_last = re.compile(rf"(?P<number>(?<![\w.,:/-]){number})[ {_NARROW}]?({coins})(?!\w)")
        self._unit = re.compile(rf"{signed}[ {_NARROW}]?({units})(?![\w/])")
        endings = _any(words.ordinals)
        self._ordinal = re.compile(rf"{start}(\d{{1,6}})({endings})(?!\w)") if words.ordinals else None
        self._range = re.compile("(?<![\\w.,:/-])(\\d{1,6})[ ]?[\u2013-][ ]?(\\d{1,6})(?![\\w]|[.,:/\u2013-]\\d)")
        self._number = re.compile(rf"{signed}{end}")
        self._symbol = re.compile(rf"(?<=\s)({_any(words.symbols)})(?=\s)") if words.symbols else None

    def write(self, text: str) -> str:
        words = self._words
        if self._abbreviation is not None:
            text = self._abbreviation.sub(lambda found: words.abbreviations[found[0]], text)
        if any(map(str.isdigit, text)):
            text = self._with_figures(text)
        if self._symbol is not None:
            text = self._symbol.sub(lambda found: words.symbols[found[1]], text)
        return text

    def _with_figures(self, text: str) -> str:
        words = self._words
        text = self._iso_date.sub(lambda found: self._date(found, int(found[1]), int(found[2]), int(found[3])), text)
        text = self._local_date.sub(self._local, text)
        text = self._time.sub(self._clock_time, text)
        if words.currencies:
            text = self._coin_first.sub(lambda found: self._amount(found, found[1]), text)
            text = self._coin_last.sub(lambda found: self._amount(found, found[2]), text)
        text = self._range.sub(rf"\1 {words.range} \2", text)
        if words.units:
            text = self._unit.sub(self._measure, text)
        if self._ordinal is not None:
            text = self._ordinal.sub(self._rank, text)
        return self._number.sub(lambda found: self._said(found["number"], found["sign"]), text)

    def _said(self, figures: str, sign: str | None = None, gender: str = "") -> str:
        """A number in words; digit by digit if it begins with zero or is too long to be a quantity."""
        whole, _, decimals = self._group.sub("", figures).partition(self._words.decimal)
        if (len(whole) > 1 and whole.startswith("0")) or len(whole) > _LONGEST_NUMBER:
            return " ".join(spelled(int(digit), self._rules) for digit in whole)
        said = spelled(int(whole), self._rules, "" if decimals else gender)
        if decimals:
            if said.isdigit():  # without the extra, figures stay figures
                said = f"{whole}{self._words.decimal}{decimals}"
            else:
                said += f" {self._words.point} " + " ".join(spelled(int(digit), self._rules) for digit in decimals)
        return f"{self._words.minus} {said}" if sign else said

    def _form(self, forms: Sequence[str], figures: str) -> str:
        """The form of a noun after this number."""
        whole, _, decimals = self._group.sub("", figures).partition(self._words.decimal)
        number = int(whole)
        if self._words.slavic and len(forms) > 2:
            if decimals:
                return forms[1]
            few = number % 10 in (2, 3, 4) and number % 100 not in (12, 13, 14)
            return forms[0] if number == 1 else forms[1] if few else forms[2]
        one = number == 1 or (number == 0 and self._code in ("fr", "pt"))
        return forms[0] if one and not decimals else forms[-1]

    def _measure(self, found: re.Match[str]) -> str:
        forms, gender = _split(self._words.units[found[3]])
        figures = found["number"]
        return f"{self._said(figures, found['sign'], gender)} {self._form(forms, figures)}"

    def _amount(self, found: re.Match[str], coin: str) -> str:
        forms, gender = _split(self._words.currencies[coin])
        half = len(forms) // 2
        figures = found["number"]
        whole, _, part = figures.partition(self._words.decimal)
        if len(part) not in (0, 2):  # a price of 1.2 millions, an exchange rate
            return f"{self._said(figures)} {self._form(forms[:half], figures)}"
        said = f"{self._said(whole, None, gender)} {self._form(forms[:half], whole)}"
        if not part or part == "00":
            return said
        part = part.lstrip("0")
        hundredth = f"{self._said(part)} {self._form(forms[half:], part)}"
        if whole == "0":
            return hundredth
        return self._words.currency.format(whole=said, part=hundredth, part_number=self._said(part))

    def _local(self, found: re.Match[str]) -> str:
        first, second = int(found[1]), int(found[3])
        day, month = (second, first) if self._month_first and found[2] == "/" else (first, second)
        return self._date(found, int(found[4]), month, day)

    def _date(self, found: re.Match[str], year: int, month: int, day: int) -> str:
        words = self._words
        try:
            date(year, month, day)
        except ValueError:
            return found[0]
        said = words.days[day - 1] if words.days else words.first_day if day == 1 else None
        if not said and words.day:
            said = spelled_by(day, self._rules, words.day)
        said_year = spelled_by(year, self._rules, "spellout-numbering-year") or spelled(year, self._rules)
        said = said or (str(day) if words.day else spelled(day, self._rules))
        return words.date.format(day=said, month=words.months[month - 1], year=said_year)

    def _clock_time(self, found: re.Match[str]) -> str:
        words = self._words
        if not words.time:
            return found[0]
        hour, minute = int(found[1]), int(found[2])
        said_hour = spelled(hour, self._rules, words.hour_gender)
        if minute == 0:
            return words.full_hour.format(h=said_hour)
        said = spelled(minute, self._rules)
        if self._code == "en" and minute < 10 and not said.isdigit():
            said = f"oh {said}"
        return words.time.format(h=said_hour, m=said)

    def _rank(self, found: re.Match[str]) -> str:
        rules = self._words.ordinals[found[2]]
        return spelled_by(int(found[1]), self._rules, rules) or found[0]


def _any(names: dict[str, object] | dict[str, str] | dict[str, tuple[str, ...]]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or "(?!)"


def _split(forms: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Forms and gender."""
    return (forms[:-1], forms[-1]) if forms[-1] in _GENDERS else (forms, "")
