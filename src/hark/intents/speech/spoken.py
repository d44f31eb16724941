"""Writing out what stands in a text as figures and symbols, in the words of its language."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

from hark.intents.speech.dates import SpokenDates, elided
from hark.intents.speech.markup import plain_text
from hark.intents.speech.numbers import NARROW, SpokenNumbers, any_of, forms_and_gender, is_year
from hark.intents.speech.words import SPOKEN_LANGUAGES, SpokenWords, spoken_words

_LONGEST: Final = 20_000
"""Characters of a text that are worked on; no answer is that long."""
_CODES: Final = {"USD": "$", "US$": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "BRL": "R$", "PLN": "zł", "SEK": "kr"}
_GLYPHS: Final = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8"}
_FIGURES: Final = re.compile(r"[\d½⅓⅔¼¾⅛]|[IVX]{2}")
_DASH: Final = re.compile("\\S[ \u202f\u00a0]?[\u2013\u2014-]")
_DOT: Final = re.compile(r"\w\.\w")
_ROUND: Final = re.compile(r"(?<=\d)[.,](?:[\u2013\u2014]|--?)(?=\s|[.,;:!?)]|$)")
"""What is written for no cents, as in 5,-"""
_SHORT_YEAR: Final = re.compile(r"(?<!\w)['\u2019](?=\d\ds?(?!\w))")
"""The apostrophe of '80s and '68."""
_ARROW: Final = "\u2192"
_THOUSANDS: Final = ("mil", "mille", "mila")
_CLOSING: Final = ("etc.", "usw.", "ecc.", "itd.", "itp.", "enz.", "osv.", "o.s.v.", "m.m.")
"""Abbreviations that a new sentence may follow."""
_POINT: Final = ("mx", "us", "419", "pr", "gt", "hn", "ni", "pa", "sv", "do", "pe")
"""Countries that write decimals with a point in languages that do so with a comma elsewhere."""
_ROMAN: Final = {"I": 1, "V": 5, "X": 10, "L": 50}


def speakable(text: str, lang: str | None, *, markup: bool = True) -> str:
    """`text` as it should be spoken in `lang`, a language tag; of an unknown language only markup is removed.

    With `markup` false, markdown and emoji stay. Never raises for any text.
    """
    if len(text) > _LONGEST:
        return text
    if markup:
        text = plain_text(text)
    code = (lang or "").partition("-")[0].lower()
    if code not in SPOKEN_LANGUAGES:
        return text
    return _spoken_form(code, (lang or "").lower()).write(text)


@lru_cache(maxsize=32)
def _spoken_form(code: str, lang: str) -> _SpokenForm:
    words = spoken_words(code)
    if words.decimal == "," and lang.rpartition("-")[2] in _POINT:
        words = msgspec.structs.replace(words, decimal=".", group=",")
    numbers = SpokenNumbers(code, words, _number_rules(code, lang))
    british = code == "en" and lang not in ("en", "en-us")
    units = any_of((*words.units, *words.currencies))
    dates = SpokenDates(numbers, month_first=words.date_order == "mdy" and not british, units=units)
    return _SpokenForm(words, numbers, dates)


def _number_rules(code: str, lang: str) -> str:
    """The rules that spell numbers: some countries count in other words."""
    if code == "pt":
        return "pt" if lang == "pt-br" else "pt_PT"
    own = f"{code}_{lang.rpartition('-')[2].upper()}"
    return own if own in ("de_CH", "fr_BE", "fr_CH") else code


class _SpokenForm:
    """The rules of one language, compiled. Each turns figures into words, which no later one takes for figures."""

    def __init__(self, words: SpokenWords, numbers: SpokenNumbers, dates: SpokenDates) -> None:
        self._words = words
        self._numbers = numbers
        self._dates = dates
        self._coins = {**{code: sign for code, sign in _CODES.items() if sign in words.currencies},
                       **{sign: sign for sign in words.currencies}}  # fmt: skip
        number, space = numbers.pattern, f"[ {NARROW}]?"
        romans, short = any_of(words.roman_before), any_of((*words.abbreviations, *words.before_names))
        sizes = any_of(size for size in words.magnitudes if len(size) > 1)
        letters = any_of(size for size in words.magnitudes if len(size) == 1 and size not in ("K", *words.units))
        coins, units, signs = any_of(self._coins), any_of(words.units), any_of(words.signs)
        magnitudes, fractions = any_of(words.magnitudes), any_of((*words.fractions, *_GLYPHS))
        minus, dash = "[-\u2212]", f"(?:[ {NARROW}][\u2013\u2014-][ {NARROW}]|[\u2013\u2014-])"
        start, end = r"(?<![\w.,:/-])", r"(?![\w]|[.,:/-]\d)"
        alone = r"(?<![^\s(\[~\u2248<>\u2265\u2264\u00b1])"
        signed = rf"(?P<sign>{alone}{minus})?(?P<number>(?<![\w.,:/])(?<!\w-){number})"
        side = rf"(?:(?:{coins}) ?)?{minus}?(?:\d{{1,2}}:\d\d|{number})(?: ?(?:(?:{units}|{coins}|[ap]m)(?!\w)))?"
        self._worth = re.compile(
            rf"[0-9&+=@%°€£¥$#/.\u2192{''.join(_GLYPHS)}]|[IVX]{{2}}|(?<!\w)(?:[IVX](?:{any_of(words.ordinals)})|{short})(?!\w)"
        )
        self._abbreviation = re.compile(rf"(?<!\w)(?:{short})(?!\w)")
        self._counted = {*words.magnitudes, *(f"{unit}." for unit in words.units)}
        self._numbered = re.compile(rf"(?<![\w#])({any_of(words.numbered)}) ?(?=\d)")
        self._address = re.compile(r"(?<![\w.@/])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,10}|"
                                   r"(?<![\w.@/])(?:[\w-]{1,63}\.){1,4}(?:com|org|net|io|eu|de|es|fr|it|nl|pl|pt|se|cat|"
                                   r"uk|gov|edu|info|dev)(?![\w-]|\.\w)")  # fmt: skip
        spaced = r"|\d{3} \d{3} \d{3,4}" if words.group != " " else ""
        self._phone = re.compile(
            rf"(?<![\w.,:/-])(?:\+\d{{1,3}}(?:[ ./-]{{0,2}}\(?\d{{1,4}}\)?){{2,6}}"
            rf"|(?:1-)?\(?\d{{3}}\)?[ -]\d{{3}}-\d{{4}}|\d{{3}}-\d{{4}}"
            rf"|0\d{{1,5}}(?:[ /-]\d{{2,8}}){{1,5}}{spaced})(?![\w]|[.,:/-]\d|%)"
        )
        self._share = re.compile(rf"{start}(?P<low>{number})/(?P<high>\d{{1,3}}){end}")
        dialled = any_of(words.phone_after)
        self._dialled = re.compile(
            rf"(?<!\w)(?P<word>(?:{dialled})\.?:? )(?P<figures>\d(?:[ {NARROW}]?\d){{2,14}})(?![\w%]|[.,:/-]\d)"
            if dialled
            else "(?!)",
            re.IGNORECASE,
        )
        self._rate = re.compile(
            rf"(?P<amount>\d{space}(?P<unit>{units}|{coins})?)/(?P<per>{units}|[^\W\d_]{{3,15}})(?![\w/²³])"
        )
        self._scaled = re.compile(rf"{signed}(?:{space}(?P<size>{sizes})|(?P<letter>{letters}))(?!\w)")
        self._dotted = re.compile(r"(?<![\w.,:/-])(?:v\.?)?(\d{1,3}(?:\.\d{1,3}){2,3})(?![\w]|[.,:/-]\d)")
        self._range = re.compile(rf"(?<![\w.,:/\u2013-])(?P<low>{side}){dash}(?P<high>{side})(?![\w]|[.,:/\u2013-]\d)")
        self._ratio = re.compile(rf"{start}(\d{{1,3}}):(\d{{1,3}}){end}")
        self._coin = re.compile(coins)
        self._coin_first = re.compile(
            rf"(?P<sign>{alone}{minus})?(?<!\w)(?P<coin>{coins}) ?(?P<sign2>{minus})?(?P<number>{number})(?!\d)"
            rf"(?: ?(?P<size>{magnitudes})(?!\w))?(?!\w|[.,:/-]\d)"
        )
        self._coin_last = re.compile(rf"{signed}(?:{space}(?P<size>{magnitudes}))?{space}(?P<coin>{coins})(?!\w)")
        self._fraction = re.compile(
            rf"(?<![\w.,:/-])(?:(?P<whole>\d{{1,4}}) ?)?(?P<part>{fractions})(?![\w]|[.,:/-]\d)"
            rf"(?:{space}(?P<unit>{units})(?![\w/²³]))?"
        )
        self._length = re.compile(rf"{start}(\d{{1,2}}) ?h ?(\d{{1,2}}) ?(?:m|min)(?!\w)")
        self._unit = re.compile(rf"{signed}{space}(?P<unit>{units})(?![\w/²³])(?:\.(?=[,;:)]| [^\W\d_A-Z]))?")
        endings = any_of(words.ordinals)
        self._ordinal = re.compile(rf"{start}(\d{{1,6}})({endings})(?!\w)")
        self._roman_ordinal = re.compile(
            rf"{start}(?:([IVXL]{{2,6}}|I(?=er)|[VX](?=(?:{endings}) (?:{romans})\b))({endings}))(?!\w)"
        )
        after = any_of(words.ordinals_after)
        self._dot_ordinal = re.compile(rf"(?<!\w)(?P<word>{after}) (?P<number>\d{{1,3}})\.(?= \w)", re.IGNORECASE)
        self._century = re.compile(rf"(?<!\w)([IVX]{{1,6}})(?= (?:{romans})\b)")
        self._roman = re.compile(r"(?<!\w)(?P<word>[^\W\d_]{2,30}) (?P<roman>[IVX]{1,6})(?P<dot>\.?)(?![\w'\u2019-])")
        self._sign = re.compile(rf"(?<![\w)])({signs}) ?(?={minus}?(?:\d|(?:{coins})))")
        self._operator = re.compile(rf"(?<=[\d)]) ?({any_of(words.operators)}) ?(?=[-\u2212(]?\d)")
        self._difference = re.compile(r"(?<=\d) [-\u2212] (?=\d[^=]{0,40}=)")
        self._number = re.compile(rf"{signed}(?P<end>{end})(?= (?P<noun>[^\W\d_]+))?")
        self._symbol = re.compile(rf"(?<=\s)({any_of((*words.symbols, _ARROW))})(?=\s)")

    def write(self, text: str) -> str:
        words = self._words
        if self._worth.search(text) is None:
            return text
        text = self._abbreviation.sub(self._full, self._dates.days(text))
        if _DOT.search(text):
            text = self._address.sub(self._spelled_address, text)
        text = self._century.sub(lambda found: self._numbers.ordinal(_roman_value(found[1]) or 1) or found[0], text)
        if words.ordinals:
            text = self._roman_ordinal.sub(self._rank, text)
        if words.roman_name:
            text = self._roman.sub(self._numeral, text)
        if _FIGURES.search(text):
            text = self._with_figures(text)
        return self._symbol.sub(lambda found: words.symbols.get(found[1], words.range), text)

    def _with_figures(self, text: str) -> str:
        words = self._words
        text = self._numbered.sub(lambda found: f"{words.numbered[found[1]]} ", text)
        text = self._difference.sub(f" {words.minus} ", text)
        text = self._dialled.sub(self._digit_by_digit, _SHORT_YEAR.sub("", _ROUND.sub("", text)))
        if "/" in text:
            text = self._share.sub(self._out_of, self._rate.sub(self._per, text))
        if _DASH.search(text):
            text = self._range.sub(self._from_to, text)
        text = self._dates.write(text)
        text = self._phone.sub(self._called, text)
        text = self._dotted.sub(self._version, text)
        text = self._ratio.sub(rf"\1 {words.ratio} \2", text)
        text = self._sign.sub(lambda found: f"{words.signs[found[1]]} ", text)
        text = self._fraction.sub(self._part, text)
        text = self._operator.sub(lambda found: f" {words.operators[found[1]]} ", text)
        if self._coin.search(text):
            text = self._coin_first.sub(self._amount, text)
            text = self._coin_last.sub(self._amount, text)
        text = self._scaled.sub(self._large, text)
        text = self._length.sub(r"\1 h \2 min", text)
        text = self._unit.sub(self._measure, text)
        if words.ordinals:
            text = self._ordinal.sub(self._rank, text)
        if words.ordinals_after:
            text = self._dot_ordinal.sub(self._rank_after, text)
        return self._number.sub(self._plain_number, text)

    def _full(self, found: re.Match[str]) -> str:
        """What an abbreviation stands for, with the full stop that it shares with its sentence."""
        start = found.start()
        before, rest = found.string[max(0, start - 80) : start], found.string[found.end() :]
        if found[0] in self._counted and before.rstrip()[-1:].isdigit():
            return found[0]
        ends = not rest.strip() or (found[0] in _CLOSING and rest.lstrip()[:1].isupper())
        stop = "." if found[0].endswith(".") and ends else ""
        names = self._words.before_names
        if found[0] in names and rest[1:2].isupper() and not _is_name(before):
            return names[found[0]]
        return self._words.abbreviations.get(found[0], found[0].removesuffix(stop)) + stop

    def _spelled_address(self, found: re.Match[str]) -> str:
        at = self._words.symbols.get("@", "@")
        return found[0].replace(".", f" {self._words.dot} ").replace("@", f" {at} ")

    def _digit_by_digit(self, found: re.Match[str]) -> str:
        """What is dialled, with a pause between its groups."""
        return found["word"] + self._groups(found["figures"].split())

    def _groups(self, groups: list[str]) -> str:
        pairs = self._words.phone_pairs
        said = [self._numbers.said(one) if pairs and len(one) == 2 else self._numbers.digits(one) for one in groups]
        return ", ".join(said)

    def _called(self, found: re.Match[str]) -> str:
        """A phone number, digit by digit, with a pause between its groups."""
        groups = re.findall(r"\d+", found[0])
        if sum(map(len, groups)) < 7:
            return found[0]
        plus = f"{self._words.signs.get('+', '+')} " if found[0].startswith("+") else ""
        return plus + self._groups(groups)

    def _version(self, found: re.Match[str]) -> str:
        """A version or address, its parts joined by the word for a dot; 1.000.000 may be a number."""
        parts = found[1].split(".")
        is_address = len(parts) == 4 and all(int(part) <= 255 for part in parts)
        if self._words.group == "." and {len(part) for part in parts[1:]} == {3} and not is_address:
            return found[0]
        return f" {self._words.dot} ".join(map(self._numbers.said, parts))

    def _out_of(self, found: re.Match[str]) -> str:
        """A result in figures; of two small whole numbers it may be a date or a fraction as well."""
        low, high = found["low"], found["high"]
        if high != "100" and not self._numbers.parts(low)[1]:
            return found[0]
        return f"{low} {self._words.out_of} {high}"

    def _per(self, found: re.Match[str]) -> str:
        units, per = self._words.units, found["per"]
        if f"{found['unit']}/{per}" in units:
            return found[0]
        return f"{found['amount']} {self._words.per} {units[per][0] if per in units else per}"

    def _large(self, found: re.Match[str]) -> str:
        """A number with what is written for thousands or millions."""
        return self._numbers.sized(found["number"], found["sign"], found["size"] or found["letter"])

    def _from_to(self, found: re.Match[str]) -> str:
        low, high = found["low"], found["high"]
        if low[:1] == "0" and low[1:].isdigit():  # a phone number
            return found[0]
        if is_year(low) and is_year(high) and low <= high:
            return f"{self._numbers.year(int(low))} {self._words.range} {self._numbers.year(int(high))}"
        if low.isdigit() and high.isdigit():
            if len(low) == 4 and len(high) == 2:  # a year and its month
                return found[0]
            if len(low) == 3 and len(high) == 4:  # a phone number
                return found[0]
            if int(high) < int(low):
                return f"{low} {self._words.ratio} {high}"
        return f"{low} {self._words.range} {high}"

    def _part(self, found: re.Match[str]) -> str:
        said = self._words.fractions[_GLYPHS.get(found["part"], found["part"])]
        if found["whole"]:
            said = self._words.mixed.format(whole=self._numbers.said(found["whole"]), part=said)
        if not found["unit"]:
            return said
        forms, _ = forms_and_gender(self._words.units[found["unit"]])
        number = forms[-1] if self._words.slavic or found["whole"] else forms[0]
        return f"{said} {number}"

    def _measure(self, found: re.Match[str]) -> str:
        forms, gender = forms_and_gender(self._words.units[found["unit"]])
        figures = found["number"]
        if is_year(figures) and found[0] == f"{figures}{self._words.decade}":  # a decade, where years stay figures
            return found[0]
        return f"{self._numbers.said(figures, found['sign'], gender)} {self._numbers.form(forms, figures)}"

    def _amount(self, found: re.Match[str]) -> str:
        words, numbers = self._words, self._numbers
        forms, gender = forms_and_gender(words.currencies[self._coins[found["coin"]]])
        half = len(forms) // 2
        figures, groups = found["number"], found.groupdict()
        whole, part = numbers.parts(figures)
        minus = f"{words.minus} " if groups["sign"] or groups.get("sign2") else ""
        if groups["size"]:
            size = numbers.sized(figures, minus, groups["size"])
            link = f" {words.of_amount} " if words.of_amount and not size.endswith(_THOUSANDS) else " "
            said = f"{size}{link}{forms[:half][-1]}"
            return elided(said) if words.elision else said
        if len(part) not in (0, 2):  # an exchange rate
            return f"{minus}{numbers.said(figures)} {numbers.form(forms[:half], figures)}"
        said = f"{minus}{numbers.said(whole, None, gender)} {numbers.form(forms[:half], whole)}"
        if not part or part == "00":
            return said
        part = part.lstrip("0")
        hundredth = f"{numbers.said(part)} {numbers.form(forms[half:], part)}"
        if whole == "0":
            return minus + hundredth
        return words.currency.format(whole=said, part=hundredth, part_number=numbers.said(part))

    def _rank(self, found: re.Match[str]) -> str:
        number = int(found[1]) if found[1].isdigit() else _roman_value(found[1])
        rules = self._words.ordinals[found[2]]
        return (self._numbers.ordinal(number, rules) if number else None) or found[0]

    def _rank_after(self, found: re.Match[str]) -> str:
        said = self._numbers.ordinal(int(found["number"]), self._words.ordinals_after[found["word"].lower()])
        return f"{found['word']} {said}" if said else found[0]

    def _numeral(self, found: re.Match[str]) -> str:
        """A Roman numeral: of a chapter, a king or a century. A single letter is one only after a word for chapters."""
        words = self._words
        word, roman = found["word"], found["roman"]
        number = _roman_value(roman)
        counted = word.lower() in map(str.lower, words.roman_after)
        if not number or (len(roman) == 1 and (not counted or (roman == "I" and not _ends(found)))):
            return found[0]
        dot = found["dot"] if _ends(found) or not words.ordinals_after else ""
        if counted:
            return f"{word} {self._numbers.said(str(number))}{dot}"
        if not word[:1].isupper() or word.isupper():
            return found[0]
        cardinal = self._numbers.said(str(number))
        gender = "spellout-ordinal-feminine" if word.endswith("a") and words.genders.get("a") == "feminine" else ""
        ordinal = self._numbers.ordinal(number, gender) if number <= words.roman_ordinals_to else cardinal
        return f"{word} {words.roman_name.format(ordinal=ordinal or cardinal, number=cardinal)}{dot}"

    def _plain_number(self, found: re.Match[str]) -> str:
        noun = found["noun"] or ""
        figures, words = found["number"], self._words
        if words.four_figures and is_year(figures) and (figures < "2" or words.late_full_hour) and not found["sign"]:
            return self._numbers.year(int(figures))
        is_noun = noun and (noun[0].isupper() if words.ordinals_after else noun[0].islower())
        is_noun = is_noun or (figures == "1" and noun.endswith(words.adjectives))
        gender = self._numbers.gender_before(noun) if is_noun else ""
        return self._numbers.said(figures, found["sign"], gender)


def _is_name(before: str) -> bool:
    """Whether a text ends with a word that begins with a capital although it does not begin a sentence, or a figure."""
    words = before.split()
    return len(words) > 1 and (words[-1][0].isupper() or words[-1][0].isdigit()) and words[-2][-1:] not in ".!?"


def _ends(found: re.Match[str]) -> bool:
    return re.match(r"\s*(?:$|[.,;:!?)])", found.string[found.end() :]) is not None


def _roman_value(text: str) -> int:
    """The value of a Roman numeral; 0 for letters that are none."""
    if (
        re.fullmatch(r"L?X{0,3}(?:IX|IV|V?I{0,3})", text) is None
        and re.fullmatch(r"XL(?:IX|IV|V?I{0,3})", text) is None
    ):
        return 0
    values = [_ROMAN[letter] for letter in text]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))
