"""Abbreviations, addresses and Roman numerals in the words of one language."""

from __future__ import annotations

import re
from typing import Final

from hark.intents.speech.numbers import SpokenNumbers
from hark.intents.speech.rules import SpokenRule, any_of, rules_of, says
from hark.intents.speech.words import SpokenWords

_ROMAN: Final = {"I": 1, "V": 5, "X": 10, "L": 50}
_DOMAINS: Final = "com|org|net|io|eu|de|es|fr|it|nl|pl|pt|se|cat|uk|gov|edu|info|dev|at|ch|be|br|mx"
_DOTTED: Final = r"\w\.\w"


def name_parts(words: SpokenWords) -> dict[str, str]:
    """The parts of patterns that are of names."""
    return {
        "short": any_of((*words.abbreviations, *words.before_names)),
        "numbered": any_of(words.numbered),
        "roman_before": any_of(words.roman_before),
        "ordinals": any_of(words.ordinals),
        "roman_name": words.roman_name or "(?!)",
    }


class SpokenNames:
    """How abbreviations, addresses and Roman numerals are said."""

    def __init__(self, numbers: SpokenNumbers, parts: dict[str, str]) -> None:
        words = self._words = numbers.words
        self._numbers = numbers
        self._counted = {*words.magnitudes, *(f"{unit}." for unit in words.units)}
        self._in_addresses = {".": words.dot, "@": words.symbols.get("@", "@"), "_": words.underscore,
                              "-": words.hyphen}  # fmt: skip
        self._roman_after = frozenset(map(str.lower, words.roman_after))
        self.rules: tuple[SpokenRule, ...] = rules_of(self, parts)

    @says(r"(?<![\w#])(<<numbered>>) ?(?=\d)")
    def _number_of(self, found: re.Match[str]) -> str:
        return f"{self._words.numbered[found[1]]} "

    @says(r"(?<!\w)(?:<<short>>)(?!\w)")
    def _full(self, found: re.Match[str]) -> str:
        """What an abbreviation stands for, with the full stop that it shares with its sentence."""
        start = found.start()
        before, rest = found.string[max(0, start - 80) : start], found.string[found.end() :]
        if found[0] in self._counted and before.rstrip()[-1:].isdigit():
            return found[0]
        ends = not rest.strip() or (found[0] in self._words.closing and rest.lstrip()[:1].isupper())
        stop = "." if found[0].endswith(".") and ends else ""
        names = self._words.before_names
        if found[0] in names and rest[1:2].isupper() and not _is_name(before):
            return names[found[0]]
        return self._words.abbreviations.get(found[0], found[0].removesuffix(stop)) + stop

    @says(r"(?<![\w.@/])(?:[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,10}"
          rf"|(?:[\w-]{{1,63}}\.){{1,4}}(?:{_DOMAINS})(?![\w-]|\.\w))", hint=_DOTTED)  # fmt: skip
    def _address(self, found: re.Match[str]) -> str:
        return "".join(f" {self._in_addresses[one]} " if one in self._in_addresses else one for one in found[0])

    @says(
        r"(?:(?<!\w)(?P<word>\w{1,12}) )?(?<!\w)(?P<roman>[IVX]{1,6})(?= (?:<<roman_before>>)\b)", only="roman_before"
    )
    def _century(self, found: re.Match[str]) -> str:
        word, rule_sets = found["word"] or "", self._words.centuries_after
        rule_set = rule_sets.get(word.lower(), rule_sets.get("*", ""))
        said = self._numbers.ordinal(_roman_value(found["roman"]) or 1, rule_set) or found["roman"]
        return f"{word} {said}" if word else said

    @says(r"(?<![\w.,:/-])(?P<roman>[IVXL]{2,6}|I(?=er)|[VX](?=(?:<<ordinals>>) (?:<<roman_before>>)\b))"
          r"(?P<ending><<ordinals>>)(?!\w)", hint="[IVX]", only="ordinals")  # fmt: skip
    def _rank(self, found: re.Match[str]) -> str:
        number = _roman_value(found["roman"])
        return (self._numbers.ordinal(number, self._words.ordinals[found["ending"]]) if number else None) or found[0]

    @says(r"(?<!\w)(?P<word>[^\W\d_]{2,30}) (?P<roman>[IVX]{1,6})(?P<dot>\.?)(?![\w'\u2019-])", hint="[IVX]",
          only="roman_name")  # fmt: skip
    def _numeral(self, found: re.Match[str]) -> str:
        """A Roman numeral: of a chapter, a king or a century."""
        words = self._words
        word, roman = found["word"], found["roman"]
        number = _roman_value(roman)
        counted = word.lower() in self._roman_after
        if not number or (len(roman) == 1 and not self._is_single(found, counted)):
            return found[0]
        dot = found["dot"] if _ends(found) or not words.ordinals_after else ""
        if counted:
            return f"{word} {self._numbers.said(str(number))}{dot}"
        if not word[:1].isupper() or word.isupper():
            return found[0]
        cardinal = self._numbers.said(str(number))
        is_woman = (words.genders.get("a") == "feminine" and word.endswith("a")) or word in words.women
        rule_set = "spellout-ordinal-feminine" if is_woman else ""
        ordinal = self._numbers.ordinal(number, rule_set) if number <= words.roman_ordinals_to else cardinal
        return f"{word} {words.roman_name.format(ordinal=ordinal or cardinal, number=cardinal)}{dot}"

    def _is_single(self, found: re.Match[str], counted: bool) -> bool:
        """Whether a single letter is a numeral: after a word for chapters, or after a name that begins no sentence, at
        the end or before "and"; "X" after a name seldom is one."""
        ends = _ends(found)
        if counted:
            return found["roman"] != "I" or ends
        joined = found.string.startswith(f" {self._words.conjunction} ", found.end())
        before = found.string[max(0, found.start() - 40) : found.start()]
        return found["roman"] != "X" and (joined or (ends and _is_within(before)))


def _is_name(before: str) -> bool:
    """Whether a text ends with a word that begins with a capital although it does not begin a sentence, or a figure."""
    words = before.split()
    if not words or words[-1].endswith(","):
        return False
    return len(words) > 1 and (words[-1][0].isupper() or words[-1][0].isdigit()) and words[-2][-1:] not in ".!?"


def _is_within(before: str) -> bool:
    """Whether a sentence has begun at the end of this text; a title such as "D." does not end one."""
    last = before.split()[-1:]
    return bool(last) and (last[0][-1] not in ".!?:" or len(last[0]) < 3)


def _ends(found: re.Match[str]) -> bool:
    return re.match(r"\s*(?:$|[.,;:!?)])", found.string[found.end() :]) is not None


def _roman_value(text: str) -> int:
    """The value of a Roman numeral; 0 for letters that are none."""
    if re.fullmatch(r"(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})", text) is None:
        return 0
    values = [_ROMAN[letter] for letter in text]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))
