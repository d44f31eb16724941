"""Where one sentence ends and the next begins."""

from __future__ import annotations

# ruff: noqa: RUF001 - marks of many scripts, which is what this is about
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hark.model.sentences import sentences

CASES = {
    # `|` stands where a sentence ends.
    "en-US": [
        "Hello.| It is 3.14 today.| Really?| Yes!",
        "Mr. Smith met Dr. Jones at 5 p.m. on Main St. yesterday.| They left.",
        "It is 5 p.m.| Then we go.",
        "The U.S. President spoke, e.g. Lincoln.| So it goes.",
        "J. S. Bach wrote it.| See no. 5 and fig. 3.| No.| I do not.",
        'He said "Stop!" and left.| "Why?"| She did not know.',
        "“Go on.”| “No.”",
        "Well... maybe.| Wait...| What?",
        "Visit www.example.org or mail a@b.org.| Version 1.2.3 is out.",
        "1. Milk and eggs.| 2. Bread.",
        "Milk\nEggs\nBread".replace("\n", "|\n"),
        "a line that was\nwrapped here.| Next.",
        "It costs $1,000.50.| Cheap!",
        "Really?!| Yes.",
        "It is -5 °C outside.| Cold (very cold).| Brr.",
    ],
    "de-DE": [
        "Heute ist der 3. Oktober.| Es ist z. B. warm.",
        "Dr. Müller wohnt in der Goethestr. 5a.| Er kommt am 1. Mai bzw. am 2. Juni.",
        "Das kostet ca. 10.000,50 Euro.| Viel!",
        "Er sagte: „Komm!“| Dann ging er.",
        "Das war 1999.| Danach kam 2000.",
        "Äpfel, Birnen usw.| Das ist alles.",
    ],
    "es-ES": [
        "¿Qué hora es?| ¡Son las tres!| El Sr. García llegó.",
        "Viven en EE.UU. desde 1990.| Véase la pág. 3.| Adiós.",
        "La Dra. López dijo: «Hola.»| Y se fue.",
    ],
    "fr-FR": [
        "Quoi ?| Rien !| M. Dupont et Mme. Durand sont là.",
        "« Bonjour ! » dit-il.| Il est 3 h 15.",
        "« Bonjour ! »| Elle rit.",
        "C'est p. ex. le n. 5.| Voilà.",
    ],
    "it-IT": [
        "Il sig. Rossi e la dott.ssa Bianchi sono qui.| Benvenuti!",
        "Vedi pag. 5.| Va bene?| Sì.",
    ],
    "pt-PT": [
        "O Sr. Silva e a Dra. Costa chegaram.| Olá!",
        "São 3,5 km.| A pág. 7 diz tudo.| Está?",
    ],
    "ja-JP": ["こんにちは。|元気ですか？|はい。"],
}


@pytest.mark.parametrize(("lang", "marked"), [(lang, text) for lang, texts in CASES.items() for text in texts])
def test_sentences_end_where_a_reader_would_say_so(lang: str, marked: str) -> None:
    wanted = [part.strip() for part in marked.split("|")]
    assert list(sentences(marked.replace("|", ""), lang)) == wanted


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "...", "?!", "—", "«»", '""'])
def test_what_has_nothing_to_say_is_left_out(text: str) -> None:
    assert list(sentences(text, "en-US")) == []


def test_a_sign_is_something_to_say() -> None:
    assert list(sentences("€", "en-US")) == ["€"]


def test_a_long_sentence_is_cut_where_one_would_draw_breath() -> None:
    long = "When the sun had set behind the hills, the old man, who had waited all day, stood up and went home again"
    assert list(sentences(long, "en-US", 60)) == [
        "When the sun had set behind the hills, the old man,",
        "who had waited all day, stood up and went home again",
    ]


def test_words_without_end_are_cut_all_the_same() -> None:
    assert [len(part) for part in sentences("x" * 1000, "en-US", 300)] == [300, 300, 300, 100]


@given(st.text(alphabet=st.sampled_from("aB1 .!?…\n,\"'“”()。¿é€"), max_size=400), st.sampled_from([*CASES, "xx"]))
def test_nothing_is_lost_and_nothing_is_added(text: str, lang: str) -> None:
    parts = list(sentences(text, lang, 50))
    assert all(0 < len(part) <= 50 for part in parts)

    def kept(of: str) -> str:
        return "".join(letter for letter in of if letter.isalnum() or letter == "€")

    assert kept("".join(parts)) == kept(text)
