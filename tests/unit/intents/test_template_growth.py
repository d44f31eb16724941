"""Registering: what it costs, when it counts, and that it can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pools import ask, entity, label, register, send, slots

from hark.intents import Found, TemplateIntent, TemplatePool
from hark.intents.patterns import SAMPLES
from hark.intents.template.profile import Traits
from hark.intents.template.similarity import SimilarityIndex
from hark.spec import topics

VERBS = ("open", "close", "clean", "repair", "paint", "lock")
THINGS = ("garage", "window", "kitchen", "cupboard", "fence")


def sentences(verb: str, thing: str) -> tuple[str, ...]:
    return f"{verb} the {thing}", f"please {verb} my {thing} now", f"i want to {verb} the {thing} in {{place}}"


@contextmanager
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The intents whose sentences are looked at."""
    read: list[str] = []

    class Counted(Traits):
        def __init__(self, intent: TemplateIntent) -> None:
            read.append(intent.label)
            super().__init__(intent)

    monkeypatch.setattr("hark.intents.template.similarity.Traits", Counted)
    yield read


def test_registering_one_intent_looks_at_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = TemplatePool()
    for verb in VERBS:
        register(pool, f"{verb}.skill:garage", *sentences(verb, "garage"))
    with counting(monkeypatch) as read:
        register(pool, "new.skill:fence", *sentences("paint", "fence"))
        assert label(ask(pool, "would you paint the fence now please")) == "new.skill:fence"
        assert label(ask(pool, "could you clean my garage")) == "clean.skill:garage"
    assert read == ["new.skill:fence"]


def test_an_intent_with_very_many_sentences_is_judged_by_some_of_them() -> None:
    pool = TemplatePool()
    words = "|".join(f"w{number}" for number in range(60))
    register(pool, "a.b:many", f"({words}) of the ({words})")
    (intent,) = pool.intents("default")
    assert len(intent.samples) == SAMPLES
    assert max(Traits(intent).strengths.values()) <= 1.0
    assert len(Traits(intent).strengths) <= SAMPLES * 20
    assert label(ask(pool, "w7 of the w59")) == "a.b:many"


def test_when_everything_is_gone_nothing_is_left() -> None:
    pool = TemplatePool()
    register(pool, "a.b:one", *sentences("open", "garage"))
    register(pool, "a.b:two", *sentences("close", "garage"))
    entity(pool, "a.b", "place", "york", "new york")
    root = pool.scope("default").roots["en-us"]
    pool.apply(topics.SKILL_DEREGISTER, {"skill_id": "a.b"}, "default")
    assert root.is_empty
    assert not pool.scope("default").roots
    similarity: SimilarityIndex = root.similarity
    assert not similarity.count("garage")
    assert not similarity.is_value("york")
    assert similarity.rank(["open", "the", "garage"]) == []


def test_values_may_come_before_the_intent_and_go_after_it() -> None:
    pool = TemplatePool()
    entity(pool, "a.b", "dish", "fish and chips", "soup")
    register(pool, "a.b:eat", "i would like to eat {dish}", "cook {dish} for me", "is there {dish} today")
    register(pool, "c.d:walk", "i would like to walk", "go for a walk with me", "is it warm enough today")
    said = "today i would like fish and chips"
    assert slots(ask(pool, said, floor=0.3)) == {"dish": "fish and chips"}
    send(pool, topics.INTENT_DEREGISTER, "a.b:eat")
    assert label(ask(pool, said, floor=0.3)) != "a.b:eat"
    register(pool, "a.b:eat", "i would like to eat {dish}", "cook {dish} for me", "is there {dish} today")
    assert slots(ask(pool, said, floor=0.3)) == {"dish": "fish and chips"}
    pool.apply(topics.ENTITY_DEREGISTER, {"skill_id": "a.b", "entity_name": "dish"}, "default")
    assert not pool.scope("default").roots["en-us"].similarity.is_value("chips")


PAIRS = st.tuples(st.sampled_from(VERBS), st.sampled_from(THINGS))


@settings(deadline=None, max_examples=60)
@given(st.lists(PAIRS, min_size=2, max_size=8, unique=True), st.data())
def test_what_was_registered_and_removed_in_between_makes_no_difference(
    chosen: list[tuple[str, str]], data: st.DataObject
) -> None:
    gone = data.draw(st.sets(st.sampled_from(chosen), max_size=len(chosen) - 1))
    used, fresh = TemplatePool(), TemplatePool()
    for verb, thing in chosen:
        for pool in (used,) if (verb, thing) in gone else (used, fresh):
            register(pool, f"{verb}.{thing}:do", *sentences(verb, thing))
    for verb, thing in gone:
        send(used, topics.INTENT_DEREGISTER, f"{verb}.{thing}:do")
    verb, thing = data.draw(PAIRS)
    said = data.draw(st.sampled_from((f"would you {verb} the {thing}", f"{verb} my {thing} in york please", thing)))
    answers = [ask(pool, said, floor=0.2) for pool in (used, fresh)]
    found = [
        (answer.intent.label, answer.slots, pytest.approx(answer.score)) if isinstance(answer, Found) else None
        for answer in answers
    ]
    assert found[0] == found[1]
