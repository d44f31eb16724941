"""Vocabularies: resolved when they are needed, once, and refused with the way that led to what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from hark.intents.grammar import (
    MAX_SENTENCES,
    Direction,
    Malformed,
    TemplateError,
    Vocabularies,
    expand,
    parse,
    phrases,
    sentences,
)


def error_of(template: str, vocabularies: dict[str, Sequence[str]]) -> TemplateError:
    with pytest.raises(TemplateError) as error:
        expand(template, vocabularies)
    return error.value


def test_members_are_distinct_and_in_the_order_of_writing() -> None:
    vocabularies = Vocabularies({"color": ["red", "(light|dark) blue", "red", "[dark] red"]})
    assert vocabularies.members("color") == ("red", "light blue", "dark blue", "dark red")


def test_a_function_may_tell_what_there_is() -> None:
    asked = []

    def members(name: str) -> Iterable[str] | None:
        asked.append(name)
        return {"a": ("x", "<b>"), "b": ("y",)}.get(name)

    vocabularies = Vocabularies(members)
    assert expand("<a> <b>", vocabularies) == ("x y", "y y")
    assert expand("<a>", vocabularies) == ("x", "y")
    assert sorted(asked) == ["a", "b"], "each is asked for once"
    with pytest.raises(TemplateError, match="<c> is not known here"):
        expand("<c>", vocabularies)


def test_sentences_and_phrases_know_them_too() -> None:
    known = {"v": ["What's", "who is"]}
    assert sentences("<v> {x}", "en-US", known) == (("what", "is", "{x}"), ("who", "is", "{x}"))
    assert phrases("<v> it", "en-US", known) == ("what is it", "who is it")


def test_one_text_is_one_member() -> None:
    assert expand("<v>", {"v": "red"}) == ("red",)


def test_without_vocabularies_none_is_known() -> None:
    with pytest.raises(TemplateError) as error:
        expand("a <b>")
    assert (error.value.kind, error.value.position) == (Malformed.UNDEFINED_VOCABULARY, 2)


def test_the_chain_to_an_unknown_name_is_reported() -> None:
    error = error_of("x [<a>]", {"a": ["y <b>"], "b": ["<c>"]})
    assert (error.kind, error.position, error.chain) == (Malformed.UNDEFINED_VOCABULARY, 3, ("a", "b", "c"))
    assert "<c> is not known here (asked for by <a> → <b>)" in str(error)


def test_the_cycle_is_reported() -> None:
    error = error_of("<a>", {"a": ["y <b>"], "b": ["z", "<c>"], "c": ["<b>"]})
    assert (error.kind, error.chain) == (Malformed.CYCLIC_VOCABULARY, ("a", "b", "c", "b"))
    assert "<b> → <c> → <b>" in str(error)


def test_two_ways_to_one_vocabulary_are_no_circle() -> None:
    assert expand("<a>", {"a": ["<b> <c>"], "b": ["<d>"], "c": ["<d>"], "d": ["x"]}) == ("x x",)


def test_a_chain_of_names_may_be_long() -> None:
    long = {f"v{n}": [f"<v{n + 1}>"] for n in range(5_000)} | {"v5000": ["end"]}
    assert expand("<v0>", long) == ("end",)


@pytest.mark.parametrize(
    ("members", "kind"),
    [
        (["a (b"], Malformed.UNBALANCED),
        (["a", "b {c}"], Malformed.SLOT_NOT_ALLOWED),
        (["[a]"], Malformed.EMPTY_SAMPLE),
        ([], Malformed.EMPTY_VOCABULARY),
        (["(a|b)" * 30], Malformed.TOO_MANY_SENTENCES),
        ([str(n) for n in range(MAX_SENTENCES + 1)], Malformed.TOO_MANY_SENTENCES),
        (["a|b"], Malformed.PIPE_OUTSIDE_GROUP),
        (["<X>"], Malformed.INVALID_REFERENCE),
    ],
)
def test_a_malformed_member_is_reported_for_its_vocabulary(members: list[str], kind: Malformed) -> None:
    error = error_of("go <v>", {"v": members})
    assert (error.kind, error.position, error.chain) == (kind, 3, ("v",))
    assert "<v>" in error.reason


def test_members_without_a_word_keep_no_slots_apart() -> None:
    template = parse("go {a} <v> {b}")
    template.check({"v": ["and", "then"]})
    with pytest.raises(TemplateError) as error:
        template.check({"v": ["and", "!"]})
    assert (error.value.kind, error.value.position) == (Malformed.ADJACENT_SLOTS, 11)
    parse("go {a} <v> {b}", direction=Direction.OUTPUT).check({"v": ["and", "!"]})


def test_members_count_as_combinations() -> None:
    template = parse("(a|b) <v>")
    assert template.count({"v": ["x", "(y|z)"]}) == 6
    with pytest.raises(TemplateError, match="6 sentences, more than 5"):
        template.samples({"v": ["x", "(y|z)"]}, limit=5)


def test_a_failure_is_not_kept() -> None:
    known: dict[str, list[str]] = {}
    vocabularies = Vocabularies(known)
    with pytest.raises(TemplateError):
        expand("<late>", vocabularies)
    known["late"] = ["now"]
    assert expand("<late>", vocabularies) == ("now",)
