"""How annotated sentences become templates, and how samples are drawn from them."""

from __future__ import annotations

import pytest

from hark.intents import sentences
from intents.fewshot import Row, draw, plain, rehearse, teach, template, third


def row(text: str, *slots: tuple[str, str], intent: str = "i") -> Row:
    return Row(text, intent, slots)


ROWS = [row(f"sentence {n} of {intent}", intent=intent) for intent in "abcdefghij" for n in range(30)]


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (row("play jazz by nina", ("genre", "jazz"), ("artist", "nina")), "play {genre} by {artist}"),
        (row("add it to my list", ("owner", "my")), "add it to {owner} list"),
        (row("is the is song on", ("track", "the is song")), "is {track} on"),
        (row("play play", ("track", "play")), "{track} play"),
        (row("no slots here"), "no slots here"),
    ],
)
def test_values_become_slots(given: Row, made: str) -> None:
    assert template(given) == made


def test_a_value_is_whole_words() -> None:
    assert template(row("start the art show", ("kind", "art"))) == "start the {kind} show"


def test_of_two_slots_side_by_side_the_longer_value_becomes_the_slot() -> None:
    side_by_side = row("rate the novel deep blue sea 3 stars", ("type", "novel"), ("name", "deep blue sea"), ("n", "3"))
    assert template(side_by_side) == "rate the novel {name} 3 stars"


def test_a_sign_between_two_slots_is_no_word() -> None:
    assert template(row("give it 3 / 6 points", ("value", "3"), ("best", "6"))) == "give it {value} / 6 points"


def test_a_slot_appears_once() -> None:
    assert template(row("from rome or from milan", ("city", "rome"), ("city", "milan"))) == "from {city} or from milan"


def test_a_sentence_of_slots_alone_stays_as_it_was_said() -> None:
    assert template(row("tuesday", ("day", "tuesday"))) == "tuesday"


def test_signs_of_the_grammar_are_taken_out() -> None:
    assert plain("play (the|a) {song} [now]") == "play the a song now"


def test_every_template_is_one_sentence_by_the_grammar() -> None:
    odd = row("play (live) a b c d by e", ("x", "a"), ("y", "b c"), ("z", "d"), ("x", "e"))
    assert sentences(template(odd)) == (("play", "live", "a", "{y}", "d", "by", "{x}"),)


def test_a_seed_draws_the_same_rows_again_and_another_seed_others() -> None:
    assert draw(ROWS, 10, 1) == draw(ROWS, 10, 1)
    assert draw(ROWS, 10, 1) != draw(ROWS, 10, 2)
    assert [len(set(rows)) for rows in draw(ROWS, 10, 1).values()] == [10] * 10


def test_teaching_keeps_the_values_of_the_samples_as_entities() -> None:
    corpus = teach({"i": [row("play jazz", ("genre", "jazz")), row("play soul", ("genre", "soul"))]})
    assert corpus.intents == {"i": ["play {genre}"]}
    assert corpus.entities == {"genre": ["jazz", "soul"]}
    assert corpus.spoken == {"i": ["play jazz", "play soul"]}


def test_a_rehearsal_teaches_nothing_it_asks() -> None:
    drawn = draw(ROWS, 10, 3)
    made = rehearse(drawn, 3)
    taught = {sentence for spoken in made.corpus.spoken.values() for sentence in spoken}
    assert len(made.corpus.intents) == 8
    assert not taught & {question.text for question in (*made.known, *made.foreign)}
    assert {question.intent for question in made.known} == set(made.corpus.intents)
    assert not {question.intent for question in made.foreign} & set(made.corpus.intents)


def test_a_third_is_the_same_third_every_time() -> None:
    assert third(ROWS) == third(ROWS)
    assert len(third(ROWS)) == 100
    assert [question for question in ROWS if question in third(ROWS)] == third(ROWS)
