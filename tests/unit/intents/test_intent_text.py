"""How text is folded for comparison."""

from __future__ import annotations

import unicodedata

import pytest

from hark.intents import words
from hark.intents.text import spoken_words


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
