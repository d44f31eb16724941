"""The words of a language: from its file, and from the number rules of Unicode."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import msgspec

SPOKEN_LANGUAGES: Final = ("ca", "de", "en", "es", "fr", "it", "nl", "pl", "pt", "sv")
"""The languages with a file of words."""

_FOLDER: Final = Path(__file__).parent / "languages"


class SpokenWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of words. Forms are singular and plural; in Slavic languages one, few, many and after decimals.

    A rule set is one of Unicode's for the language, such as "spellout-ordinal-feminine".
    """

    point: str
    """The word between the whole number and its decimals."""
    mixed: str
    """How a number with a fraction is said, with {whole} and {part}."""
    minus: str
    dot: str
    """The word for a dot, in addresses and version numbers."""
    group: str
    """What separates thousands in figures, besides a narrow space."""
    decimal: str
    range: str
    """Between two numbers joined by a dash."""
    ratio: str
    """Between the two numbers of a score or a ratio."""
    per: str
    """For the slash of a price or rate: 3 €/kg."""
    out_of: str
    """For that of a result: 85/100."""
    months: tuple[str, ...]
    date: str
    """How a date is said, with {day}, {month} and {year}."""
    day_month: str
    """How a date without its year is said."""
    date_order: str
    """Of figures with slashes, dots or dashes: dmy or mdy."""
    month_first: bool = False
    """Whether dates are also written with the name of the month before the day."""
    weekdays: dict[str, str] = {}
    """Short names of days, as they are written before a date."""
    day: str = ""
    """The rule set of the day, if it is not a plain number."""
    days: tuple[str, ...] = ()
    """The words for the 31 days, where no rule set has them."""
    first_day: str = ""
    """The word for the first of a month, if it is another one."""
    years_after: tuple[str, ...] = ()
    """Words before a year, where years are read in another way than numbers."""
    four_figures: bool = False
    """Whether any number from 1100 to 1999 without a separator is read as a year is."""
    decade: str = ""
    """The ending of a decade in figures, such as 1990s."""
    short_decades_after: tuple[str, ...] = ()
    """Words after which 90s is a decade, where the ending is that of a unit as well."""
    time: str = ""
    """How a time is said, with {h} and {m}; empty: it stays in figures."""
    full_hour: str = ""
    late_full_hour: str = ""
    """The same after twelve, if it is another one."""
    one_hour: str = ""
    """The singular of the last word of `full_hour`."""
    midnight: str = ""
    hour_gender: str = ""
    hours: tuple[str, ...] = ()
    """The words for the 24 hours, where they are not numbers; `hours_inflected` after `hours_inflected_after`."""
    hours_inflected: tuple[str, ...] = ()
    hours_inflected_after: tuple[str, ...] = ()
    hour_signs: tuple[str, ...] = ()
    """What is written between hours and minutes besides a colon, as in 17h30."""
    time_before: tuple[str, ...] = ()
    """Words before a time, by which 17.30 is one."""
    time_after: tuple[str, ...] = ()
    """The same after it; they are said within it."""
    phone_pairs: bool = False
    """Whether pairs of figures in a phone number are read as numbers."""
    phone_after: tuple[str, ...] = ()
    """Words after which a number is dialled, and read digit by digit."""
    roman_after: tuple[str, ...] = ()
    """Words after which Roman numerals are plain numbers: chapter, war."""
    roman_before: tuple[str, ...] = ()
    """Words before which Roman numerals are ordinals: century."""
    roman_name: str = ""
    """How the numeral after a name is said, with {ordinal} or {number}; empty: it stays as it is."""
    roman_ordinals_to: int = 100
    """Above it, {ordinal} is a plain number."""
    of_amount: str = ""
    """Between "million" and what there are millions of."""
    elision: bool = False
    """Whether "de" loses its vowel before another one."""
    not_nouns: tuple[str, ...] = ()
    """Words that a number before them is not about."""
    adjectives: tuple[str, ...] = ()
    """Endings of adjectives by which, in small letters, a number before them has the gender of `genders`."""
    genders: dict[str, str] = {}
    """The gender of nouns after a number, by their endings; the longest counts, "*" is for all others."""
    ordinals: dict[str, str] = {}
    """The rule set for each ending of a number in figures."""
    ordinals_after: dict[str, str] = {}
    """The rule set of a number with a dot, by the word before it."""
    symbols: dict[str, str] = {}
    """Symbols between words."""
    signs: dict[str, str] = {}
    """Symbols before figures."""
    operators: dict[str, str] = {}
    """Symbols between figures."""
    magnitudes: dict[str, tuple[str, ...]] = {}
    """Forms of thousands and millions, as those of units."""
    fractions: dict[str, str] = {}
    numbered: dict[str, str] = {}
    """Abbreviations that only mean something before figures."""
    before_names: dict[str, str] = {}
    """Abbreviations that mean something else before a name."""
    abbreviations: dict[str, str] = {}
    units: dict[str, tuple[str, ...]] = {}
    """Forms of each unit; the last one may be a gender: feminine or neuter."""
    currencies: dict[str, tuple[str, ...]] = {}
    """Forms of the currency, then of its hundredth part; the last one may be a gender."""
    currency: str = "{whole} {part}"
    """How an amount with a hundredth part is said."""
    slavic: bool = False


@lru_cache(maxsize=len(SPOKEN_LANGUAGES))
def spoken_words(code: str) -> SpokenWords:
    """The words of one of `SPOKEN_LANGUAGES`; raises `ValueError` when its file is malformed."""
    import tomllib  # slow to import, and only needed once for each language

    file = _FOLDER / f"{code}.toml"
    try:
        return msgspec.convert(tomllib.loads(file.read_text("utf-8")), SpokenWords)
    except (ValueError, msgspec.ValidationError) as error:
        raise ValueError(f"{file}: {error}") from None


def can_spell_numbers() -> bool:
    """Whether the extra `hark-voice[speakable]` is installed."""
    return find_spec("unicode_rbnf") is not None


@lru_cache(maxsize=2 * len(SPOKEN_LANGUAGES))
def _engine(rules: str) -> Any:
    if not can_spell_numbers():
        return None
    from unicode_rbnf import RbnfEngine

    return RbnfEngine.for_language(rules)


@lru_cache(maxsize=4096)
def spelled(number: int, rules: str, gender: str = "") -> str:
    """A whole number in words, by the rules of a language such as "de" or "pt_PT"; in figures without the extra."""
    engine = _engine(rules)
    if engine is None:
        return str(number)
    sets: dict[str, str] = engine.format_number(number).text_by_ruleset
    wanted = f"spellout-cardinal-{gender}" if gender else "spellout-numbering"
    words = sets.get(wanted) or sets.get("spellout-cardinal") or sets.get("spellout-numbering") or str(number)
    return _catalan(_readable(words), gender) if rules == "ca" else _readable(words)


@lru_cache(maxsize=1024)
def spelled_by(number: int, rules: str, rule_set: str) -> str | None:
    """A number by a rule set, such as an ordinal or a year; None where there is none."""
    engine = _engine(rules)
    if engine is None:
        return None
    from unicode_rbnf import FormatPurpose

    purpose = FormatPurpose.YEAR if rule_set.endswith("year") else FormatPurpose.ORDINAL
    try:
        sets: dict[str, str] = engine.format_number(number, purpose).text_by_ruleset
    except ValueError:  # the language has no rules of this kind
        return None
    found = sets.get(rule_set)
    return None if found is None else _readable(found)


def _catalan(words: str, gender: str) -> str:
    """Catalan hundreds agree in number and gender, which Unicode's rules leave out."""
    words = words.replace("-cent ", "-cents ")
    return words.replace("dos-cents", "dues-cents").replace("-cents", "-centes") if gender == "feminine" else words


def _readable(words: str) -> str:
    return words.replace("\u00ad", "").replace("\u200b", "")
