"""From spoken sums and conversions to answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from hark.builtin.skills.calculator.arithmetic import UNITS, Different, Token, TooBig, Unclear, converted, evaluate
from hark.builtin.skills.spoken_numbers import number, spoken
from hark.builtin.skills.tables import Table, groups, table
from hark.intents.locale import Locale
from hark.intents.text import straight

SIGNS: Final[Mapping[str, str]] = {
    "plus": "+",
    "minus": "-",
    "times": "*",
    "divided": "/",
    "power": "^",
    "squared": "^2",
    "cubed": "^3",
    "root": "r",
    "cube_root": "c",
    "percent_of": "%*",
    "percent": "%",
    "open": "(",
    "close": ")",
    "halved": "/2",
    "doubled": "*2",
    "half_of": "1/2*",
    "third_of": "1/3*",
    "quarter_of": "1/4*",
    "twice": "2*",
    "percent_off": "%off",
}
"""What the headings of `operator.voc` mean."""

_DISCOUNT: Final = "percent_off"
_VERBS: Final = {"*": "multiply", "/": "divide"}
_NAMES: Final = Path(__file__).parent / "names"
_BELOW: Final = {"foot": "inch", "pound": "ounce", "stone": "pound", "hour": "minute"}
"""The unit of a number that follows one of these without a unit of its own."""
_BARE: Final = frozenset("+-*/^()%r")
_LONGEST: Final = 200
_APART: Final = re.compile(
    r"([+*/^()×÷√=%])|(?<=[\d)])\s*(-)\s*(?=[\d(])|(?<=\d)\s*(x)\s*(?=\d)|(?<![\w.)%])(-)(?=[\d(])"  # noqa: RUF001
)
_FIGURES: Final = re.compile(r"(?<=\d)(?=[^\W\d_]|°)")
_LITERAL: Final = {"×": "*", "÷": "/", "√": "r", "x": "*"}  # noqa: RUF001


class Phrases(dict[tuple[str, ...], str]):
    """What phrases mean, by their words; signs mean themselves."""

    def __init__(self, table: Table, *keys: str) -> None:
        super().__init__({tuple(_words(form)): key for key in keys or table for form in table.get(key, ())})
        self._longest = max(map(len, self), default=1)
        self._first = {phrase[0] for phrase in self}

    def tag(self, words: Sequence[str]) -> list[tuple[str, str | None]]:
        """The words with what they mean: a phrase of several is one, the longest first."""
        tagged: list[tuple[str, str | None]] = []
        at = 0
        while at < len(words):
            word = words[at]
            length = min(self._longest, len(words) - at) if word in self._first else 0
            while length and tuple(words[at : at + length]) not in self:
                length -= 1
            if length:
                phrase = tuple(words[at : at + length])
                tagged.append((" ".join(phrase), self[phrase]))
            else:
                tagged.append((word, word if word in _BARE else None))
            at += length or 1
        return tagged


class Quantity(NamedTuple):
    """So much of a unit."""

    amount: Fraction
    unit: str


class Reader:
    """Reads one language, by the words in `operator.voc`, and in `names`."""

    def __init__(self, locale: Locale, lang: str) -> None:
        self.lang = lang
        self._signs = Phrases(groups(locale, "operator", lang))
        self.forms = table(_NAMES, "units", lang)
        """The words for each unit: for one of it, for several, and others."""
        self._units = Phrases(self.forms)
        around = table(_NAMES, "around", lang)
        self._ones, self._both = around.get("one", ()), around.get("both", ())
        self._openers = Phrases(around, "opener")
        self._into = Phrases(around, "into")
        self._dropped = Phrases(around, "dropped")
        self._verbs = {verb: sign for sign in ("*", "/") for verb in around.get(_VERBS[sign], ())}
        self._by = around.get("by", ())
        self._forms = [_form(form) for form in around.get("forms", ())]

    def sum(self, text: str) -> list[Token] | None:
        """The numbers and signs of a sum with one sign at least; None when there are other words in it."""
        tagged = self._signs.tag(self._between(self._in_order(self._opened(self._bare(_words(text))))))
        if all(sign is None for _, sign in tagged):
            return None  # most of what people say
        found: list[Token] = []
        said: list[str] = []
        for word, sign in tagged:
            if sign is None:
                said.append(word)
                continue
            if not self._flush(said, found):
                return None
            if sign == _DISCOUNT:  # "20 percent off 50"
                found = ["(", Fraction(1), "-", *found, "%", ")", "*"]
            else:
                found += _parts(SIGNS.get(sign, sign))
        return found if self._flush(said, found) and len(found) > 1 else None

    def _in_order(self, words: list[str]) -> list[str]:
        """ "Subtract 5 from 20" with its sign between the numbers."""
        said = " ".join(words)
        for pattern, plain in self._forms:
            found = pattern.fullmatch(said)
            if found is not None:
                return found.expand(plain).split()
        return words

    def _between(self, words: list[str]) -> list[str]:
        """ "Multiply 6 by 9" with its sign between the numbers."""
        sign = self._verbs.get(words[0]) if words else None
        by = next((place for place, word in enumerate(words) if word in self._by), 0)
        is_sign = tuple(words[: by + 1]) in self._signs  # "divide that by"
        return words if sign is None or by < 2 or is_sign else [*words[1:by], sign, *words[by + 1 :]]

    def quantity(self, text: str) -> Quantity | None:
        """An amount with its unit; "five feet eleven inches" is one too, in feet."""
        found: list[Quantity] = []
        said: list[str] = []
        for word, unit in self._units.tag([word for word in _words(text) if word not in self._both]):
            if unit is None or unit not in self.forms:
                said.append(word)
                continue
            amount = self.amount(" ".join(said))
            if amount is None or (found and UNITS[unit].kind != UNITS[found[0].unit].kind):
                return None
            found.append(Quantity(amount, unit))
            said = []
        if said and found and (below := _BELOW.get(found[-1].unit)):  # "five foot ten"
            amount = self.amount(" ".join(said))
            if amount is None:
                return None
            found.append(Quantity(amount, below))
        elif said or not found:
            return None
        first = found[0].unit
        if len(found) > 1 and UNITS[first].kind == "temperature":
            return None
        return Quantity(sum((converted(*one, first) for one in found), Fraction(0)), first)

    def unit(self, text: str) -> str | None:
        """The unit that all of `text` is."""
        return self._units.get(tuple(_words(text)))

    def amount(self, text: str) -> Fraction | None:
        """A number; an article is one."""
        return Fraction(1) if text in self._ones or not text else number(text, self.lang)

    def conversion(self, text: str) -> tuple[Quantity, str] | None:
        """The quantity and the target unit of "[what is] five miles in kilometres"."""
        words = self._opened(_words(text))
        tagged = self._into.tag(words)
        for place, (_, sign) in enumerate(tagged):
            if sign is None:
                continue
            before, behind = (" ".join(word for word, _ in part) for part in (tagged[:place], tagged[place + 1 :]))
            unit = self.unit(behind)
            quantity = self.quantity(before) if unit is not None else None
            if quantity is not None and unit is not None:
                return quantity, unit
        return None

    def named(self, unit: str, amount: Fraction) -> str:
        """The word for so many of a unit."""
        one, several, *_ = self.forms[unit]
        is_one = abs(amount) < 2 if self.lang.startswith("fr") else abs(amount) == 1
        return one if is_one else several

    def _bare(self, words: list[str]) -> list[str]:
        """Without what says nothing about the sum: "to that", "dollars"."""
        return [word for word, meaning in self._dropped.tag(words) if meaning is None or meaning in _BARE]

    def _opened(self, words: list[str]) -> list[str]:
        """Without "what is" at the beginning."""
        for length in range(min(len(words), 6), 0, -1):
            if tuple(words[:length]) in self._openers:
                return words[length:]
        return words

    def _flush(self, said: list[str], found: list[Token]) -> bool:
        """Turn the words since the last sign into a number."""
        if said:
            value = number(" ".join(said), self.lang)
            if value is None:
                return False
            found.append(value)
            said.clear()
        return True


def _form(form: str) -> tuple[re.Pattern[str], str]:
    """A pattern for words in an order of their own, and the same with the sign between the numbers."""
    said, _, plain = form.partition("=")
    pattern = re.escape(said.strip()).replace("\\ ", " ")
    pattern = re.sub(r"\bA\b", "(?P<A>.+?)", re.sub(r"\bB\b", "(?P<B>.+)", pattern))
    return re.compile(pattern), re.sub(r"\b([AB])\b", r"\\g<\1>", plain.strip())


def _words(text: str) -> list[str]:
    if len(text) > _LONGEST:
        return []
    spaced = _APART.sub(lambda found: f" {_literal(found)} ", straight(text).casefold())
    words = [word.strip(".,;:!?¿¡\"'…") for word in _FIGURES.sub(" ", spaced).replace("=", " ").split()]
    return [word for word in words if word]


def _literal(found: re.Match[str]) -> str:
    sign: str = next(filter(None, found.groups()))
    return _LITERAL.get(sign, sign)


def _parts(sign: str) -> list[Token]:
    return [Fraction(part) if part.isdigit() else part for part in sign]


_FOLLOWING: Final = ("+", "-", "*", "/", "^", "%")
_PLACES: Final = 3
"""Figures after the decimal sign of what was converted; more where there would be nothing left."""
_MOST: Final = 10**21


class CalculatorAnswer(NamedTuple):
    """A dialog with its values, and the number that was found if there is one: a fraction as text."""

    dialog: str
    values: dict[str, str]
    result: str | None = None


UNCLEAR: Final = CalculatorAnswer("unclear", {})


class Calculator:
    """Answers in the languages of a locale."""

    def __init__(self, locale: Locale) -> None:
        self._reader = lru_cache(maxsize=8)(lambda lang: Reader(locale, lang))
        # Cached, because a skill is asked whether it can answer before it is asked to.
        self.to = lru_cache(maxsize=32)(self._to)
        """The answer when all of a text is a sum or a conversion, by text and language; else None."""

    def _to(self, text: str, lang: str) -> CalculatorAnswer | None:
        reader = self._reader(lang)
        tokens = reader.sum(text)
        if tokens is not None:
            said = _summing(reader, tokens)
            return None if said is UNCLEAR else said
        wanted = reader.conversion(text)
        return wanted and _converting(reader, *wanted)

    def to_more(self, last: str, text: str, lang: str) -> CalculatorAnswer | None:
        """What to say when `text` goes on with the result before: "and times two"; else None."""
        reader = self._reader(lang)
        tokens = reader.sum(text)
        if not tokens or tokens[0] not in _FOLLOWING:
            return None
        return _summing(reader, [Fraction(last), *tokens])

    def to_sum(self, text: str, lang: str) -> CalculatorAnswer:
        """What to say when `text` has to be a sum."""
        reader = self._reader(lang)
        return _summing(reader, reader.sum(text) or ())

    def to_conversion(self, amount: str, unit: str, lang: str) -> CalculatorAnswer | None:
        """What to say to so much of a unit in another one; None when one of them is not known."""
        reader = self._reader(lang)
        quantity, target = reader.quantity(amount), reader.unit(unit)
        return None if quantity is None or target is None else _converting(reader, quantity, target)


def _summing(reader: Reader, tokens: Sequence[Token]) -> CalculatorAnswer:
    try:
        result = evaluate(tokens)
    except Unclear:
        return UNCLEAR
    except ZeroDivisionError:
        return CalculatorAnswer("by_zero", {})
    except TooBig:
        return CalculatorAnswer("too_big", {})
    if abs(result) >= _MOST:
        return CalculatorAnswer("too_big", {})
    text, is_exact = spoken(result, reader.lang)
    if not is_exact:
        text, _ = spoken(result, reader.lang, _places(result))
    return CalculatorAnswer("result" if is_exact else "about", {"result": text}, str(result))


def _places(value: Fraction) -> int:
    """Decimal places that are worth saying."""
    return _PLACES if abs(value) >= Fraction(1, 100) or not value else _PLACES + 9


def _converting(reader: Reader, quantity: Quantity, unit: str) -> CalculatorAnswer:
    amount, source = quantity
    try:
        result = converted(amount, source, unit)
    except Different:
        many = Fraction(2)
        return CalculatorAnswer("different", {"source": reader.named(source, many), "target": reader.named(unit, many)})
    places = _places(result)
    rounded = round(result, places)
    values = {
        "amount": spoken(amount, reader.lang, _PLACES)[0],
        "source": reader.named(source, amount),
        "result": spoken(rounded, reader.lang, places)[0],
        "target": reader.named(unit, rounded),
    }
    return CalculatorAnswer("converted", values, str(result))
