"""Whether words can be a number: digits, or number words of a language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from hark.intents.text import without_accents
from hark.model.text_cache import cached_by_text

_PARTS: Final = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million "
    "billion first second third half quarter dozen point minus and a an oh",
    "de": "null ein eins eine einen einem einer zwei zwo drei vier funf sechs sieben acht neun zehn elf zwolf sech "
    "sieb zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig zig hundert tausend million millionen halb "
    "halbe halben viertel dutzend komma minus und anderthalb",
    "es": "cero un uno una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieci "
    "dieciseis diecisiete veinte veinti treinta cuarenta cincuenta sesenta setenta ochenta noventa cien ciento cientos "
    "doscientos quinientos mil millon millones medio media cuarto docena coma punto menos y",
    "fr": "zero un une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt "
    "vingts trente quarante cinquante soixante cent cents mille million millions demi demie quart douzaine virgule "
    "moins et",
    "it": "zero un uno una due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici "
    "sedici diciassette diciotto diciannove vent venti trent trenta quarant quaranta cinquant cinquanta sessant "
    "sessanta settant settanta ottant ottanta novant novanta cento mille mila milione milioni mezzo mezza quarto "
    "virgola meno e",
    "pt": "zero um uma dois duas tres quatro cinco seis sete oito nove dez onze doze treze quatorze catorze quinze "
    "dezasseis dezesseis dezassete dezessete dezoito dezanove dezenove vinte trinta quarenta cinquenta sessenta "
    "setenta oitenta noventa cem cento centos duzentos trezentos quinhentos mil milhao milhoes meio meia quarto "
    "duzia virgula ponto menos e",
    "nl": "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien "
    "zeventien achttien negentien twintig dertig veertig vijftig zestig zeventig tachtig negentig honderd duizend "
    "miljoen half halve kwart dozijn komma min en",
}
"""What number words are made of, joined or apart, without accents."""

_COUNTED: Final = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf dix onze douze",
    "it": "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici",
    "pt": "zero um dois três quatro cinco seis sete oito nove dez onze doze",
    "nl": "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf",
}
"""The numbers from 0 to 12, which people write out and recognisers write in digits."""

_JOINTS: Final = frozenset(
    [
        "and",
        "und",
        "y",
        "et",
        "e",
        "en",
        "a",
        "an",
        "coma",
        "komma",
        "virgule",
        "virgola",
        "virgula",
        "point",
        "punto",
        "ponto",
    ]
)
"""Parts that no number begins or ends with."""


@cache
def _parts(lang: str) -> frozenset[str]:
    return frozenset(_PARTS[lang].split())


@cache
def _other_forms(lang: str) -> Mapping[str, str]:
    pairs = [(word, str(number)) for number, word in enumerate(_COUNTED[lang].split())]
    return dict(pairs) | {digits: word for word, digits in pairs}


def can_be_number(words: Sequence[str], lang: str) -> bool:
    """Whether the words, folded, can be a number. In a language without a list, words without digits can."""
    if words[0] in _JOINTS or words[-1] in _JOINTS:
        return False
    primary = lang.partition("-")[0].lower()
    return all(word[0].isdigit() or word[-1].isdigit() or _is_numeral(word, primary) for word in words) and (
        words[0][0].isalnum() or words[0][-1].isalnum()
    )


def other_form(value: str, lang: str) -> str:
    """A value with its small numbers in digits instead of words, or the other way round: "radio four", "radio 4".

    Empty where it has none, and for a value that is a number and nothing else.
    """
    primary = lang.partition("-")[0].lower()
    words = value.split()
    if primary not in _COUNTED or len(words) < 2:
        return ""
    forms = _other_forms(primary)
    if forms.keys().isdisjoint(words):
        return ""
    return " ".join([forms.get(word, word) for word in words])


def without_unit(text: str) -> str:
    """A number without the sign of a unit behind it: `50%` is `50`, `20 °` is `20`."""
    end = len(text)
    while end and not text[end - 1].isalnum():
        end -= 1
    return text[:end] if end and text[end - 1].isdigit() else text


@cached_by_text(2048)
def _is_numeral(word: str, lang: str) -> bool:
    if any(map(str.isdigit, word)) or not any(map(str.isalnum, word)):
        return True
    if lang not in _PARTS:
        return True
    parts = _parts(lang)
    plain = without_accents(word).replace("-", "")
    # For each place, whether what is before it is made of number words.
    reached = [True, *[False] * len(plain)]
    for end in range(1, len(plain) + 1):
        reached[end] = any(reached[begin] and plain[begin:end] in parts for begin in range(max(0, end - 12), end))
    return reached[-1]
