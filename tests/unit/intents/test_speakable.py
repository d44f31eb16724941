"""Text as it is to be spoken."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hark.intents.speech import SPOKEN_LANGUAGES, plain_text, speakable
from hark.intents.speech.words import spoken_words

GOLDEN = [
    ("en-US", "It is 17:30 and -3 °C.", "It is seventeen thirty and minus three degrees Celsius."),
    ("en-US", "3/4/2026 at 9:05", "March fourth, twenty twenty-six at nine oh five"),
    ("en-GB", "3/4/2026", "April third, twenty twenty-six"),
    ("en-US", "$12.50, £1 & 0.5%", "twelve dollars and fifty cents, one pound and zero point five percent"),
    ("en-US", "the 22nd, Dr. Lee, e.g. 5-10 km", "the twenty-second, Doctor Lee, for example five to ten kilometers"),
    ("en-US", "1,234.5 or 007", "one thousand two hundred thirty-four point five or zero zero seven"),
    ("de-DE", "Es ist 17:30, 1 h und 2,50 €", "Es ist siebzehn Uhr dreißig, eine Stunde und zwei Euro fünfzig"),
    ("de-DE", "am 18.11.2026 z. B. 1.234 km", "am achtzehnten November zweitausendsechsundzwanzig zum Beispiel "
     "eintausendzweihundertvierunddreißig Kilometer"),
    ("es-ES", "a las 13:20 el 1.5.2026", "a las trece y veinte el uno de mayo de dos mil veintiséis"),
    ("es-ES", "21 km y 1 h", "veintiún kilómetros y una hora"),
    ("fr-FR", "le 1/5/2026 à 17:30, 2,50 €", "le premier mai deux mille vingt-six à dix-sept heures trente, deux euros "
     "et cinquante centimes"),
    ("fr-BE", "70 %", "septante pour cent"),
    ("it-IT", "2 kg, 1 € e il 3º", "due chilogrammi, un euro e il terzo"),
    ("pt-PT", "17 km", "dezassete quilómetros"),
    ("pt-BR", "17 km", "dezessete quilómetros"),
    ("nl-NL", "3,5 km om 17:00", "drie komma vijf kilometer om zeventien uur"),
    ("pl-PL", "1 km, 2 km, 5 km, 22 km", "jeden kilometr, dwa kilometry, pięć kilometrów, dwadzieścia dwa kilometry"),
    ("pl-PL", "18.11.2026", "osiemnastego listopada dwa tysiące dwadzieścia sześć"),
    ("sv-SE", "21 km/h och 2:a", "tjugoen kilometer i timmen och andra"),
    ("ca-ES", "2,50 € i 21 h", "dos euros amb cinquanta cèntims i vint-i-una hores"),
]  # fmt: skip


@pytest.mark.parametrize(("lang", "written", "said"), GOLDEN)
def test_figures_are_written_out_in_the_words_of_the_language(lang: str, written: str, said: str) -> None:
    assert speakable(written, lang) == said


@pytest.mark.parametrize("text", ["1.2.3", "10.0.0.1", "A4", "USB3", "x2y", "2026-13-45", "99/99/2026"])
def test_what_is_no_quantity_stays_as_it_is(text: str) -> None:
    assert speakable(text, "en-US") == text


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("**bold** and *soft* and `code`", "bold and soft and code"),
        ("# Title\n\n- one\n- two\n", "Title. one. two."),
        ("see [the page](https://example.org/x)", "see the page"),
        ("https://www.example.org/a?b=1", "example.org"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a, b. 1, 2."),
        ("> quoted\n```py\nx = 1\n```", "quoted x = 1"),
        ("fine 👍🏽, 👩\u200d👩\u200d👧 done.", "fine, done."),
        ("snake_case and 2 * 3 * 4", "snake_case and 2 * 3 * 4"),
        ("<b>hi</b><br/>there", "hi there"),
    ],
)
def test_markup_and_emoji_are_dropped(written: str, said: str) -> None:
    assert plain_text(written) == said


def test_an_unknown_language_loses_its_markup_and_keeps_its_figures() -> None:
    assert speakable("**17:30** and 5 km", "tlh") == "17:30 and 5 km"
    assert speakable("**17:30**", None) == "17:30"


@pytest.mark.parametrize("code", SPOKEN_LANGUAGES)
def test_the_files_of_words_are_complete(code: str) -> None:
    words = spoken_words(code)
    assert len(words.months) == 12
    assert set(words.units) == set(spoken_words("en").units)
    assert {"$", "€", "£"} <= set(words.currencies)
    assert {"{h}", "{m}"} <= set(words.time.split()) | {"{h}", "{m}"}
    assert "{h}" in words.time
    for forms in words.units.values():
        assert all(forms)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200), st.sampled_from([*SPOKEN_LANGUAGES, "xx"]))
def test_no_text_breaks_it(text: str, lang: str) -> None:
    speakable(text, lang)


@settings(max_examples=200, deadline=None)
@given(st.from_regex(r"[-$€]?[0-9]{1,20}([.,:/-][0-9]{1,6}){0,3} ?(km|%|€|°C|th|h|e)?", fullmatch=True),
       st.sampled_from(SPOKEN_LANGUAGES))  # fmt: skip
def test_no_figures_break_it(text: str, lang: str) -> None:
    speakable(text, lang)
