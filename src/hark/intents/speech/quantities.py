"""Numbers with what is written around them in the words of one language: units, money, ranges, phone numbers."""

from __future__ import annotations

import re
from typing import Final

from hark.intents.speech.numbers import NARROW, SpokenNumbers, elided, is_year
from hark.intents.speech.rules import SpokenRule, any_of, filled, rules_of, says
from hark.intents.speech.words import SpokenWords, forms_and_gender

_CODES: Final = {"USD": "$", "US$": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "BRL": "R$", "PLN": "zł", "SEK": "kr"}
_GLYPHS: Final = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8"}
GLYPHS: Final = "".join(_GLYPHS)
_HALF: Final = "1/2"
_ARROW: Final = "\u2192"
_TIMES: Final = "\u00d7"
_DASH: Final = "\\S[ \u202f\u00a0]?[\u2013\u2014-]"


def quantity_parts(words: SpokenWords, numbers: SpokenNumbers) -> dict[str, str]:
    """The parts of patterns that are of quantities."""
    signs = "".join(words.hour_signs)
    parts = {
        "figures": numbers.pattern,
        "narrow": NARROW,
        "space": f"[ {NARROW}]?",
        "start": r"(?<![\w.,:/-])",
        "end": r"(?![\w]|[.,:/-]\d)",
        "minus": "[-\u2212]",
        "dash": f"(?:[ {NARROW}][\u2013\u2014-][ {NARROW}]|[\u2013\u2014-])",
        "alone": r"(?<![^\s(\[~\u2248<>\u2265\u2264\u00b1])",
        "units": any_of(words.units),
        "coins": any_of((*words.currencies, *(code for code, sign in _CODES.items() if sign in words.currencies))),
        "codes": any_of(code for code in (*words.currencies, *_CODES) if len(code) == 3 and code.isalpha()),
        "sizes": any_of(size for size in words.magnitudes if len(size) > 1),
        "letters": any_of(size for size in words.magnitudes if len(size) == 1 and size not in ("K", *words.units)),
        "magnitudes": any_of(words.magnitudes),
        "fractions": any_of((*words.fractions, *_GLYPHS)),
        "dialled": any_of(words.phone_after),
        "spaced_phone": r"|\d{3} \d{3} \d{3,4}" if words.group != " " else "",
        "ordinals": any_of(words.ordinals),
        "ordinal_words": any_of(words.ordinals_after),
        "degree_words": any_of(words.degree_ordinals_after),
        "signs": any_of(words.signs),
        "operators": any_of(words.operators),
        "times": any_of(operator for operator in (_TIMES, "x") if operator in words.operators),
        "symbols": any_of((*words.symbols, _ARROW)),
        "per": re.escape(words.per),
        "hour": rf"\d{{1,2}}(?::\d\d| ?[{signs}](?:[0-5]\d)?(?!\w))" if signs else r"\d{1,2}:\d\d",
        "compounds": "(?=[a-zà-ÿ])" if words.compounds else "(?!)",
    }
    parts["signed"] = filled(r"(?P<sign><<alone>><<minus>>)?(?P<number>(?<![\w.,:/])(?<!\w-)<<figures>>)", parts)
    parts["side"] = filled(
        r"(?:(?:<<coins>>) ?)?<<minus>>?(?:<<hour>>|<<figures>>)(?: ?(?:(?:<<units>>|<<coins>>|[ap]m)(?!\w)))?", parts
    )
    return parts


class JoinedNumbers:
    """How numbers are said that belong to others, before any of them is a date: ranges, rates, what is dialled."""

    def __init__(self, numbers: SpokenNumbers, parts: dict[str, str]) -> None:
        self._words = numbers.words
        self._numbers = numbers
        self.rules: tuple[SpokenRule, ...] = rules_of(self, parts)

    @says(r"(?<=\d) [-\u2212] (?=\d[^=]{0,40}=)", hint="=")
    def _difference(self, _found: re.Match[str]) -> str:
        return f" {self._words.minus} "

    @says(r"(?<=\d)[.,](?:[\u2013\u2014]|--?)(?=\s|[.,;:!?)]|$)|(?<!\w)['\u2019](?=\d\ds?(?!\w))")
    def _unsaid(self, _found: re.Match[str]) -> str:
        """What is written for no cents, as in 5,-, and the apostrophe of '80s and '68."""
        return ""

    @says(r"(?<!\w)(?P<word>(?:<<dialled>>)\.?:? )(?P<figures>\d(?:[ <<narrow>>]?\d){2,14})(?![\w%]|[.,:/-]\d)",
          only="dialled", flags=re.IGNORECASE)  # fmt: skip
    def _dialled(self, found: re.Match[str]) -> str:
        """What is dialled, with a pause between its groups."""
        return found["word"] + _in_groups(self._numbers, found["figures"].split())

    @says(
        r"(?P<amount>\d<<space>>(?P<unit><<units>>|<<coins>>)?)/(?P<times>\d{1,3}<<space>>(?=<<units>>))?"
        r"(?P<per><<units>>|[^\W\d_]{3,15})(?![\w/²³])",
        hint="/",
    )
    def _rate(self, found: re.Match[str]) -> str:
        units, per = self._words.units, found["per"]
        if f"{found['unit']}/{per}" in units or (found["times"] and not found["unit"]):
            return found[0]
        if found["times"]:
            return f"{found['amount']} {self._words.per} {found['times']}{per}"
        return f"{found['amount']} {self._words.per} {units[per][0] if per in units else per}"

    @says(r"<<start>>(?P<low><<figures>>)/(?P<high>\d{1,3})<<end>>", hint="/")
    def _result(self, found: re.Match[str]) -> str:
        """A result in figures; of two small whole numbers it may be a date or a fraction as well."""
        low, high = found["low"], found["high"]
        if high != "100" and not self._numbers.parts(low)[1]:
            return found[0]
        return f"{low} {self._words.out_of} {high}"

    @says(r"(?<= <<per>> )(?P<unit><<units>>)(?![\w/²³%])")
    def _one(self, found: re.Match[str]) -> str:
        """A unit without a number: so much per GB."""
        return self._words.units[found["unit"]][0]

    @says(
        r"(?<![\w.,:/\u2013-])(?<!\) )(?P<low><<side>>)<<dash>>(?P<high><<side>>)(?![\w]|[.,:/\u2013-]\d)", hint=_DASH
    )
    def _from_to(self, found: re.Match[str]) -> str:
        low, high, words = found["low"], found["high"], self._words
        if low[:1] == "0" and low[1:].isdigit():  # a phone number
            return found[0]
        if is_year(low) and is_year(high) and low <= high:
            return f"{self._numbers.year(int(low))} {words.range} {self._numbers.year(int(high))}"
        if low.isdigit() and high.isdigit():
            if (len(low), len(high)) in ((4, 2), (3, 4)):  # a year and its month, or a phone number
                return found[0]
            if int(high) < int(low):
                return f"{low} {words.ratio} {high}"
        return f"{low} {words.range} {high}"


class SpokenQuantities:
    """How quantities are said. Each rule turns figures into words, which no later one takes for figures."""

    def __init__(self, numbers: SpokenNumbers, parts: dict[str, str]) -> None:
        words = self._words = numbers.words
        self._numbers = numbers
        self._coins = {code: sign for code, sign in _CODES.items() if sign in words.currencies}
        self.rules: tuple[SpokenRule, ...] = rules_of(self, parts)

    @says(r"(?<![\w.,:/-])(?:\+\d{1,3}(?:[ ./-]{0,2}\(?\d{1,4}\)?){2,6}"
          r"|(?:1-)?\(?\d{3}\)?[ -]\d{3}-\d{4}|\(?\d{2}\)? \d{4,5}-\d{4}|\d{3}-\d{4}|0\d(?:\.\d\d){4}"
          r"|0\d{1,5}(?:[ /-]\d{2,8}){1,5}<<spaced_phone>>)(?![\w]|[.,:/-]\d|%)")  # fmt: skip
    def _called(self, found: re.Match[str]) -> str:
        """A phone number, digit by digit, with a pause between its groups."""
        groups = re.findall(r"\d+", found[0])
        if sum(map(len, groups)) < 7:
            return found[0]
        plus = f"{self._words.signs.get('+', '+')} " if found[0].startswith("+") else ""
        return plus + _in_groups(self._numbers, groups)

    @says(r"(?<![\w.,:/-])(?:v\.?)?(\d{1,3}(?:\.\d{1,3}){2,3})(?![\w]|[.,:/-]\d)", hint=r"\d\.\d")
    def _version(self, found: re.Match[str]) -> str:
        """A version or address, its parts joined by the word for a dot; 1.000.000 may be a number."""
        parts = found[1].split(".")
        is_address = len(parts) == 4 and all(int(part) <= 255 for part in parts)
        if self._words.group == "." and {len(part) for part in parts[1:]} == {3} and not is_address:
            return found[0]
        return f" {self._words.dot} ".join(map(self._numbers.said, parts))

    @says(r"<<start>>(\d{1,3}):(\d{1,3})<<end>>", hint=":")
    def _ratio(self, found: re.Match[str]) -> str:
        return f"{found[1]} {self._words.ratio} {found[2]}"

    @says(r"(?<![\w)])(<<signs>>) ?(?=<<minus>>?(?:\d|(?:<<coins>>)))")
    def _sign(self, found: re.Match[str]) -> str:
        return f"{self._words.signs[found[1]]} "

    @says(r"(?<![\w.,:/-])(?:(?P<whole>\d{1,4}) ?)?(?P<part><<fractions>>)(?![\w]|[.,:/-]\d)"
          r"(?:<<space>>(?P<unit><<units>>)(?![\w/²³]))?", hint=f"[/{GLYPHS}]")  # fmt: skip
    def _fraction(self, found: re.Match[str]) -> str:
        words, part, whole = self._words, _GLYPHS.get(found["part"], found["part"]), found["whole"]
        said = words.fractions[part]
        if whole and part == _HALF and words.mixed_half:
            said = words.mixed_half.format(whole=self._numbers.said(whole, None, "masculine"))
        elif whole:
            said = words.mixed.format(whole=self._numbers.said(whole), part=said)
        if not found["unit"]:
            return said
        forms, _ = forms_and_gender(words.units[found["unit"]])
        link = f"{words.of_amount} " if words.of_amount and not whole and part != _HALF else ""
        said = f"{said} {link}{forms[-1] if words.slavic or whole else forms[0]}"
        return elided(said) if words.elision else said

    @says(r"(?<=[\d)]) ?(<<operators>>) ?(?=[-\u2212(]?\d)")
    def _operator(self, found: re.Match[str]) -> str:
        return f" {self._words.operators[found[1]]} "

    @says(r"(?<![\w.,:/-])(?P<number><<figures>>) ?(?P<times><<times>>)(?=[ .,;:!?)]|$)", hint=r"\d ?[\u00d7x]")
    def _times(self, found: re.Match[str]) -> str:
        return f"{self._numbers.said(found['number'])} {self._words.operators[found['times']]}"

    @says(r"(?P<sign><<alone>><<minus>>)?(?<!\w)(?P<coin><<coins>>) ?(?P<sign2><<minus>>)?(?P<number><<figures>>)"
          r"(?!\d)(?: ?(?P<size><<magnitudes>>)(?!\w))?(?: (?P<code><<codes>>))?(?!\w|[.,:/-]\d)",
          hint="<<coins>>")  # fmt: skip
    def _coin_first(self, found: re.Match[str]) -> str:
        return self._amount(found)

    @says(r"<<signed>>(?:<<space>>(?P<size><<magnitudes>>))?<<space>>(?P<coin><<coins>>)(?!\w)", hint="<<coins>>")
    def _coin_last(self, found: re.Match[str]) -> str:
        return self._amount(found)

    @says(r"<<signed>>(?:<<space>>(?P<size><<sizes>>)|(?P<letter><<letters>>))(?!\w)")
    def _large(self, found: re.Match[str]) -> str:
        """A number with what is written for thousands or millions."""
        return self._numbers.sized(found["number"], found["sign"], found["size"] or found["letter"])

    @says(r"<<start>>(\d{1,2}) ?h ?(\d{1,2}) ?(?:m|min)(?!\w)", hint=r"\d ?h")
    def _length(self, found: re.Match[str]) -> str:
        return f"{self._numbers.of('h', found[1])} {self._numbers.of('min', found[2])}"

    @says(r"(?<!\w)(?P<word><<degree_words>>)(?P<link> |['\u2019])(?P<number>\d{1,4})°(?= [^\W\d_]{3})", hint="°",
          only="degree_words", flags=re.IGNORECASE)  # fmt: skip
    def _degree_rank(self, found: re.Match[str]) -> str:
        word = found["word"]
        said = self._numbers.ordinal(int(found["number"]), self._words.degree_ordinals_after[word.lower()])
        return f"{word}{found['link']}{said}" if said else found[0]

    @says(r"<<signed>><<space>>(?P<unit><<units>>)(?![\w/²³])(?:\.(?=[,;:)]| [^\W\d_A-Z]))?")
    def _measure(self, found: re.Match[str]) -> str:
        figures = found["number"]
        if is_year(figures) and found[0] == f"{figures}{self._words.decade}":  # a decade, where years stay figures
            return found[0]
        return self._numbers.of(found["unit"], figures, found["sign"])

    @says(r"<<start>>(\d{1,6})(<<ordinals>>)(?!\w)", only="ordinals")
    def _rank(self, found: re.Match[str]) -> str:
        return self._numbers.ordinal(int(found[1]), self._words.ordinals[found[2]]) or found[0]

    @says(r"(?<!\w)(?P<word><<ordinal_words>>) (?P<number>\d{1,3})\.(?= \w)", only="ordinal_words", flags=re.IGNORECASE)
    def _rank_after(self, found: re.Match[str]) -> str:
        said = self._numbers.ordinal(int(found["number"]), self._words.ordinals_after[found["word"].lower()])
        return f"{found['word']} {said}" if said else found[0]

    @says(r"(?<![\w.,:/-])(?P<number>\d{1,4})-<<compounds>>", hint=r"\d-")
    def _compound(self, found: re.Match[str]) -> str:
        figures = found["number"]
        return self._numbers.year(int(figures)) if is_year(figures) else self._numbers.said(figures)

    @says(r"<<signed>>(?P<end><<end>>)(?= (?P<noun>[^\W\d_]+))?")
    def _plain(self, found: re.Match[str]) -> str:
        noun, figures, words = found["noun"] or "", found["number"], self._words
        if self._numbers.is_read_as_year(figures) and not found["sign"]:
            return self._numbers.year(int(figures))
        is_noun = noun and (noun[0].isupper() if words.ordinals_after else noun[0].islower())
        is_noun = is_noun or (figures == "1" and noun.endswith(words.adjectives))
        gender = self._numbers.gender_before(noun) if is_noun else ""
        return self._numbers.said(figures, found["sign"], gender)

    def _amount(self, found: re.Match[str]) -> str:
        words, numbers = self._words, self._numbers
        coin = found.groupdict().get("code") or found["coin"]
        coin = self._coins.get(coin, coin)
        forms, gender = forms_and_gender(words.currencies[coin if coin in words.currencies else found["coin"]])
        half = len(forms) // 2
        figures, groups = found["number"], found.groupdict()
        whole, part = numbers.parts(figures)
        minus = f"{words.minus} " if groups["sign"] or groups.get("sign2") else ""
        if groups["size"]:
            size = numbers.sized(figures, None, groups["size"])
            link = f" {words.of_amount} " if words.of_amount and not size.endswith(words.bare_amounts) else " "
            said = f"{minus}{size}{link}{forms[:half][-1]}"
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


class SpokenSymbols:
    """How symbols between words are said."""

    def __init__(self, words: SpokenWords, parts: dict[str, str]) -> None:
        self._words = words
        self.rules: tuple[SpokenRule, ...] = rules_of(self, parts)

    @says(r"(?<=\s)(<<symbols>>)(?=\s)")
    def _symbol(self, found: re.Match[str]) -> str:
        return self._words.symbols.get(found[1], self._words.range)


def _in_groups(numbers: SpokenNumbers, groups: list[str]) -> str:
    pairs = numbers.words.phone_pairs
    return ", ".join(numbers.said(one) if pairs and len(one) == 2 else numbers.digits(one) for one in groups)
