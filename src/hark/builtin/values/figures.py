"""Number words in a text, written as figures. The words are the library's business; what it lacks is mended here."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

from hark.builtin.values.language import Language, Ordinals, region_of
from hark.builtin.values.support import library
from hark.builtin.values.text import folded, plain, spaced

_WORDS_IN_A_NUMBER: Final = 10
_DIGITS: Final = 15
_MAGNITUDES: Final = {"100", "1000", "1000000", "1000000000"}
_ORDINAL: Final = re.compile(r"(\d{1,9})[^\d\s,:/-]{1,4}")
_FIGURES: Final = re.compile(r"\d[\d.,]*\d")
_GROUPED: Final = re.compile(r"(?<![\d.,:] )(?<![\d.,:])[1-9]\d{0,2}(?: \d{3})+(?![\d:.,]*\d| \d)")
_WRITTEN: Final = {
    mark: (re.compile(rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+(?:\{mark}\d+)?"), re.compile(rf"\d+\{mark}\d+"))
    for mark, group in ((".", ","), (",", r"\."))
}
"""By decimal sign: thousands in groups, and a decimal fraction."""


def figures(text: str, language: Language, ordinals: Ordinals = "none") -> str:
    """`text` folded, without accents, its number words as figures; the ordinals asked for get a `#` behind them.

    Words that multiply figures before them get a `*`: "3 million" is "3 *1000000".
    """
    text = _GROUPED.sub(_closed, folded(text))
    for pattern, replacement in _mends(language):
        text = pattern.sub(replacement, text)
    if ordinals != "none":
        text = _sign(language).sub("# ", text)
    return plain(" ".join(_converted(spaced(text.rstrip(".")).split(), language.code, ordinals == "words")))


def literal(text: str, language: Language, tag: str) -> str:
    """`text` with its figures written as Python does: "1.500,5" is "1500.5" where a comma is the decimal sign."""
    points = language.numbers.points
    mark = "." if "*" in points or region_of(tag) in points else ","
    return _FIGURES.sub(lambda found: _literal(found[0], mark), text)


def _literal(text: str, mark: str) -> str:
    grouped, decimal = _WRITTEN[mark]
    if grouped.fullmatch(text):
        return text.replace("," if mark == "." else ".", "").replace(mark, ".")
    return text.replace(mark, ".") if decimal.fullmatch(text) else text


def _closed(found: re.Match[str]) -> str:
    return found[0].replace(" ", "")


def _converted(words: list[str], code: str, ordinals: bool) -> list[str]:
    out: list[str] = []
    start = 0
    while start < len(words):
        end, number = _longest(words, start, code, ordinals)
        if number in _MAGNITUDES and words[start].isalpha() and start and words[start - 1][-1].isdigit():
            number = f"*{number}"  # "3 million"
        out.append(number)
        start = end
    return out


def _longest(words: list[str], start: int, code: str, ordinals: bool) -> tuple[int, str]:
    """Where the longest number that begins at `start` ends, and the number; else the word itself."""
    best = start + 1, words[start]
    if not words[start].isalpha():
        return best
    alone = _number(words[start], code, ordinals)
    if alone is None:
        return best  # a number's first word is a number
    best = start + 1, alone
    if alone == "0":
        return best  # "nought three" is no three
    for end in range(start + 2, min(start + _WORDS_IN_A_NUMBER, len(words)) + 1):
        if not words[end - 1].isalpha():
            break
        found = _number(" ".join(words[start:end]), code, ordinals)
        if found is not None:
            best = end, found
    return best


@lru_cache(maxsize=8192)
def _number(words: str, code: str, ordinals: bool) -> str | None:
    """The figures for these words if they are one number."""
    parser = library()
    if parser is None:
        return None
    try:
        number = str(parser.text2num(words, code))
    except ValueError:
        number = ""
    if number:
        return number if len(number) <= _DIGITS else None
    # Ordinals are not numbers to the library, but it can write them. 0.0: even the small ones.
    found = _ORDINAL.fullmatch(parser.alpha2digit(words, code, 0.0)) if ordinals else None
    return f"{found[1]}#" if found else None


@cache
def _mends(language: Language) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), said) for pattern, said in language.numbers.mends.items()]


@cache
def _sign(language: Language) -> re.Pattern[str]:
    return re.compile(rf"(?<=\d)(?:{language.numbers.ordinal_sign})")
