"""What holds for every template, found out by chance."""

from __future__ import annotations

import re
from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hark.intents.grammar import Direction, TemplateError, Vocabularies, parse
from hark.intents.locale.locale import inlined
from hark.intents.locale.renderer import phrase
from hark.skills.definitions import always_there

WORDS = st.sampled_from(["red", "blue", "very", "on"])
SLOTS = st.sampled_from(["{a}", "{b}", "{c}", "{d}", "{{e}}", "{{f}}", "{number:g}", "{date:h}"])


def templates(leaves: st.SearchStrategy[str], size: int = 5) -> st.SearchStrategy[str]:
    """Templates of some depth."""

    def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        parts = st.lists(inner, min_size=1, max_size=3)
        return parts.map(" ".join) | parts.map(lambda branches: f"({'|'.join(branches)})") | inner.map("[{}]".format)

    # With a word, because what can be left out altogether is no template.
    return st.recursive(leaves, grown, max_leaves=size).map("go {}".format)


def members(*names: str) -> st.SearchStrategy[list[str]]:
    """The templates of a vocabulary that may refer to these."""
    return st.lists(templates(st.one_of(WORDS, *map(st.just, names)), 2), min_size=1, max_size=2)


VOCABULARIES = st.fixed_dictionaries({"u": members(), "v": members("<u>"), "w": members("<u>", "<v>")})


@settings(deadline=None)
@given(VOCABULARIES, templates(WORDS | st.sampled_from(["<u>", "<v>", "<w>"]), 3))
def test_a_template_with_its_vocabularies_put_in_stands_for_the_same(known: dict[str, list[str]], text: str) -> None:
    try:
        wanted = set(parse(text).samples(known))
    except TemplateError:
        assume(False)
    assert set(parse(inlined(text, known.__getitem__)).samples()) == wanted


@settings(deadline=None)
@given(templates(WORDS | SLOTS), st.sets(st.sampled_from("abcdefgh"), max_size=3), st.integers())
def test_what_is_said_is_one_of_the_sentences_without_what_is_to_be_left_out(
    text: str, left_out: set[str], seed: int
) -> None:
    try:
        template = parse(text, direction=Direction.OUTPUT)
        possible = {sample for sample in template.samples() if not left_out & slots_in(sample)}
    except TemplateError:
        assume(False)
    said = phrase(template, Vocabularies(), Random(seed), left_out)
    assert said in possible or (said is None and not possible)


@settings(deadline=None)
@given(templates(WORDS | SLOTS))
def test_the_slots_that_are_always_there_are_those_of_every_sentence(text: str) -> None:
    try:
        template = parse(text, direction=Direction.OUTPUT)
        samples = list(template.samples())
    except TemplateError:
        assume(False)
    assert always_there(template) == set.intersection(*map(slots_in, samples))


def slots_in(sample: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", sample))
