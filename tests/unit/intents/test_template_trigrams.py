"""Words that are like known words: which, how much, and for how long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pools import ask, entity, label, register

from hark.intents import TemplatePool
from hark.intents.template.trigrams import TrigramIndex, trigrams
from hark.spec import topics

WORDS = ("weather", "whether", "feather", "reservation", "licht", "lichter", "rain")


def index_of(*words: str) -> TrigramIndex:
    """All of these."""
    made = TrigramIndex()
    made.add(words)
    return made


@pytest.mark.parametrize(
    ("word", "likest"),
    [("weathr", "weather"), ("reserve", "reservation"), ("lichtern", "lichter"), ("raining", "rain")],
)
def test_a_slip_or_another_ending_is_like_the_word_that_is_known(word: str, likest: str) -> None:
    found = dict(index_of(*WORDS).of(word))
    assert max(found, key=lambda other: found[other]) == likest
    assert all(0.0 < alike <= 1.0 for alike in found.values())


def test_a_word_is_not_its_own_kin() -> None:
    assert "weather" not in dict(index_of(*WORDS).of("weather"))
    assert {"whether", "feather"} <= dict(index_of(*WORDS).of("weather")).keys()


def test_short_words_are_like_nothing() -> None:
    assert index_of("the", "then", "there").of("the") == []
    assert index_of("the", "an").of("theo") == []


def test_strange_words_are_like_nothing() -> None:
    assert index_of(*WORDS).of("quixotic") == []


def test_however_many_are_alike_a_few_are_kept_and_always_the_same() -> None:
    words = [f"light{number}" for number in range(50)]
    some = index_of(*words).of("lights")
    assert len(some) == 8
    assert index_of(*reversed(words)).of("lights") == some


@given(st.lists(st.text("abc", min_size=1, max_size=7), max_size=20), st.data())
def test_what_was_taken_out_leaves_nothing_behind(words: list[str], data: st.DataObject) -> None:
    gone = data.draw(st.lists(st.sampled_from(words), unique=True)) if words else []
    left = list(words)
    for word in gone:
        left.remove(word)
    made = index_of(*words)
    made.remove(gone)
    asked = data.draw(st.text("abc", min_size=1, max_size=7))
    assert sorted(made.of(asked)) == sorted(index_of(*left).of(asked))
    made.remove(left)
    assert made.of(asked) == []
    assert made.is_empty


@given(st.text(min_size=1, max_size=12))
def test_a_word_has_no_more_trigrams_than_letters(word: str) -> None:
    assert 1 <= len(trigrams(word)) <= len(word)


def weather() -> TemplatePool:
    """A small house."""
    pool = TemplatePool()
    register(pool, "weather.skill:today", "what is the weather like", "tell me the weather", "weather report please")
    register(pool, "clock.skill:time", "what time is it", "tell me the time", "how late is it")
    register(pool, "jokes.skill:joke", "tell me a joke", "make me laugh", "say something funny")
    return pool


@pytest.mark.parametrize("said", ["what is the wether like", "please tell me the weathers"])
def test_a_slip_of_one_letter_does_not_keep_an_intent_from_being_found(said: str) -> None:
    assert label(ask(weather(), said)) == "weather.skill:today"


def test_words_like_known_values_count_until_the_values_go() -> None:
    pool = TemplatePool()
    register(pool, "music.skill:play", "play some {genre} now", "i would like {genre} now", "put {genre} on now")
    register(pool, "clock.skill:time", "what time is it now", "tell me the time now", "how late is it now")
    similarity = pool.scope("default").roots["en-us"].similarity
    before = similarity.rank(["symphonies", "now"])
    entity(pool, "music.skill", "genre", "symphony", "quartet")
    known = similarity.rank(["symphonies", "now"])
    assert known[0][1].intent.label == "music.skill:play"
    assert known[0][0] > next(like for like, profile in before if profile.intent.label == "music.skill:play")
    gone = {"skill_id": "music.skill", "entity_name": "genre", "lang": "en-US"}
    pool.apply(topics.ENTITY_DEREGISTER, gone, "default")
    assert similarity.rank(["symphonies", "now"]) == before
