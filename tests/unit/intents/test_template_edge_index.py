"""Finding sentences by the words they begin or end with."""

from __future__ import annotations

from pools import ask, label, register, send

from hark.intents import TemplatePool
from hark.intents.template.exact import CROWDED, EdgeIndex
from hark.spec import topics


def test_beginnings_of_several_lengths_are_found() -> None:
    edges: EdgeIndex[str] = EdgeIndex()
    edges.add(("play",), "play", "one")
    edges.add(("play", "the", "song"), "play", "three")
    edges.add(("play", "the", "song"), "play", "another")
    assert edges.begins(("play", "the", "song", "again")) == ["one", "three", "another"]
    assert edges.begins(("play", "jazz")) == ["one"]
    assert edges.begins(("sing", "the", "song")) == []
    assert edges.load(("play", "the", "song")) == 2


def test_endings_of_several_lengths_are_found() -> None:
    edges: EdgeIndex[str] = EdgeIndex()
    edges.add(("off",), "off", "one")
    edges.add(("lamp", "off"), "off", "two")
    assert edges.ends(("turn", "the", "lamp", "off")) == ["one", "two"]
    assert edges.ends(("turn", "it", "off")) == ["one"]
    assert edges.ends(("off", "it", "goes")) == []


def test_what_was_taken_out_is_not_found_and_the_rest_is() -> None:
    edges: EdgeIndex[str] = EdgeIndex()
    for edge, name in ((("play",), "one"), (("play", "some"), "two"), (("play", "the"), "other two")):
        edges.add(edge, "play", name)
    edges.remove(("play", "some"), "play", "two")
    assert edges.begins(("play", "some", "jazz")) == ["one"]
    assert edges.begins(("play", "the", "tune")) == ["one", "other two"]
    edges.remove(("play", "the"), "play", "other two")
    edges.remove(("play",), "play", "one")
    assert edges.begins(("play", "the", "tune")) == []


def test_many_sentences_with_the_same_beginning_are_distinguished_and_removed() -> None:
    pool = TemplatePool()
    names = [f"w{number}" for number in range(CROWDED * 3)]
    for name in names:
        register(pool, f"a.b:{name}", f"tell me {{what}} about {name} or {{other}}")
    for name in names:
        assert label(ask(pool, f"tell me all about {name} or nothing", floor=1.0)) == f"a.b:{name}"
    for name in names[1:]:
        send(pool, topics.INTENT_DEREGISTER, f"a.b:{name}")
    assert label(ask(pool, f"tell me all about {names[0]} or nothing", floor=1.0)) == f"a.b:{names[0]}"
    assert label(ask(pool, f"tell me all about {names[-1]} or nothing", floor=1.0)) != f"a.b:{names[-1]}"
    send(pool, topics.INTENT_DEREGISTER, f"a.b:{names[0]}")
    assert not pool.scope("default").roots


def test_a_sentence_between_two_slots_is_found_by_its_middle() -> None:
    pool = TemplatePool()
    register(pool, "a.b:same", "{one} sounds like {other}")
    assert label(ask(pool, "night sounds like knight", floor=1.0)) == "a.b:same"
    assert label(ask(pool, "sounds like knight", floor=1.0)) != "a.b:same"
