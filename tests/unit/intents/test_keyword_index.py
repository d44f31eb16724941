"""The tree of phrases: what leads where, and what is left when it goes."""

from __future__ import annotations

from keyword_pools import register, send, voc

from hark.intents.keyword import KeywordPool, PhraseIndex
from hark.spec import topics


def index_of(pool: KeywordPool) -> PhraseIndex:
    return pool.scope("default").roots["en-us"]


def test_every_occurrence_of_every_phrase_is_heard() -> None:
    pool = KeywordPool()
    register(pool, "a.b:i", required=[voc("hall", "hall", "front hall", "hall hall")], excluded=[voc("no")])
    heard = index_of(pool).find(["hall", "front", "hall", "hall", "no"]).phrases
    # Minus the number of words, then the first of them.
    assert heard == {
        "hall": [(-1, 0), (-1, 2), (-1, 3)],
        "front hall": [(-2, 1)],
        "hall hall": [(-2, 2)],
        "no": [(-1, 4)],
    }


def test_common_words_lead_to_few_intents() -> None:
    pool = KeywordPool()
    for number in range(200):
        register(pool, f"a.b:i{number}", required=[voc("on", "turn on"), voc("thing", f"thing {number}")])
    index = index_of(pool)
    assert len(index.find(["turn", "on"]).candidates) <= 1
    assert len(index.find(["turn", "on", "thing", "77"]).candidates) <= 2
    for number in range(200):
        found = index.find(f"turn on thing {number}".split()).candidates
        assert f"i{number}" in {intent.intent_name for intent in found}


def test_an_intent_hangs_on_a_whole_group_where_it_requires_nothing() -> None:
    pool = KeywordPool()
    register(pool, "a.b:i", one_of=[[voc("a"), voc("b", "bee", "b b")], [voc("c")]])
    register(pool, "a.b:j", one_of=[[voc("a"), voc("b", "bee", "b b")], [voc("c")]])
    index = index_of(pool)
    for text in ("a c", "bee c", "b b c"):
        assert {intent.intent_name for intent in index.find(text.split()).candidates} == {"i", "j"}


def test_nothing_is_left_of_what_was_removed() -> None:
    pool = KeywordPool()
    register(pool, "a.b:keep", required=[voc("light", "big light")])
    before = len(index_of(pool))
    register(pool, "a.b:go", required=[voc("light", "big light", "big lights on")], excluded=[voc("no", "no no")])
    assert len(index_of(pool)) == before + 4
    send(pool, topics.INTENT_DEREGISTER, "a.b:go")
    assert len(index_of(pool)) == before
    assert index_of(pool).named("light") == tuple(pool.intents("default"))
    index_of(pool).remove(next(pool.intents("default")))
    assert index_of(pool).is_empty
    assert len(index_of(pool)) == 1
    index = PhraseIndex()
    index.remove(next(pool.intents("default")))
    assert index.is_empty, "what was never there can be removed"
