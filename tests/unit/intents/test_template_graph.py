"""Templates as graphs: the same sentences as when they are all made, and never more work than was written."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pools import ask, label, register, slots
from template_texts import VOCABULARIES, nested

from hark.intents import Found, TemplateError, TemplatePool, expand, sentences, words
from hark.intents.grammar import MAX_PLACES, MAX_WORDS, Malformed, build_graph, is_slot, parse
from hark.intents.patterns import SAMPLES, PatternGraph, anchors, compiled, is_always, sampled, slots_of
from hark.intents.patterns.compiled import pick

LANG = "en-US"


def graph_of(text: str) -> PatternGraph:
    """A template as a graph, also one that would be compared as a line."""
    return PatternGraph(text, LANG, build_graph(parse(text), LANG, VOCABULARIES))


def made(text: str) -> set[tuple[str, ...]]:
    """Its sentences, by making them."""
    return set(sentences(text, LANG, VOCABULARIES))


def is_usable(text: str) -> bool:
    try:
        return 0 < len(made(text)) <= 300
    except TemplateError:
        return False


usable = nested.filter(is_usable)


@settings(deadline=None, max_examples=300)
@given(usable)
def test_the_graph_has_exactly_the_sentences_of_the_expansion(text: str) -> None:
    assert set(pick(graph_of(text).graph, 100_000)) == made(text)


@settings(deadline=None, max_examples=300)
@given(usable, st.data())
def test_it_fits_what_a_sentence_of_the_expansion_fits_and_nothing_else(text: str, data: st.DataObject) -> None:
    web, all_sentences = graph_of(text), made(text)
    terms = sorted({term for sentence in all_sentences for term in sentence if not is_slot(term)})
    said = data.draw(st.lists(st.sampled_from([*terms, "zebra"]), min_size=1, max_size=6))
    wanted = {sentence for sentence in all_sentences if _fits(sentence, said)}
    found = web.fitting(said)
    assert set(found) == wanted
    assert len(found) == len(wanted)
    literals = [sum(not is_slot(term) for term in sentence) for sentence in found]
    assert literals == sorted(literals, reverse=True)


def _fits(sentence: tuple[str, ...], said: list[str]) -> bool:
    """The slow way: every division of the words among the terms."""
    if not sentence or not said:
        return not sentence and not said
    if is_slot(sentence[0]):
        return any(_fits(sentence[1:], said[end:]) for end in range(1, len(said) + 1))
    return sentence[0] == said[0] and _fits(sentence[1:], said[1:])


@settings(deadline=None, max_examples=200)
@given(usable)
def test_what_is_said_of_all_sentences_holds_for_each(text: str) -> None:
    web, all_sentences = graph_of(text), made(text)
    for words_of_one in anchors(web):
        assert all(any(word in sentence for word in words_of_one) for sentence in all_sentences)
    named = {term[1:-1] for sentence in all_sentences for term in sentence if is_slot(term)}
    assert set(slots_of(web)) == named
    for name in named:
        assert is_always(name, web) == all(f"{{{name}}}" in sentence for sentence in all_sentences)
    assert {word for word in web.graph.words if web.has(word)} >= {
        term for sentence in all_sentences for term in sentence if not is_slot(term)
    }


@settings(deadline=None, max_examples=100)
@given(st.lists(usable.filter(lambda text: "<" not in text), min_size=1, max_size=4))
def test_samples_are_sentences_and_every_template_has_its_share(texts: list[str]) -> None:
    patterns = [pattern for text in texts if (pattern := compiled(text, LANG)) is not None]
    picked = sampled(patterns)
    assert len(set(picked)) == len(picked) <= SAMPLES + 3, "one more for each slot at most"
    for slot in {term for text in texts for sentence in made(text) for term in sentence if is_slot(term)}:
        assert any(slot in sentence for sentence in picked)
    assert set(picked) <= set().union(*map(made, texts))
    for text in texts:
        assert made(text) & set(picked)


@pytest.mark.parametrize(
    ("text", "fits", "fits_not"),
    [
        ("turn on the light[s]", ("turn on the light", "turn on the lights"), ("turn on the light s",)),
        ("living( |)room", ("living room", "livingroom"), ("living", "room")),
        ("(it|what)'s (on|off)", ("it is on", "what's off"), ("it on", "is on")),
        ("[the ](lamp|light)s on", ("the lamps on", "lights on"), ("the lamp on", "thelamps on")),
        ("(hello,|!|hey) you", ("hello you", "you", "hey you"), ("hello",)),
        ("un(do|lock)(ing|) it", ("undoing it", "unlock it"), ("un do it", "undo ing it")),
    ],
)
def test_parts_that_touch_make_one_word(text: str, fits: tuple[str, ...], fits_not: tuple[str, ...]) -> None:
    web = graph_of(text)
    for said in fits:
        assert web.fitting(words(said, LANG)), said
    for said in fits_not:
        assert not web.fitting(words(said, LANG)), said


def test_a_graph_is_as_large_as_what_was_written() -> None:
    choices = " ".join(f"(a{n}|b{n}|c{n})" for n in range(60))
    optionals = " ".join(f"[d{n}]" for n in range(60))
    graph = build_graph(parse(f"go {choices} {optionals} now"), LANG)
    assert graph.end < 2 * 60 * 2
    steps = sum(len(found) for found in graph.steps())
    assert steps <= 60 * 3 + 60 * 2 + 4


def test_templates_with_more_sentences_than_stars_are_found_at_once() -> None:
    pool = TemplatePool()
    optionals = " ".join(f"[very{n}]" for n in range(200))
    choices = " ".join(f"(a{n}|b{n})" for n in range(100))
    deep = "[" * 400 + "please" + "]" * 400
    assert register(pool, "a.b:many", f"a {optionals} long {{thing}} walk", f"choose {choices}", f"{deep} stop") == []
    assert slots(ask(pool, "a very7 very9 long dark walk")) == {"thing": "dark"}
    said = " ".join(f"{'ab'[n % 2]}{n}" for n in range(100))
    assert label(ask(pool, f"choose {said}")) == "a.b:many"
    assert label(ask(pool, "please stop")) == "a.b:many"
    (intent,) = pool.intents("default")
    assert len(intent.samples) <= SAMPLES


def test_repeated_optionals_are_no_danger() -> None:
    pool = TemplatePool()
    same = "[a] " * 300
    register(pool, "a.b:same", f"{same} b {{x}} {same} c", f"{'[{y} a] ' * 1}{same} d")
    assert label(ask(pool, "a " * 30 + "b " + "a " * 40 + "c")) == "a.b:same"
    assert label(ask(pool, "a " * 50 + "e", floor=1.0)) is None


def test_the_words_of_touching_parts_are_bounded_and_reported() -> None:
    with pytest.raises(TemplateError, match=f"more than {MAX_WORDS} words") as error:
        compiled("(a|b)" * 40, LANG)
    assert error.value.kind is Malformed.TOO_MANY_SENTENCES
    with pytest.raises(TemplateError, match=f"longer than {MAX_PLACES}"):
        compiled("[a] b " * MAX_PLACES, LANG)
    pool = TemplatePool()
    (skipped,) = register(pool, "a.b:some", "(a|b)" * 40, "hello")
    assert "touching parts" in skipped.reason
    assert label(ask(pool, "hello")) == "a.b:some"


def test_the_sentence_with_the_most_words_of_its_own_comes_first() -> None:
    web = graph_of("play ({song}|the {song}|the song {song}) [in {room}]")
    assert [
        " ".join(sentence) for sentence in web.fitting(["play", "the", "song", "of", "bees", "in", "spring"])[:3]
    ] == [
        "play the song {song} in {room}",
        "play the song {song}",
        "play the {song} in {room}",
    ]


def test_samples_do_not_fall_into_step_with_the_choices() -> None:
    names = [f"w{number}" for number in range(8)]
    group = f"({'|'.join(names)})"
    picked = pick(build_graph(parse(f"{group} {group} {group}"), LANG), SAMPLES)
    for place in range(3):
        assert len({sentence[place] for sentence in picked}) == len(names)
    assert len(picked) == SAMPLES
    assert set(picked) < set(product(names, repeat=3))


POOL_WORDS = ("turn", "on", "the", "light", "now", "please")


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.recursive(
            st.sampled_from((*POOL_WORDS, "{room}", "{name}")),
            lambda inner: st.one_of(
                st.lists(inner, min_size=2, max_size=4).map(" ".join),
                st.lists(inner, min_size=2, max_size=3).map(lambda branches: f"({'|'.join(branches)})"),
                inner.map(lambda part: f"[{part}]"),
            ),
            max_leaves=8,
        ).filter(is_usable),
        min_size=1,
        max_size=6,
    ),
    st.data(),
)
def test_the_winner_has_the_most_literal_words_then_registered_first(chosen: list[str], data: st.DataObject) -> None:
    pool = TemplatePool()
    for number, text in enumerate(chosen):
        register(pool, f"s{number}.skill:i", text)
    said = data.draw(st.lists(st.sampled_from((*POOL_WORDS, "zebra")), min_size=1, max_size=6))
    fitting = [
        (-sum(not is_slot(term) for term in sentence), number)
        for number, text in enumerate(chosen)
        for sentence in made(text)
        if _fits(sentence, said)
    ]
    found = ask(pool, " ".join(said), floor=1.0)
    if fitting:
        assert isinstance(found, Found)
        assert found.intent.skill_id == f"s{min(fitting)[1]}.skill"
    else:
        assert isinstance(found, str)


@settings(deadline=None, max_examples=150)
@given(st.lists(usable.filter(lambda text: "<" not in text), min_size=2, max_size=5), st.data())
def test_what_one_intent_alone_says_leads_back_to_it_with_its_slots(texts: list[str], data: st.DataObject) -> None:
    pool = TemplatePool()
    for number, text in enumerate(texts):
        register(pool, f"a.b:i{number}", text)
    mine = data.draw(st.integers(0, len(texts) - 1))
    sentence = data.draw(st.sampled_from(sorted(made(texts[mine]))))
    values = {
        term: " ".join(data.draw(st.lists(st.sampled_from(("kiwi", "42", "jazz")), min_size=1, max_size=3)))
        for term in sentence
        if is_slot(term)
    }
    said = " ".join(values.get(term, term) for term in sentence)
    fitting = {n for n, text in enumerate(texts) for other in made(text) if _fits(other, said.split())}
    found = ask(pool, said, floor=1.0)
    assert isinstance(found, Found)
    assert found.intent.intent_name in {f"i{n}" for n in fitting}
    if fitting == {mine} and len([other for other in made(texts[mine]) if _fits(other, said.split())]) == 1:
        assert found.slots == {term[1:-1]: value for term, value in values.items()}


def test_expanding_is_bounded_as_before() -> None:
    with pytest.raises(TemplateError):
        expand("(a |b )" * 40)
