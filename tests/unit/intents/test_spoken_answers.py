"""Understanding yes, no, and which of several, in six languages."""

from __future__ import annotations

import pytest

from hark.intents.answers import choose, yes_or_no

YES = {
    "en-US": ["yes", "Yes, please!", "yeah sure", "OK", "of course", "that's right", "yes yes yes", "I do", "go ahead"],
    "de-DE": ["ja", "Ja, bitte.", "na klar", "auf jeden Fall", "in Ordnung", "ja ja", "gerne", "stimmt"],
    "es-ES": ["sí", "Sí, por favor", "claro que sí", "vale", "de acuerdo", "por supuesto", "sí, claro"],
    "fr-FR": ["oui", "Oui, merci", "bien sûr", "d'accord", "d\u2019accord", "tout à fait", "oui oui", "vas-y"],
    "it-IT": ["sì", "Sì, grazie", "certo", "va bene", "d'accordo", "sì, per favore", "esatto"],
    "pt-PT": ["sim", "Sim, por favor", "claro", "está bem", "com certeza", "sim, obrigado", "isso mesmo"],
}
NO = {
    "en-US": ["no", "No, thanks.", "nope", "no no", "not at all", "don't", "I don't", "certainly not", "never"],
    "de-DE": ["nein", "Nein danke!", "auf keinen Fall", "lieber nicht", "bitte nicht", "natürlich nicht", "nö"],
    "es-ES": ["no", "No, gracias", "claro que no", "de ninguna manera", "nunca", "no, no", "mejor no"],
    "fr-FR": ["non", "Non merci", "pas du tout", "bien sûr que non", "jamais", "surtout pas"],
    "it-IT": ["no", "No, grazie", "certo che no", "assolutamente no", "per niente", "mai"],
    "pt-PT": ["não", "Não, obrigada", "claro que não", "nunca", "de jeito nenhum", "nem pensar"],
}
NEITHER = {
    "en-US": ["", "maybe", "yes and no", "no, yes", "please", "know", "yesterday", "what time is it", "yes it rains"],
    "de-DE": ["vielleicht", "ja nein", "bitte", "jacke", "ja ich will ein Eis", "wie spät ist es"],
    "es-ES": ["quizás", "sí y no", "no sé", "gracias", "por favor", "noche"],
    "fr-FR": ["peut-être", "oui et non", "merci", "quelle heure est-il", "ouistiti"],
    "it-IT": ["forse", "sì e no", "grazie", "che ore sono", "sicurezza"],
    "pt-PT": ["talvez", "sim e não", "obrigado", "que horas são", "simples"],
}


def spoken(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(lang, text) for lang, texts in table.items() for text in texts]


@pytest.mark.parametrize(("lang", "text"), spoken(YES))
def test_yes_is_understood(lang: str, text: str) -> None:
    assert yes_or_no(text, lang) is True


@pytest.mark.parametrize(("lang", "text"), spoken(NO))
def test_no_is_understood(lang: str, text: str) -> None:
    assert yes_or_no(text, lang) is False


@pytest.mark.parametrize(("lang", "text"), spoken(NEITHER))
def test_what_is_neither_or_both_or_more_is_left_open(lang: str, text: str) -> None:
    assert yes_or_no(text, lang) is None


@pytest.mark.parametrize("lang", ["de", "de-AT", "de-CH"])
def test_the_nearest_language_will_do(lang: str) -> None:
    assert yes_or_no("na klar", lang) is True


def test_in_a_language_without_vocabularies_nothing_is_understood() -> None:
    assert yes_or_no("yes", "tlh") is None


SIZES = {
    "en-US": ["small", "medium", "extra large"],
    "de-DE": ["klein", "mittel", "extra groß"],
    "es-ES": ["pequeña", "mediana", "muy grande"],
    "fr-FR": ["petite", "moyenne", "très grande"],
    "it-IT": ["piccola", "media", "molto grande"],
    "pt-PT": ["pequena", "média", "muito grande"],
}
CHOSEN = {
    "en-US": [
        ("small", 0), ("the medium one please", 1), ("Extra Large!", 2), ("large", 2), ("2", 1), ("number two", 1),
        ("the second one", 1), ("the 3rd", 2), ("first", 0), ("the last one", 2), ("meduim", 1), ("smal", 0),
    ],
    "de-DE": [
        ("klein", 0), ("die mittlere", None), ("mittel bitte", 1), ("groß", 2), ("extra gross", 2), ("Nummer zwei", 1),
        ("die zweite", 1), ("den ersten", 0), ("das dritte", 2), ("die letzte", 2), ("3.", 2), ("kleim", 0),
    ],
    "es-ES": [
        ("la pequeña", 0), ("mediana", 1), ("grande", 2), ("el segundo", 1), ("la segunda", 1), ("número uno", 0),
        ("la última", 2), ("el tercero", 2), ("medianna", 1), ("la primera", 0),
    ],
    "fr-FR": [
        ("la petite", 0), ("moyenne", 1), ("grande", 2), ("la deuxième", 1), ("numéro trois", 2), ("la première", 0),
        ("la dernière", 2), ("le dernier", 2), ("le premier", 0), ("moyene", 1), ("le second", 1), ("la seconde", 1),
    ],
    "it-IT": [
        ("la piccola", 0), ("media", 1), ("grande", 2), ("la seconda", 1), ("il primo", 0), ("numero tre", 2),
        ("l'ultima", 2), ("la terza", 2), ("picola", 0),
    ],
    "pt-PT": [
        ("a pequena", 0), ("média", 1), ("grande", 2), ("a segunda", 1), ("o primeiro", 0), ("número três", 2),
        ("a última", 2), ("a terceira", 2), ("pequenna", 0),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("lang", "text", "place"), [(lang, text, place) for lang, cases in CHOSEN.items() for text, place in cases]
)
def test_a_choice_is_made_by_name_by_number_or_by_similarity(lang: str, text: str, place: int | None) -> None:
    assert choose(text, SIZES[lang], lang) == place


@pytest.mark.parametrize(
    "text", ["", "green", "4", "number zero", "the fourth", "small or medium", "the first or the second", "0", "?"]
)
def test_what_names_none_or_several_chooses_nothing(text: str) -> None:
    assert choose(text, SIZES["en-US"], "en-US") is None


@pytest.mark.parametrize(
    ("text", "options", "place"),
    [
        ("new york", ["york", "new york"], 1),
        ("york", ["york", "new york"], 0),
        ("2", ["2", "1"], 0),
        ("two", ["one", "two"], 1),
        ("anything", [], None),
        ("a", ["a", "a"], None),
    ],
)
def test_a_name_goes_before_a_number_and_the_longer_name_before_the_shorter(
    text: str, options: list[str], place: int | None
) -> None:
    assert choose(text, options, "en-US") == place


def test_names_can_be_chosen_in_any_language_and_numbers_in_digits() -> None:
    assert choose("tlhIngan", ["tlhIngan", "DIvI'"], "tlh") == 0
    assert choose("2", ["tlhIngan", "DIvI'"], "tlh") == 1
    assert choose("two", ["tlhIngan", "DIvI'"], "tlh") is None
