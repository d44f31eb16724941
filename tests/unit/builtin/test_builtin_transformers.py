"""Normalising, and taking back what one is saying."""

from __future__ import annotations

from typing import Any

import pytest
from builtin_host import begin

from hark.builtin import Cancel, Normalize
from hark.builtin.cancel import CANCEL_PHRASES
from hark.intents.text import short_forms
from hark.model import Frozen, ResponseMode
from hark.plugins import Ctx, Session


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("  what \t time\n is it ", None, "what time is it"),
        ("What\u2019s the time?", "en-US", "What is the time?"),
        ("I'm sure it's John's, isn't it", "EN-gb", "I am sure it is John's, is not it"),
        ("what's up", None, "what is up"),
        ("what's up", "de-DE", "what's up"),
        ("\u201ebaum\u201c \u2018Frau\u2019", "de-DE", "\"baum\" 'Frau'"),
        ("say 'hi'", "en-US", "say 'hi'"),
        ("", "en-US", ""),
    ],
)
async def test_text_is_brought_into_one_form(text: str, lang: str | None, expected: str) -> None:
    assert await normalized(text, lang=lang) == [expected]


async def normalized(*said: str, lang: str | None = None, session: Session | None = None, **settings: Any) -> list[str]:
    normalize = Normalize()
    await begin(normalize, **settings)
    return normalize.transform(list(said), Ctx(Frozen(), session or Session(), lang, True))


async def test_candidates_that_become_the_same_are_merged_in_order() -> None:
    assert await normalized("b  c", "a", "b c") == ["b c", "a"]
    assert await normalized() == []


async def test_normalising_twice_changes_nothing() -> None:
    once = await normalized("He'd say \u201cwhat's  up\u201d", lang="en-US")
    assert await normalized(*once, lang="en-US") == once


@pytest.mark.parametrize(
    ("lang", "said", "request_"),
    [
        ("en-US", "Um, could you please tell me a joke, thank you very much", "tell me a joke"),
        ("en-GB", "hey jarvis and what's the time if you don't mind", "what is the time"),
        ("de-DE", "\u00e4hm k\u00f6nntest du bitte mal das Licht anmachen wenn es geht", "das Licht anmachen"),
        ("es-ES", "oye jarvis, eh bueno pon leche en la lista, por favor", "pon leche en la lista"),
        ("fr-FR", "euh bon raconte-moi une blague s\u2019il te pla\u00eet merci", "raconte-moi une blague"),
        ("it-IT", "ehm allora che ore sono per favore grazie", "che ore sono"),
        ("pt-PT", "ol\u00e1 hum bem que horas s\u00e3o, muito obrigada", "que horas s\u00e3o"),
    ],
)
async def test_what_is_put_around_a_request_is_left_out_and_stays_a_candidate(
    lang: str, said: str, request_: str
) -> None:
    found = await normalized(said, lang=lang)
    assert found[0] == request_
    assert len(found) > 1


@pytest.mark.parametrize(
    ("lang", "said", "familiar"),
    [
        ("de-DE", "Stellen Sie bitte einen Timer", "stell einen Timer"),
        ("de-DE", "k\u00f6nntest du mich um acht wecken", "weck mich um acht"),
        ("de-DE", "mach mal bitte lauter", "mach lauter"),
        ("es-ES", "p\u00f3ngame una alarma", "ponme una alarma"),
        ("fr-FR", "r\u00e9veillez-moi \u00e0 sept heures", "r\u00e9veille-moi \u00e0 sept heures"),
        ("it-IT", "aggiungere il latte alla lista", "aggiungi il latte alla lista"),
        ("pt-PT", "me lembra de ligar", "lembra-me de ligar"),
        ("de-DE", "k\u00f6nntest du bitte Milch auf die Liste setzen", "setz Milch auf die Liste"),
        ("de-DE", "kannst du das Licht ausschalten", "schalte das Licht aus"),
        (
            "de-DE",
            "kannst du mich daran erinnern die Katze zu f\u00fcttern",
            "erinnere mich daran die Katze zu f\u00fcttern",
        ),
        ("es-ES", "podr\u00edas a\u00f1adir leche a la lista", "a\u00f1ade leche a la lista"),
        ("es-ES", "me puedes despertar a las siete", "despi\u00e9rtame a las siete"),
        ("fr-FR", "tu peux me r\u00e9veiller \u00e0 sept heures", "r\u00e9veille-moi \u00e0 sept heures"),
        ("it-IT", "mi potresti svegliare alle sette", "svegliami alle sette"),
        ("it-IT", "puoi spegnere la luce", "spegni la luce"),
        ("pt-PT", "podias acordar-me \u00e0s sete", "acorda-me \u00e0s sete"),
    ],
)
async def test_other_forms_of_a_request_are_a_candidate_as_familiar_imperatives(
    lang: str, said: str, familiar: str
) -> None:
    found = await normalized(said, lang=lang)
    assert familiar in found
    assert said in found


@pytest.mark.parametrize(
    "said", ["erinnere mich daran den Wecker zu stellen", "ich will Brot auf die Liste setzen", "stell einen Timer"]
)
async def test_a_statement_and_an_imperative_keep_their_form(said: str) -> None:
    assert await normalized(said, lang="de-DE") == [said]


async def test_words_that_change_nothing_are_left_out_behind_what_was_said() -> None:
    found = await normalized("wirf doch mal schnell eine M\u00fcnze", lang="de-DE")
    assert found == ["wirf doch mal schnell eine M\u00fcnze", "wirf eine M\u00fcnze"]


@pytest.mark.parametrize(
    "said", ["put please please me on my list", "please", "okay thanks", "uh um", "nice to see you"]
)
async def test_nothing_is_left_out_where_a_request_would_not_be_left_or_inside_one(said: str) -> None:
    assert said in await normalized(said, lang="en-US")
    assert all(text for text in await normalized(said, lang="en-US"))
    assert (await normalized("put please please me on my list", lang="en-US")) == ["put please please me on my list"]


async def test_courtesy_after_a_word_of_saying_may_be_meant() -> None:
    assert await normalized("say thank you", lang="en-US") == ["say thank you", "say"]


async def test_the_answer_to_an_open_question_stays_what_was_said() -> None:
    asked = Session().replace(response_mode=ResponseMode("a.skill", 1e12))
    assert (await normalized("and milk please", lang="en-US", session=asked))[0] == "and milk please"


async def test_the_language_of_the_session_counts_where_none_is_stated_and_no_other_is_invented() -> None:
    assert await normalized("what's up please", session=Session().replace(lang="en-US")) == [
        "what is up",
        "what is up please",
    ]
    assert await normalized("what's up please", lang="nl-NL") == ["what's up please"]


async def test_the_assistant_may_have_names_and_leave_everything_in() -> None:
    assert (await normalized("computer tell me a joke", names=("computer",)))[0] == "tell me a joke"
    assert (await normalized("ok nabu tell me a joke nabu", wake_words=("ok nabu",)))[0] == "tell me a joke"
    assert await normalized("please tell me a joke", strip=False) == ["please tell me a joke"]


async def test_short_forms_without_an_apostrophe_are_written_out_beside_what_was_said() -> None:
    assert await normalized("gimme a joke", lang="en-US") == ["give me a joke", "gimme a joke"]
    assert await normalized("wo gibts kaffee", lang="de-DE") == ["wo gibt es kaffee", "wo gibts kaffee"]


@pytest.mark.parametrize("lang", ["de", "en", "es", "fr", "it", "pt"])
def test_every_language_has_short_forms_that_are_no_long_forms(lang: str) -> None:
    table = short_forms(lang)
    assert len(table) > 10
    assert not set(table) & set(table.values())
    assert all(short == short.lower() and long for short, long in table.items())


class RecordingCtx(Ctx):
    """Records why an utterance was cancelled."""

    reason: str | None = None

    def cancel(self, reason: str = "other") -> None:
        self.reason = reason
        super().cancel(reason)


async def cancelled(text: str, lang: str | None, *phrases: str) -> str | None:
    cancel, seen = Cancel(), RecordingCtx(Frozen(), Session(), lang, True)
    await begin(cancel, phrases=phrases)
    assert cancel.transform([text, "another candidate"], seen) == [text, "another candidate"]
    return seen.reason


PASSED = ("cancel that", "cancela eso", "annule ça", "cancela isso")
"""Alone these are about what was asked for before."""


async def test_cancel_that_withdraws_an_open_question_only() -> None:
    cancel = Cancel()
    await begin(cancel)
    asked = RecordingCtx(Frozen(), Session(response_mode=ResponseMode("timers.skill", 1e12)), "en-US", True)
    cancel.transform(["cancel that"], asked)
    assert asked.reason == "stop_word"
    assert await cancelled("cancel that", "en-US") is None
    assert await cancelled("cancel that", None) is None


@pytest.mark.parametrize(
    ("candidates", "reason"),
    [
        (["oh never mind then", "never mind"], "stop_word"),
        (["actually no leave it", "no leave it"], "stop_word"),
        (["no don't bother"], "stop_word"),
        (["no it doesn't matter"], "stop_word"),
        (["buy the record please", "buy the record never mind"], None),
        (["no"], None),
    ],
)
async def test_an_answer_that_is_nothing_but_such_a_phrase_withdraws_the_question(
    candidates: list[str], reason: str | None
) -> None:
    cancel = Cancel()
    await begin(cancel)
    asked = RecordingCtx(Frozen(), Session(response_mode=ResponseMode("timers.skill", 1e12)), "en-US", True)
    cancel.transform(candidates, asked)
    assert asked.reason == reason


@pytest.mark.parametrize("lang", sorted(CANCEL_PHRASES))
async def test_every_phrase_cancels_alone_and_at_the_end(lang: str) -> None:
    for phrase in CANCEL_PHRASES[lang]:
        alone = None if phrase in PASSED else "stop_word"
        assert await cancelled(f"{phrase.upper()}!", f"{lang}-XX") == alone
        assert await cancelled(f"foo bar, {phrase}.", lang) == "stop_word"
        assert await cancelled(f"{phrase} foo", lang) is None


async def test_phrases_of_other_languages_count_only_when_no_language_is_stated() -> None:
    assert await cancelled("licht an vergiss es", "en-US") is None
    assert await cancelled("licht an vergiss es", "ja-JP") is None
    assert await cancelled("licht an vergiss es", None) == "stop_word"


@pytest.mark.parametrize("text", ["cancel", "stop", "mind", "whenever mind", "cancel that timer", ""])
async def test_what_might_mean_something_else_does_not_cancel(text: str) -> None:
    assert await cancelled(text, "en-US") is None


async def test_a_deployer_can_add_phrases() -> None:
    assert await cancelled("lights on, don't bother!", "en-US", "Don't bother") == "stop_word"
    assert await cancelled("lights on, do not bother", "en-US", "don't bother") == "stop_word"
    assert await cancelled("yameta", "ja-JP", "yameta") == "stop_word"
    assert await cancelled("anything", "en-US", "", "?") is None


async def test_no_candidates_are_no_trouble() -> None:
    cancel, seen = Cancel(), RecordingCtx(Frozen(), Session(), "en-US", True)
    await begin(cancel)
    assert cancel.transform([], seen) == []
    assert seen.reason is None
