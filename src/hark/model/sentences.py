"""Where one sentence ends and the next begins.

Better one sentence too few than one too many: two spoken without a pause sound well, half a one does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from unicodedata import category


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ALWAYS: Final = {
    "en": _words(
        "mr mrs ms dr prof st sr jr messrs mt ft gen col sgt capt lt cpl cmdr rev hon gov sen rep pres supt "
        "vs approx dept est ave blvd rd cf viz e.g i.e jan feb apr jun jul aug sept oct nov dec mon tue wed thu fri"
    ),
    "de": _words(
        "dr prof hr fr frl st str bzw ca evtl ggf ggfs inkl exkl max min mind sog vgl zzgl abzgl abs art bd hrsg jh "
        "jhd dipl ing mag geb gest verh tel z.b d.h u.a s.o s.u o.ä i.d.r v.a u.u i.a z.t jan feb apr aug sept okt "
        "nov dez"
    ),
    "es": _words(
        "sr sra sres sras srta dr dra dres d dña prof profa lic ing arq ud uds vd vds av avda pza aprox ej p.ej gral "
        "cnel cap sto sta mons rvdo ene feb abr jun jul ago sept oct nov dic"
    ),
    "fr": _words(
        "m mm mme mmes mlle mlles dr pr prof me mgr st ste av bd boul env ex p.ex éd cf tél apr janv févr avr juil "
        "sept oct nov déc"
    ),
    "it": _words(
        "sig sigg sig.ra sig.na sigra dott dott.ssa dr prof prof.ssa avv ing arch geom rag on sen mons p.es es ca cfr "
        "gen feb mar apr mag giu lug ago sett ott nov dic"
    ),
    "pt": _words(
        "sr sra srs sras srta dr dra drs prof profa eng arq d dom av pç aprox ex p.ex exmo exma ilmo ltda "
        "jan fev abr jun jul ago set out nov dez"
    ),
}
"""By language: titles and the like, after which the sentence goes on whatever follows."""

BEFORE_NUMBERS: Final = {
    "en": _words("no nos fig figs vol p pp ch sec art para ver"),
    "de": _words("nr nrn s fig abb bd kap ziff"),
    "es": _words("n núm núms nº pág págs fig vol cap art tel"),
    "fr": _words("n no nº n° p pp fig vol chap art tél"),
    "it": _words("n nn num pag pagg fig vol cap art tel"),
    "pt": _words("n núm n.º pág págs fig vol cap art tel"),
}
"""By language: words that are shortened in front of a number, and are words of their own elsewhere."""

ORDINALS: Final = frozenset({"de", "da", "nb", "nn", "no", "fi", "cs", "sk", "sl", "hr", "sr", "hu", "et", "lv"})
"""Languages in which a number with a full stop is the third, not the three."""


# ruff: noqa: RUF001 - marks of many scripts, which is what this is about


_CLOSING: Final = "\"'“”‘’»«›‹)\\]"
_UNMISTAKABLE: Final = "。！？؟۔।॥။។።፧։"
"""Marks that end a sentence and nothing else, unlike a full stop: of Chinese, Arabic, Hindi, Burmese and others."""
MARKS: Final = frozenset(f".!?…{_UNMISTAKABLE}\n")
"""What a sentence may end with; without one of these no sentence ends."""
_END: Final = re.compile(
    rf"[.!?…{_UNMISTAKABLE[3:]}]+[{_CLOSING}]*(?:[\u00a0\u202f ][»›])?(?=\s|$)"  # with what it closes, before a space
    r"|[。！？][」』”’）]*"  # in scripts that put no space between sentences
    r"|\n"
)
_OPENING: Final = re.compile(r"[\s\"'“”„‘’‚»«›‹(\[¿¡*•·–—-]{0,20}")
_ADDRESS: Final = re.compile(r"://|^www\.|/.*[=/]")
"""Of a web page: what ends a sentence may be in the middle of one."""
_LOOK_BACK: Final = 24
"""Characters: no abbreviation is longer."""
_ACRONYM: Final = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_BREATH: Final = re.compile(r"[,;:–—][\"'”’»)]*\s|\s[–—-]\s")


def sentences(text: str, lang: str, longest: int = 300) -> Iterator[str]:
    """The sentences of a text, one by one, with the spaces around them gone; what has nothing to say is left out.

    None is longer than `longest` characters: those are cut where one would draw breath.
    """
    language = lang.split("-")[0].lower()
    begin = 0
    for end in _END.finditer(text):
        if end.end() > begin and _ends(text, begin, end, language):
            yield from _cut(text[begin : end.end()].strip(), longest)
            begin = end.end()
    yield from _cut(text[begin:].strip(), longest)


def is_whole(text: str, lang: str) -> bool:
    """Whether a text that may go on is complete as it is: it ends like a sentence, and what follows cannot change that.

    In doubt it is not: "at 3." may become "at 3.15", "example.com/search?" a longer address.
    """
    whole = text.rstrip(" \t")
    *_, end = (None, *_END.finditer(whole))
    if end is None or end.end() != len(whole):
        return False
    mark = end.group()
    words = whole[max(0, end.start() - 2 * _LOOK_BACK) : end.start()].split()
    word = words[-1].strip("\"'“”„‘’«»([])¿¡*_`") if words else ""
    if _ADDRESS.search(word):
        return False
    if mark[0] != "." or mark.startswith(".."):
        return mark[0] not in "…\n."
    if len(word) < 2 or not word.replace("'", "").replace("’", "").replace("-", "").isalpha():
        return False
    return not _abbreviated(whole, 0, end.start(), "A", lang.split("-")[0].lower())


def _ends(text: str, begin: int, end: re.Match[str], language: str) -> bool:
    """Whether this really is the end of a sentence."""
    mark = end.group()
    if mark[0] in _UNMISTAKABLE:
        return True
    following = _OPENING.match(text, end.end())
    after = following.end() if following else end.end()
    follows = text[after : after + 1]
    if not follows:
        return True
    if mark == "\n":
        # Within a paragraph it is no more than a space.
        return not follows.islower() or "\n" in text[end.end() : after]
    if follows.islower():
        return "\n\n" in text[end.end() : after]
    if mark[0] != "." or mark.startswith(".."):
        return True
    return not _abbreviated(text, begin, end.start(), follows, language)


def _abbreviated(text: str, begin: int, stop: int, follows: str, language: str) -> bool:
    """Whether the full stop at `stop` belongs to the word before it."""
    words = text[max(begin, stop - _LOOK_BACK) : stop].split()
    if not words or text[stop - 1].isspace():
        return False
    word = words[-1].lstrip("\"'“”„‘’«»([¿¡").lower()
    if word.isdigit():
        enumerates = stop - begin < _LOOK_BACK and text[begin:stop].strip() == word
        return enumerates or (language in ORDINALS and len(word) <= 2)
    if word in ALWAYS.get(language, ()) or (language == "de" and word.endswith("str")):
        return True
    if word in BEFORE_NUMBERS.get(language, ()):
        return follows.isdigit() or len(word) == 1
    # An initial, as in J. S. Bach; or U.S., but the afternoon may be over at 5 p.m.
    return _ACRONYM.fullmatch(word) is not None and word not in ("a.m", "p.m")


def _cut(sentence: str, longest: int) -> Iterator[str]:
    begin, end = 0, len(sentence)
    while begin < end:
        at = end
        if end - begin > longest:
            at = _breath(sentence, begin, begin + longest)
        piece = sentence[begin:at].strip()
        if _says_something(piece):
            yield piece
        begin = at


def _breath(sentence: str, begin: int, end: int) -> int:
    """Where to cut between two places: as late as one would draw breath, else as late as a word ends."""
    earliest = begin + (end - begin) // 3
    at = 0
    for breath in _BREATH.finditer(sentence, earliest, end):
        at = breath.end()
    return at or sentence.rfind(" ", earliest, end) + 1 or end


def _says_something(text: str) -> bool:
    return any(letter.isalnum() or category(letter)[0] == "S" for letter in text)
