"""How text is folded for comparison."""

from __future__ import annotations

import unicodedata

import pytest

from hark.intents import words
from hark.intents.text import spoken_words, straight, straight_quotes, without_accents


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("Turn ON: the (light)!", "en-US", ["turn", "on", "the", "light"]),
        ("  what \t time\nis it?! ", "en", ["what", "time", "is", "it"]),
        ("What's up", "en-US", ["what", "is", "up"]),
        ("what\u2019s up", "EN-us", ["what", "is", "up"]),
        ("what's up", "de-DE", ["what's", "up"]),
        ("what's up", "", ["what's", "up"]),
        ("John's can't", "en-US", ["john's", "cannot"]),
        ("¿Qué hora es?", "es-ES", ["qué", "hora", "es"]),
        ("«l'heure»", "fr-FR", ["l'heure"]),
        ("hello \u2013 world ...", "en", ["hello", "world"]),
        ("set it to -5 or 20%", "en", ["set", "it", "to", "-5", "or", "20%"]),
        ("STRASSE straße", "de", ["strasse", "strasse"]),
        ("", "en", []),
        ("?!", "en", []),
    ],
)
def test_words_are_folded(text: str, lang: str, expected: list[str]) -> None:
    assert words(text, lang) == expected


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert words(unicodedata.normalize("NFD", "café")) == words("café")


def test_folding_twice_changes_nothing() -> None:
    once = words("Well -- what's the 'Time', in São Paulo?", "en")
    assert words(" ".join(once), "en") == once


def test_spoken_words_keep_their_letters() -> None:
    assert spoken_words("Fahr zur Straße!", "de") == ["fahr", "zur", "straße"]


def test_apostrophes_have_one_form() -> None:
    assert straight("l\u2019heure \u02bc \uff07") == "l'heure ' '"


def test_typographic_quotes_become_those_of_a_keyboard() -> None:
    assert straight_quotes("\u201eso\u201c, \u2018so\u2019\u2026") == "\"so\", 'so'..."
    assert straight_quotes("as it is") == "as it is"


def test_accents_come_off_and_letters_stay() -> None:
    assert without_accents("S\u00e3o Stra\u00dfe") == "Sao Strasse"
