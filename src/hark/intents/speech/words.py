"""The words of a language: from its file, and from the number rules of Unicode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import msgspec

SPOKEN_LANGUAGES: Final = ("ca", "de", "en", "es", "fr", "it", "nl", "pl", "pt", "sv")
"""The languages with a file of words."""

_FOLDER: Final = Path(__file__).parent / "languages"
_SCALED: Final[Mapping[str, str]] = {
    "m": "kdcmµn", "g": "kmµ", "l": "hdcmµ", "s": "mµn", "W": "mkMGT", "Wh": "kMGT", "Hz": "kMGT", "B": "kKMGT",
    "o": "kKMGT", "b": "kMGT", "V": "mk", "A": "m", "Ah": "m", "Pa": "hkM", "cal": "k", "J": "kM",
}  # fmt: skip
"""The prefixes that units are used with; a language names units and prefixes, and what is said otherwise."""
_WITH_PREFIX: Final = ("b", "B", "o")
"""Units that are one only with a prefix: 4b is a door."""
_SPELLINGS: Final[Mapping[str, str]] = {"L": "l", "mL": "ml", "dL": "dl", "lbs": "lb", "um": "µm", "μm": "µm"}
"""Other ways to write a unit."""


class SpokenWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of words. Forms are singular and plural; in Slavic languages one, few, many and after decimals.

    A rule set is one of Unicode's for the language, such as "spellout-ordinal-feminine". A table [regions."mx us"] has
    what is otherwise in these countries.
    """

    point: str
    """The word between the whole number and its decimals."""
    mixed: str
    """How a number with a fraction is said, with {whole} and {part}."""
    minus: str
    dot: str
    """The word for a dot, in addresses and version numbers; then those for the other signs in addresses."""
    underscore: str
    hyphen: str
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
    conjunction: str
    months: tuple[str, ...]
    date: str
    """How a date is said, with {day}, {month} and {year}."""
    day_month: str
    """How a date without its year is said."""
    date_order: str
    """Of figures with slashes, dots or dashes: dmy or mdy."""
    rules: str
    """The rules of Unicode that spell its numbers; some countries count in other words."""
    mixed_half: str = ""
    """How a number and one half is said, with {whole}, where that is one word."""
    zero_is_one: bool = False
    """Whether the singular follows a zero."""
    month_first: bool = False
    """Whether dates are also written with the name of the month before the day."""
    weekdays: dict[str, str] = {}
    """Short names of days, as they are written before a date."""
    through: tuple[str, ...] = ()
    """What joins two days besides a dash."""
    not_before_date: tuple[str, ...] = ()
    """Words that are written before a date and not said."""
    day: str = ""
    """The rule set of the day, if it is not a plain number."""
    days: tuple[str, ...] = ()
    """The words for the 31 days, where no rule set has them."""
    first_day: str = ""
    """The word for the first of a month, if it is another one."""
    years_after: tuple[str, ...] = ()
    """Words before a year, where years are read in another way than numbers."""
    years_to: str = ""
    """The last number of four figures that is read as a year wherever it stands without a separator, from 1100 on."""
    decade: str = ""
    """The ending of a decade in figures, such as 1990s."""
    decades: dict[str, str] = {}
    """How it changes the ending of a number in words, where it does."""
    short_decades_after: tuple[str, ...] = ()
    """Words after which 90s is a decade, where the ending is that of a unit as well."""
    time: str = ""
    """How a time is said, with {h} and {m}; empty: it stays in figures."""
    full_hour: str = ""
    late_full_hour: str = ""
    """The same after twelve, if it is another one."""
    one_hour: str = ""
    """The singular of the last word of `full_hour`."""
    few_minutes: str = "{m}"
    """How minutes under ten are said."""
    halves_of_day: bool = False
    """Whether times are written with am and pm."""
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
    women: tuple[str, ...] = ()
    """Names of queens that do not end as feminine nouns do."""
    of_amount: str = ""
    """Between "million", or a fraction, and what there is of it."""
    bare_amounts: tuple[str, ...] = ()
    """Words for thousands and millions that it does not follow."""
    elision: bool = False
    """Whether "de" loses its vowel before another one."""
    compounds: bool = False
    """Whether a number joined to a word by a hyphen is one word with it: 80-talet, 20-jährig."""
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
    ordinal_endings: dict[str, dict[str, str]] = {}
    """Where no rule set has ordinals: how the endings of `days` change to those of a rule set of this name."""
    centuries_after: dict[str, str] = {}
    """The rule set of a Roman numeral before a word of `roman_before`, by the word before it; "*" is for all others."""
    degree_ordinals_after: dict[str, str] = {}
    """The rule set of a number with a degree sign, by the article before it, where such a sign is also one of
    ordinals."""
    respelled: dict[str, str] = {}
    """Corrections of the number rules of Unicode, and `respelled_feminine` those of feminine numbers."""
    respelled_feminine: dict[str, str] = {}
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
    closing: tuple[str, ...] = ()
    """Abbreviations that a new sentence may follow."""
    prefixes: dict[str, str] = {}
    """The words for the prefixes of units."""
    units: dict[str, tuple[str, ...]] = {}
    """Forms of each unit; the last one may be a gender: feminine or neuter."""
    currencies: dict[str, tuple[str, ...]] = {}
    """Forms of the currency, then of its hundredth part; the last one may be a gender."""
    currency: str = "{whole} {part}"
    """How an amount with a hundredth part is said."""
    slavic: bool = False


@lru_cache(maxsize=1)
def signs_in_addresses() -> Mapping[str, frozenset[str]]:
    """What is said in any language for the signs of an address: dot, at, underscore and hyphen."""
    languages = [spoken_words(code) for code in SPOKEN_LANGUAGES]
    return {
        ".": frozenset(words.dot for words in languages),
        "@": frozenset(words.symbols["@"] for words in languages),
        "_": frozenset(words.underscore for words in languages),
        "-": frozenset(words.hyphen for words in languages),
    }


GENDERS: Final = ("masculine", "feminine", "neuter", "reale")


def forms_and_gender(forms: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The forms of a noun, and its gender if its file says it."""
    return (forms[:-1], forms[-1]) if forms[-1] in GENDERS else (forms, "")


@lru_cache(maxsize=32)
def spoken_words(lang: str) -> SpokenWords:
    """The words of one of `SPOKEN_LANGUAGES`, as its country has them; raises `ValueError` for a malformed file."""
    import tomllib  # slow to import, and only needed once for each language

    code, _, rest = lang.lower().partition("-")
    file = _FOLDER / f"{code}.toml"
    try:
        found = tomllib.loads(file.read_text("utf-8"))
        for countries, table in found.pop("regions", {}).items():
            if rest.rpartition("-")[2] in countries.split():
                found = _merged(found, table)
        words = msgspec.convert({"rules": code, **found}, SpokenWords)
        return msgspec.structs.replace(words, units=dict(_all_units(words)))
    except (ValueError, msgspec.ValidationError) as error:
        raise ValueError(f"{file}: {error}") from None


def _merged(words: dict[str, Any], region: Mapping[str, Any]) -> dict[str, Any]:
    tables = {name: {**words.get(name, {}), **table} for name, table in region.items() if isinstance(table, dict)}
    return {**words, **region, **tables}


def _all_units(words: SpokenWords) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The units of a language, with prefixes and in every spelling; what its file says counts most."""
    said = dict(words.units)
    for unit, signs in _SCALED.items():
        for sign in signs if unit in words.units else "":
            if prefix := words.prefixes.get(sign.lower() if sign == "K" else sign):
                said.setdefault(sign + unit, _prefixed(prefix, words.units[unit]))
    yield from ((unit, forms) for unit, forms in said.items() if unit not in _WITH_PREFIX)
    yield from ((other, said[unit]) for other, unit in _SPELLINGS.items() if unit in said and other not in said)


def _prefixed(prefix: str, forms: tuple[str, ...]) -> tuple[str, ...]:
    names, _ = forms_and_gender(forms)
    return (*(prefix + name[:1].lower() + name[1:] for name in names), *forms[len(names) :])


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
    return _readable(words)


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


def _readable(words: str) -> str:
    return words.replace("\u00ad", "").replace("\u200b", "")
