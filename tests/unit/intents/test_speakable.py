"""Text as it is to be spoken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hark.intents.speech import SPOKEN_LANGUAGES, plain_text, speakable
from hark.intents.speech.words import spoken_words

READINGS = Path(__file__).parents[2] / "data" / "speakable.tsv"

GOLDEN = [
    ("en-US", "It is 17:30 and -3 °C.", "It is seventeen thirty and minus three degrees Celsius."),
    ("en-US", "3/4/2026 at 9:05", "March fourth, twenty twenty-six at nine oh five"),
    ("en-GB", "3/4/2026", "the third of April twenty twenty-six"),
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
    ("pt-BR", "17 km", "dezessete quilômetros"),
    ("nl-NL", "3,5 km om 17:00", "drie komma vijf kilometer om zeventien uur"),
    ("pl-PL", "1 km, 2 km, 5 km, 22 km", "jeden kilometr, dwa kilometry, pięć kilometrów, dwadzieścia dwa kilometry"),
    ("pl-PL", "18.11.2026", "osiemnastego listopada dwa tysiące dwadzieścia sześć"),
    ("sv-SE", "21 km/h och 2:a", "tjugoen kilometer i timmen och andra"),
    ("ca-ES", "2,50 € i 21 h", "dos euros amb cinquanta cèntims i vint-i-una hores"),
    # Times, as they are written in each country.
    ("en-US", "Open 9am-5pm, or 3:05 p.m.", "Open nine A M to five P M, or three oh five P M."),
    ("en-US", "2026-11-18T08:15:00", "November eighteenth, twenty twenty-six, eight fifteen"),
    ("en-US", "from 9:00 to 17:00", "from nine o'clock to seventeen hundred"),
    ("de-DE", "um 17:30 Uhr oder 10.30 Uhr", "um siebzehn Uhr dreißig oder zehn Uhr dreißig"),
    ("fr-FR", "à 17h30, 1:00 et 00:00", "à dix-sept heures trente, une heure et minuit"),
    ("it-IT", "ore 18.30", "ore diciotto e trenta"),
    ("sv-SE", "kl. 17.30", "klockan sjutton trettio"),
    ("pl-PL", "o 17:30", "o siedemnastej trzydzieści"),
    # Dates with the name of the month, without the year, with the day of the week; years.
    ("en-US", "Sat, Nov 21, 18 Nov 2026", "Saturday, November twenty-first, November eighteenth, twenty twenty-six"),
    ("en-US", "In 1999, the 1990s, 2019-2021", "In nineteen ninety-nine, the nineteen nineties, twenty nineteen to "
     "twenty twenty-one"),
    ("de-DE", "18. November; am 18.11.; der 1. Mai", "achtzehnter November; am achtzehnten November; der erste Mai"),
    ("de-DE", "Im Jahr 1999", "Im Jahr neunzehnhundertneunundneunzig"),
    ("es-ES", "el 18 de noviembre de 2026", "el dieciocho de noviembre de dos mil veintiséis"),
    ("pl-PL", "18 listopada", "osiemnastego listopada"),
    ("ca-ES", "3/8/2026", "tres d'agost de dos mil vint-i-sis"),
    # Money: millions, codes, signs.
    ("en-US", "$1.2 million, -$5, 10 USD", "one point two million dollars, minus five dollars, ten dollars"),
    ("fr-FR", "1,5 M€ et 10 000 €", "un virgule cinq millions d'euros et dix mille euros"),
    ("es-ES", "$1.2 millones", "uno coma dos millones de dólares"),
    ("de-DE", "CHF 5.50, 1,2 Mio. €", "fünf Franken fünfzig, eins Komma zwei Millionen Euro"),
    # Numbers before nouns, with foreign decimals, as fractions, in lists of digits.
    ("de-DE", "1 Tag, 1 Stunde, 3.5 km, der 3. Tag", "ein Tag, eine Stunde, drei Komma fünf Kilometer, der dritte Tag"),
    ("es-ES", "21 personas y 1 minuto", "veintiuna personas y un minuto"),
    ("pt-PT", "2 pessoas", "duas pessoas"),
    ("en-US", "2½ cups, 1/3, -5\u201310 °C, ~5 m²", "two and one half cups, one third, minus five to ten degrees "
     "Celsius, about five square meters"),
    ("pl-PL", "3,5 km", "trzy przecinek pięć kilometra"),
    ("en-US", "+1 (555) 123-4567", "plus one, five five five, one two three, four five six seven"),
    ("fr-FR", "01 23 45 67 89", "zéro un, vingt-trois, quarante-cinq, soixante-sept, quatre-vingt-neuf"),
    ("en-US", "version 2.4.1, 2+2=4, 5 - 3 = 2", "version two dot four dot one, two plus two equals four, five minus "
     "three equals two"),
    ("de-DE", "3:2", "drei zu zwei"),
    # Roman numerals, addresses, abbreviations that mean something only before figures or that end a sentence.
    ("en-US", "Henry VIII, World War II, I am", "Henry the eighth, World War two, I am"),
    ("es-ES", "siglo XXI", "siglo veintiuno"),
    ("fr-FR", "XXIe siècle, Louis XIV", "vingt-et-unième siècle, Louis quatorze"),
    ("it-IT", "nel XXI secolo", "nel ventunesimo secolo"),
    ("en-US", "bob@example.org", "bob at example dot org"),
    ("en-US", "No. 5? No. Milk etc. Then", "number five? No. Milk et cetera. Then"),
    # Units with any prefix, and in other spellings; a letter alone is a door, not a unit.
    ("de-DE", "3 hl, 20 µg, 5 GW, 100 Mb/s, 2 kB", "drei Hektoliter, zwanzig Mikrogramm, fünf Gigawatt, einhundert "
     "Megabit pro Sekunde, zwei Kilobyte"),
    ("fr-FR", "4 Go, 1 To, 3 kPa", "quatre gigaoctets, un téraoctet, trois kilopascals"),
    ("en-US", "door 4b, 2 mL, 3 lbs", "door 4b, two milliliters, three pounds"),
    ("en-US", "It orbits the Sun. 8 planets do.", "It orbits the Sun. eight planets do."),
    # What is said otherwise in one country.
    ("es-MX", "$5.50", "cinco pesos con cincuenta centavos"),
    ("es-EC", "$5,50", "cinco dólares con cincuenta centavos"),
    ("es-AR", "$5,50", "cinco pesos con cincuenta centavos"),
    ("en-AU", "on 5 May and the 6 June", "on the fifth of May and the sixth of June"),
]  # fmt: skip


@pytest.mark.parametrize(("lang", "written", "said"), GOLDEN)
def test_figures_are_written_out_in_the_words_of_the_language(lang: str, written: str, said: str) -> None:
    assert speakable(written, lang) == said


def readings() -> Iterator[tuple[str, str, tuple[str, ...], bool]]:
    """Language, text, what may be said for it, and whether it is said, of each line of the list."""
    for line in READINGS.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            lang, written, said = line.removeprefix("!").split("\t")
            yield lang, written.replace("\\n", "\n"), tuple(said.split(" | ")), not line.startswith("!")


@pytest.mark.parametrize(("lang", "written", "said", "is_right"), tuple(readings()))
def test_answers_are_read_as_a_native_speaker_reads_them(
    lang: str, written: str, said: tuple[str, ...], is_right: bool
) -> None:
    """A line marked with "!" loses its mark when it is read well."""
    assert (speakable(written, lang) in said) is is_right


@pytest.mark.parametrize("text", ["A4", "USB3", "x2y", "2026-13-45", "99/99/2026"])
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
        ("| a | b |\n|:--|--:|\n| 1 | 2 |\n|:-:|-|", "a, b. 1, 2."),
        ("> quoted\n```py\nx = 1\n```", "quoted. x = 1"),
        ("fine 👍🏽, 👩\u200d👩\u200d👧 done.", "fine, done."),
        ("snake_case and 2 * 3 * 4", "snake_case and 2 * 3 * 4"),
        ("<b>hi</b><br/>there", "hi there"),
        ("1. one\n2. two", "one. two."),
        ("**Today**\n- sun\n\nNext\n====\nrain[^1]\n\nlate", "Today. sun. Next. rain. late"),
        ("<script>x = 1</script>5&nbsp;&lt; 6 \\*", "5 < 6"),
        ("18. November is near", "18. November is near"),
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
    assert set(words.units) >= set(spoken_words("ca").units)
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
