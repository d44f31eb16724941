"""The facts the grammar finds without making sentences, against an expander that makes them all."""

from __future__ import annotations

import re
from itertools import islice

import pytest
from hypothesis import given, settings
from second_expander import Refused, second_expand
from template_texts import VOCABULARIES, nested, templates

from hark.intents.grammar import Choice, Direction, Literal, Sequence, TemplateError, expand, has_word, parse

EITHER = pytest.mark.parametrize("direction", list(Direction))


@EITHER
@settings(deadline=None, max_examples=200)
@given(text=templates)
def test_verdict_and_sentences_are_those_of_making_every_sentence(direction: Direction, text: str) -> None:
    try:
        wanted = second_expand(text, VOCABULARIES, spoken=direction is Direction.OUTPUT)
    except Refused:
        with pytest.raises(TemplateError) as error:
            expand(text, VOCABULARIES, direction=direction)
        assert 0 <= error.value.position <= len(text)
        return
    found = expand(text, VOCABULARIES, direction=direction)
    assert set(found) == wanted
    assert len(found) == len(wanted)


@settings(deadline=None, max_examples=150)
@given(text=nested)
def test_there_are_never_more_sentences_than_combinations(text: str) -> None:
    try:
        template = parse(text, direction=Direction.OUTPUT)
        count = template.count(VOCABULARIES)
    except TemplateError:
        return
    samples = list(template.samples(VOCABULARIES))
    assert 1 <= len(samples) <= count
    assert list(islice(template.samples(VOCABULARIES), 3)) == samples[:3]
    if count > 1:
        with pytest.raises(TemplateError, match=f"more than {count - 1}"):
            template.samples(VOCABULARIES, limit=count - 1)
    assert list(template.samples(VOCABULARIES, limit=count)) == samples


@settings(deadline=None, max_examples=150)
@given(text=nested.filter(lambda text: "<" not in text))
def test_a_slot_that_can_be_all_that_is_said_is_known(text: str) -> None:
    try:
        template = parse(text)
    except TemplateError:
        return
    bare = [sample for sample in template.samples() if "{" in sample and not has_word(re.sub(r"\{\w+\}", "", sample))]
    assert (template.bare_slot is not None) == bool(bare)
    assert template.bare_slot is None or any(f"{{{template.bare_slot.name}}}" in sample for sample in bare)


@settings(deadline=None, max_examples=150)
@given(text=templates)
def test_the_tree_says_what_was_written_and_where(text: str) -> None:
    try:
        template = parse(text, direction=Direction.OUTPUT)
    except TemplateError:
        return
    assert template.nodes[-1] is template.root
    known = set()
    for node in template.nodes:
        if isinstance(node, Literal):
            assert text[node.position : node.position + len(node.text)] == node.text
        elif isinstance(node, Sequence):
            assert set(node.parts) <= known
        elif isinstance(node, Choice):
            assert set(node.branches) <= known
            assert len(node.branches) > 1
            assert text[node.position] in "(["
        else:
            assert text[node.position] in "{<"
        known.add(node)
