"""Numbers and ordinals, in words or figures.

The text2num library knows most number words; what it lacks, the language's table corrects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

import text_to_num  # type: ignore[import-untyped]

from hark.builtin.values.language import LanguageTables, Ordinals, either, region_of
from hark.intents.text import straight, without_accents
from hark.model.text_cache import cached_by_text

# Signs between words go, and so do the marks that the readers make themselves (`#`, `@`, `*`). Those inside of figures
# ("19:30", "2,5", "24.12.") stay.
_APART: Final = re.compile(r"['`´]|(?<=[^\W\d])[-‐‑](?=[^\W\d])|[,;](?=\s|$)|[!?¡¿\"“”„«»()#@*]|\.{2,}")  # noqa: RUF001
_SPLIT: Final = re.compile(r"(?<=\d)(?=[^\W\d_ºª])|(?<=[^\W\d_])(?=\d)")


def folded(text: str) -> str:
    """`text` in lower case without punctuation; a full stop at the end stays only behind a figure. Accents stay."""
    text = straight(text).replace("\u2212", "-").lower()
    text = " ".join(_APART.sub(" ", text).split())
    return text if text[-2:-1].isdigit() else text.rstrip(". ")


def spaced(text: str) -> str:
    """`text` with figures and letters apart: "7pm" becomes "7 pm"."""
    return _SPLIT.sub(" ", text)


@cached_by_text(4096)
def key(phrase: str) -> str:
    """The form in which whole phrases are looked up."""
    return without_accents(folded(phrase))


_WORDS_IN_A_NUMBER: Final = 10
_LONGEST_NUMBER: Final = 200
"""Characters of a number in words."""
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


def figures(text: str, language: LanguageTables, ordinals: Ordinals = "none") -> str:
    """`text` folded, without accents, its number words as figures; the wanted ordinals are followed by `#`.

    Words that multiply figures before them get a `*`: "3 million" is "3 *1000000".
    """
    text = _GROUPED.sub(_closed, folded(text))
    for pattern, replacement in _corrections(language):
        text = pattern.sub(replacement, text)
    if ordinals != "none":
        text = _sign(language).sub("# ", text)
    return without_accents(" ".join(_converted(spaced(text.rstrip(".")).split(), language.code, ordinals == "words")))


def literal(text: str, language: LanguageTables, tag: str) -> str:
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
    alone = number_of(words[start], code, ordinals) if len(words[start]) <= _LONGEST_NUMBER else None
    if alone is None:
        return best  # a number's first word is a number
    best = start + 1, alone
    if alone == "0":
        return best  # "nought three" is no three
    for end in range(start + 2, min(start + _WORDS_IN_A_NUMBER, len(words)) + 1):
        if not words[end - 1].isalpha():
            break
        number = " ".join(words[start:end])
        if len(number) > _LONGEST_NUMBER:
            break
        found = number_of(number, code, ordinals)
        if found is not None:
            best = end, found
    return best


@lru_cache(maxsize=8192)
def number_of(words: str, code: str, ordinals: bool) -> str | None:
    """The figures for these words if they are one number."""
    try:
        number = str(text_to_num.text2num(words, code))
    except ValueError:
        number = ""
    if number:
        return number if len(number) <= _DIGITS else None
    # The library does not parse ordinals as numbers, but it can write them as figures. 0.0: even the small ones.
    found = _ORDINAL.fullmatch(text_to_num.alpha2digit(words, code, 0.0)) if ordinals else None
    return f"{found[1]}#" if found else None


@cache
def _corrections(language: LanguageTables) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(pattern), said) for pattern, said in language.numbers.corrections.items()]


@cache
def _sign(language: LanguageTables) -> re.Pattern[str]:
    return re.compile(rf"(?<=\d)(?:{language.numbers.ordinal_sign})")


_MOST: Final = 10**15
_THOUSAND: Final = 1000


def number(text: str, language: LanguageTables, tag: str) -> int | float | None:
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


def ordinal(text: str, language: LanguageTables) -> int | None:
    """The place in a row that `text` names, or None."""
    found = _ordinal(language).fullmatch(key(text))
    if found is not None:
        return language.numbers.ordinals[found[1]]
    found = _ordinal_figures(language).fullmatch(figures(text, language, "words"))
    return int(found[1]) if found else None


def part_of(said: str, language: LanguageTables) -> float:
    """What "and a half" adds to one."""
    return next(size for pattern, size in language.numbers.halves.items() if re.fullmatch(pattern, said))


def _whole(size: float) -> int | float:
    return int(size) if size == int(size) else size


@cache
def _amounts(language: LanguageTables) -> Mapping[str, float]:
    return {key(phrase): size for phrase, size in language.numbers.amounts.items()}


@cache
def _pattern(language: LanguageTables) -> re.Pattern[str]:
    numbers = language.numbers
    return re.compile(
        rf"(?P<minus>(?:{numbers.minus}) |-)?(?P<whole>\d+)"
        rf"(?:\.(?P<written>\d+)| (?:{numbers.point}) (?P<said>\d+(?: \d+)*)| (?P<half>{either(numbers.halves)}))?"
        r"(?: \*(?P<times>\d+))?"
    )


@cache
def _ordinal(language: LanguageTables) -> re.Pattern[str]:
    known = either(dict(language.numbers.ordinals)) or "(?!)"
    return re.compile(rf"(?:(?:{language.numbers.articles}) )?({known})")


@cache
def _ordinal_figures(language: LanguageTables) -> re.Pattern[str]:
    return re.compile(rf"(?:(?:{language.numbers.articles}) )?(\d{{1,9}})#")
