"""Why something was found or not, and who claims the same."""

from __future__ import annotations

import pytest
from pools import HERE, NOW, ask, entity, register

from hark.intents import TemplatePool, explain, overlaps
from hark.intents.template import Explanation, Knowledge, Overlap, Theft, thefts
from hark.model import Session


@pytest.fixture
def pool() -> TemplatePool:
    made = TemplatePool()
    register(made, "clock.skill:time", "what time is it", "tell me the time", "do you know how late it is")
    register(made, "jokes.skill:tell", "tell me a joke", "make me laugh", "say something funny")
    register(made, "music.skill:play", "play some {genre}", "put on {genre} music", "i would like to hear {genre}")
    entity(made, "music.skill", "genre", "jazz", "heavy metal")
    return made


def why(pool: TemplatePool, said: str, session: Session = HERE) -> Explanation:
    return explain(pool, said, "en-US", session, lambda: NOW)


def test_every_word_is_classified(pool: TemplatePool) -> None:
    told = why(pool, "tell me laughing jazz giraffes")
    assert [(word.text, word.knowledge, word.intents) for word in told.words] == [
        ("tell", Knowledge.WORD, 2),
        ("me", Knowledge.WORD, 2),
        ("laughing", Knowledge.STEM, 1),
        ("jazz", Knowledge.VALUE, 0),
        ("giraffes", Knowledge.NONE, 0),
    ]


def test_it_finds_what_the_lookup_finds_and_says_how(pool: TemplatePool) -> None:
    for said in ("tell me a joke", "please tell me a really funny joke", "who wrote the longest novel"):
        told, answer = why(pool, said), ask(pool, said)
        assert (told.found or told.reason) == answer
    assert why(pool, "tell me a joke").reason == "jokes.skill:tell, as written"
    assert why(pool, "please tell me a really funny joke").reason.startswith("jokes.skill:tell, similar with 0.")


def test_the_nearest_are_named_with_their_scores_and_what_kept_them_out(pool: TemplatePool) -> None:
    told = why(pool, "tell my neighbour something about the giraffes")
    assert told.found is None
    assert "nearest: jokes.skill:tell" in told.reason
    first = told.nearest[0]
    assert first.label == "jokes.skill:tell"
    assert first.own == ("tell", "something")
    assert first.verdict == "0.50 needed"
    assert first.score < 0.5
    assert [near.score for near in told.nearest] == sorted((near.score for near in told.nearest), reverse=True)


def test_a_refusal_is_the_verdict(pool: TemplatePool) -> None:
    told = why(pool, "please tell me a really funny joke", Session(blacklisted_skills=["jokes.skill"]))
    assert "denies" in told.reason
    assert "denies" in told.nearest[0].verdict


def test_it_can_be_read(pool: TemplatePool) -> None:
    lines = why(pool, "tell me laughing jazz giraffes").lines()
    assert lines[1] == (
        "words: tell (2 intents), me (2 intents), laughing (1 intent by its beginning), "
        "jazz (a value), giraffes (unknown)"
    )
    assert lines[2].startswith("jokes.skill:tell 0.")
    assert why(TemplatePool(), "").lines() == ["no templates in en-US"]


def test_sentences_of_two_skills_are_listed_with_the_one_that_gets_them(pool: TemplatePool) -> None:
    assert overlaps(pool) == []
    register(pool, "comedy.skill:joke", "(tell|read) me a joke")
    register(pool, "any.skill:say", "say {text}", "make me laugh")
    register(pool, "jokes.skill:other", "tell me a joke")
    assert overlaps(pool) == [
        Overlap("tell me a joke", "en-US", "jokes.skill:tell", "comedy.skill:joke"),
        Overlap("make me laugh", "en-US", "jokes.skill:tell", "any.skill:say"),
    ]


def test_a_session_has_overlaps_of_its_own(pool: TemplatePool) -> None:
    register(pool, "sat.skill:joke", "tell me a joke", scope="sat-3")
    assert overlaps(pool) == []
    assert [overlap.loser for overlap in overlaps(pool, "sat-3")] == ["sat.skill:joke"]


def test_an_intent_that_gets_sentences_of_another_is_found_with_their_number(pool: TemplatePool) -> None:
    assert thefts(pool, lambda: NOW) == []
    register(pool, "late.skill:clock", "tell me the time", "which hour has come")
    (one,) = thefts(pool, lambda: NOW)
    assert one == Theft("clock.skill:time", "late.skill:clock", "en-US", "tell me the time", 1, 2)
