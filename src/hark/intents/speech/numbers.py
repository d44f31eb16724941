"""Numbers in the words of one language: whole, with decimals, ordinal, digit by digit, and the nouns after them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from hark.intents.speech.words import SpokenWords, forms_and_gender, spelled, spelled_by

NARROW: Final = "\u202f\u00a0"
_LONGEST_NUMBER: Final = 15
_FIRST_YEAR: Final = 1100
_LAST_YEAR: Final = 2099


class SpokenNumbers:
    """How numbers in figures are written and said in one language."""

    def __init__(self, words: SpokenWords) -> None:
        self.words = words
        dots = "." if words.decimal == "," else ""
        group = f"[{re.escape(words.group + dots)}{NARROW}]"
        point = re.escape(words.decimal)
        # 10 000 is one number in every language; a point is one of decimals where it cannot be one of thousands.
        foreign = r"|\d+\.\d{1,2}(?!\d)|0\.\d+" if dots else ""
        self.pattern: Final = (
            rf"(?:(?:\d{{1,3}}(?:{group}\d{{3}})+|\d{{1,3}}(?: \d{{3}})* 000(?: \d{{3}})*|\d+)(?:{point}\d+)?{foreign})"
        )
        self._group = re.compile(rf"{group}(?=\d{{3}}(?!\d))| ")

    def parts(self, figures: str) -> tuple[str, str]:
        """The whole number and the decimals, both in figures alone."""
        if self.words.decimal == "," and re.fullmatch(r"\d+\.\d{1,2}|0\.\d+", figures):
            figures = figures.replace(".", ",")
        whole, _, decimals = self._group.sub("", figures).partition(self.words.decimal)
        return whole, decimals

    def spelled(self, number: int, gender: str = "") -> str:
        """A whole number in words."""
        words = self.words
        said = _respelled(spelled(number, words.rules, gender), words.respelled)
        return _respelled(said, words.respelled_feminine) if gender == "feminine" else said

    def said(self, figures: str, sign: str | None = None, gender: str = "") -> str:
        """A number in words; digit by digit if it begins with zero or is too long to be a quantity."""
        whole, decimals = self.parts(figures)
        if (len(whole) > 1 and whole.startswith("0")) or len(whole) > _LONGEST_NUMBER:
            return self.digits(whole)
        said = self.spelled(int(whole), "" if decimals else gender)
        if decimals:
            if said.isdigit():  # without the extra, figures stay figures
                said = f"{whole}{self.words.decimal}{decimals}"
            else:
                said += f" {self.words.point} {self.digits(decimals)}"
        return f"{self.words.minus} {said}" if sign else said

    def sized(self, figures: str, sign: str | None, size: str) -> str:
        """A number of thousands or millions, by what is written for them."""
        forms, gender = forms_and_gender(self.words.magnitudes[size])
        return f"{self.said(figures, sign, gender)} {self.form(forms, figures)}"

    def of(self, unit: str, figures: str, sign: str | None = None) -> str:
        """A number of a unit."""
        forms, gender = forms_and_gender(self.words.units[unit])
        return f"{self.said(figures, sign, gender)} {self.form(forms, figures)}"

    def digits(self, figures: str) -> str:
        """Figures one by one."""
        return " ".join(self.spelled(int(digit)) for digit in figures)

    def year(self, number: int) -> str:
        """A year in words."""
        said = spelled_by(number, self.words.rules, "spellout-numbering-year")
        return self.spelled(number) if said is None else _respelled(said, self.words.respelled)

    def ordinal(self, number: int, rule_set: str = "") -> str | None:
        """An ordinal in words; None where the language has no rules for it."""
        usual = ("spellout-ordinal", "spellout-ordinal-masculine", "spellout-ordinal-neuter")
        if rule_set in self.words.ordinal_endings:
            return self._declined(number, self.words.ordinal_endings[rule_set])
        return next((said for name in ([rule_set] if rule_set else usual)
                     if (said := spelled_by(number, self.words.rules, name))), None)  # fmt: skip

    def _declined(self, number: int, endings: Mapping[str, str]) -> str | None:
        """An ordinal of the days of a month, with other endings."""
        if not 0 < number <= len(self.words.days):
            return None
        said = self.words.days[number - 1].split()
        ended = ((word, next((end for end in endings if word.endswith(end)), "")) for word in said)
        return " ".join(word.removesuffix(end) + endings.get(end, "") for word, end in ended)

    def form(self, forms: Sequence[str], figures: str) -> str:
        """The form of a noun after this number."""
        whole, decimals = self.parts(figures)
        number = int(whole)
        if self.words.slavic and len(forms) > 2:
            if decimals:
                return forms[3] if len(forms) > 3 else forms[1]
            few = number % 10 in (2, 3, 4) and number % 100 not in (12, 13, 14)
            return forms[0] if number == 1 else forms[1] if few else forms[2]
        one = number == 1 or (number == 0 and self.words.zero_is_one)
        return forms[0] if one and not decimals else forms[-1]

    def gender_before(self, noun: str) -> str:
        """The gender of a number that stands before this word; empty where it is no noun."""
        genders = self.words.genders
        if not genders or len(noun) < (2 if noun[:1].isupper() else 3) or noun in self.words.not_nouns:
            return ""
        return next((genders[noun[at:]] for at in range(len(noun)) if noun[at:] in genders), genders["*"])

    def is_read_as_year(self, figures: str) -> bool:
        """Whether a number of four figures is read as a year wherever it stands."""
        return is_year(figures) and figures <= self.words.years_to


def is_year(figures: str) -> bool:
    """Whether four figures may be a year."""
    return len(figures) == 4 and figures.isdigit() and _FIRST_YEAR <= int(figures) <= _LAST_YEAR


def elided(text: str) -> str:
    """`text` with "de" before a vowel shortened."""
    return re.sub(r"\bde (?=[aeiouàâéèêëíïòóôúAEIOU])", "d'", text)


def ends_sentence(found: re.Match[str]) -> bool:
    """Whether nothing of the sentence follows what was found."""
    return re.match(r"\s*(?:$|\s[A-ZÀ-Þ])", found.string[found.end() :]) is not None


def _respelled(said: str, corrections: Mapping[str, str]) -> str:
    for wrong, right in corrections.items():
        said = said.replace(wrong, right)
    return said
