"""Which of several options an answer means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

from hark.intents.text import words

_SIMILAR: Final = 0.75
"""The similarity, of at most 1, from which an answer counts as a misheard name."""

# The words for first to tenth, with forms that differ by more than their last letter, and those for one to ten.
_NUMBERS: Final[Mapping[str, tuple[str, str]]] = {
    "en": (
        "first second third fourth fifth sixth seventh eighth ninth tenth",
        "one two three four five six seven eight nine ten",
    ),
    "de": (
        "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte",
        "eins zwei drei vier fünf sechs sieben acht neun zehn",
    ),
    "es": (
        "primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo",
        "uno dos tres cuatro cinco seis siete ocho nueve diez",
    ),
    "fr": (
        "premier/première deuxième/second troisième quatrième cinquième sixième septième huitième neuvième dixième",
        "un deux trois quatre cinq six sept huit neuf dix",
    ),
    "it": (
        "primo secondo terzo quarto quinto sesto settimo ottavo nono decimo",
        "uno due tre quattro cinque sei sette otto nove dieci",
    ),
    "pt": (
        "primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono décimo",
        "um dois três quatro cinco seis sete oito nove dez",
    ),
}
_LAST: Final = {
    "en": "last",
    "de": "letzte",
    "es": "último",
    "fr": "dernier/dernière",
    "it": "ultimo",
    "pt": "último",
}


def choose(answer: str, options: Sequence[str], lang: str) -> int | None:
    """The place in `options` of the one that `answer` names, numbers, or nearly names; None when that is unclear."""
    said = words(answer, lang)
    folded = [words(option, lang) for option in options]
    for found in (_named(said, folded), _numbered(said, len(options), lang), _similar(said, folded)):
        if found is not None:
            return found
    return None


def _named(said: list[str], options: list[list[str]]) -> int | None:
    """The only option whose name was said, or of which only one part was said; the longest if one holds another."""
    named = [place for place, option in enumerate(options) if option and _within(option, said)]
    if named:
        longest = max(len(options[place]) for place in named)
        return _only([place for place in named if len(options[place]) == longest])
    return _only([place for place, option in enumerate(options) if said and _within(said, option)])


def _numbered(said: list[str], count: int, lang: str) -> int | None:
    """By place: "2", "number two", "the second one", "the last"."""
    primary = lang.partition("-")[0].lower()
    ordinals, cardinals = _NUMBERS.get(primary, ("", ""))
    found = set()
    has_ordinal = False
    for word in said:
        ordinal = _place(word, ordinals.split())
        if _place(word, _LAST.get(primary, "").split()) is not None:
            ordinal = count - 1
        if ordinal is not None:
            found.add(ordinal)
            has_ordinal = True
    for word in said:
        digits = word.rstrip(".stndrhºª°ea")
        if digits.isascii() and digits.isdigit():
            found.add(int(digits) - 1)
        elif not has_ordinal and word in cardinals.split():  # "the second one" is not the first
            found.add(cardinals.split().index(word))
    place = _only(sorted(found))
    return place if place is not None and 0 <= place < count else None


def _place(word: str, ordinals: list[str]) -> int | None:
    word = word.rpartition("'")[2]  # l'ultima
    for place, forms in enumerate(ordinals):
        for ordinal in forms.split("/"):
            # Endings express gender and case: erste, ersten, erster; primero, primera.
            stem = ordinal if len(ordinal) < 5 else ordinal[:-1]
            if word == ordinal or (word.startswith(stem) and len(word) <= len(ordinal) + 1):
                return place
    return None


def _similar(said: list[str], options: list[list[str]]) -> int | None:
    text = " ".join(said)
    scored = sorted(((SequenceMatcher(None, text, " ".join(option)).ratio(), place)
                     for place, option in enumerate(options)), reverse=True)  # fmt: skip
    if not scored or scored[0][0] < _SIMILAR or (len(scored) > 1 and scored[0][0] == scored[1][0]):
        return None
    return scored[0][1]


def _within(few: list[str], many: list[str]) -> bool:
    return any(many[start : start + len(few)] == few for start in range(len(many) - len(few) + 1))


def _only(found: Sequence[int]) -> int | None:
    return found[0] if len(found) == 1 else None
