"""Hearing that something is to stop, and not hearing it in what says something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from ordinary_sentences import ORDINARY

import hark.builtin.stop
from hark.builtin.stop.plugin import StopWords, stop_request, stop_words
from hark.intents import words

LANGUAGES = sorted(folder.name for folder in (Path(hark.builtin.stop.__file__).parent / "locale").iterdir())


def known(lang: str) -> StopWords:
    found = stop_words(lang)
    assert found is not None
    return found


def phrases(lang: str, name: str) -> list[str]:
    return sorted(" ".join(phrase) for phrase in getattr(known(lang), name))


def test_there_are_words_in_fifteen_languages() -> None:
    assert len(LANGUAGES) == 15
    assert set(ORDINARY) == set(LANGUAGES)
    assert min(len(phrases(lang, "stop")) for lang in LANGUAGES) >= 7


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_phrase_is_heard_with_and_without_a_word_around_it(lang: str, exact: bool) -> None:
    for name, kind in (("stop", "something"), ("everything", "everything")):
        for phrase in phrases(lang, name):
            assert stop_request(phrase, lang, exact) == kind, phrase
            assert stop_request(f"{phrase.capitalize()}!", lang, exact) == kind, phrase
            for around in phrases(lang, "around"):
                for said in (f"{around} {phrase}", f"{phrase}, {around}", f"{around} {phrase} {around}"):
                    assert stop_request(said, lang, exact) == kind, said


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_word_around_it_alone_stops_nothing(lang: str) -> None:
    for around in phrases(lang, "around"):
        if tuple(words(around, lang)) not in known(lang).stop:
            assert stop_request(around, lang) is None, around


@pytest.mark.parametrize("lang", LANGUAGES)
def test_ordinary_sentences_with_a_stop_word_in_them_are_not_heard(lang: str) -> None:
    vocabulary = {word for phrase in known(lang).stop for word in phrase}
    assert len(ORDINARY[lang]) >= 10
    for sentence in ORDINARY[lang]:
        assert vocabulary & set(words(sentence, lang)), f"no stop word in: {sentence}"
        assert stop_request(sentence, lang) is None, sentence


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("oh come on stop it", "something"),
        ("stop the music", "something"),
        ("I have heard it all stop everything", "everything"),
        ("well that is enough", "something"),
        ("where does it stop on the way", None),
        ("a stop sign is red", None),
    ],
)
def test_loosely_it_is_enough_to_begin_or_end_with_it(said: str, kind: str | None) -> None:
    assert stop_request(said, "en-US") is None
    assert stop_request(said, "en-US", exact=False) == kind


def test_a_long_story_is_about_something_else() -> None:
    assert stop_request("stop " + "and think about it " * 3, "en-US", exact=False) is None


@pytest.mark.parametrize("lang", ["en", "en-GB", "de-AT", "pt-BR", "es-MX", "fr-CA"])
def test_a_related_language_will_do(lang: str) -> None:
    assert stop_request("stop", lang) == "something"


@pytest.mark.parametrize("lang", ["ja-JP", "zu", "und"])
def test_in_an_unknown_language_nothing_is_heard(lang: str) -> None:
    assert stop_request("stop", lang) is None
    assert stop_request("stop", lang, exact=False) is None


@pytest.mark.parametrize("said", ["", " ", "?", "...", "please", "please now"])
def test_nothing_is_nothing(said: str) -> None:
    assert stop_request(said, "en-US") is None
    assert stop_request(said, "en-US", exact=False) is None
