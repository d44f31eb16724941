"""Normalising, and taking back what one is saying."""

from __future__ import annotations

import pytest
from builtin_host import begin, ctx

from hark.builtin import Cancel, Normalize
from hark.builtin.cancel import CANCEL_PHRASES
from hark.model import Frozen
from hark.plugins import Ctx, Session


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("  what \t time\n is it ", None, "what time is it"),
        ("What\u2019s the time?", "en-US", "What is the time?"),
        ("I'm sure it's John's, isn't it", "EN-gb", "I am sure it is John's, is not it"),
        ("what's up", None, "what's up"),
        ("what's up", "de-DE", "what's up"),
        ("\u201ehallo\u201c \u2018du\u2019", "de-DE", "\"hallo\" 'du'"),
        ("say 'hi'", "en-US", "say 'hi'"),
        ("", "en-US", ""),
    ],
)
def test_text_is_brought_into_one_form(text: str, lang: str | None, expected: str) -> None:
    assert Normalize().transform([text], ctx(lang)) == [expected]


def test_candidates_that_become_the_same_are_merged_in_order() -> None:
    assert Normalize().transform(["b  c", "a", "b c"], ctx()) == ["b c", "a"]
    assert Normalize().transform([], ctx()) == []


def test_normalising_twice_changes_nothing() -> None:
    once = Normalize().transform(["He'd say \u201cwhat's  up\u201d"], ctx("en-US"))
    assert Normalize().transform(once, ctx("en-US")) == once


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


@pytest.mark.parametrize("lang", sorted(CANCEL_PHRASES))
async def test_every_phrase_cancels_alone_and_at_the_end(lang: str) -> None:
    for phrase in CANCEL_PHRASES[lang]:
        assert await cancelled(f"{phrase.upper()}!", f"{lang}-XX") == "stop_word"
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
