"""Sentence templates between two formats: nothing is added, and what is lost is told."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hassil.parse_expression import parse_sentence
from hassil.sample import sample_sentence
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hark.intents import TemplateError, expand
from hark.tools.convert.division import (
    ADJACENT,
    GLUED,
    NOTHING,
    REPEATED,
    SLOT_ONLY,
    Division,
    Shapes,
    VocabularyLookup,
    divide,
)
from hark.tools.convert.normal_form import clean, clean_text, trim, without_space_choices
from hark.tools.convert.template import (
    AltItem,
    Item,
    PermItem,
    RefItem,
    Seq,
    SlotItem,
    TextItem,
    UnreadableTemplate,
    options,
    read_hassil,
    read_locale_line,
    render,
    size,
)
from hark.tools.convert.translation import BaseNames, base_name

WORDS = st.sampled_from(["on", "off", "light", "a b", "the"])
SLOTS = st.sampled_from(["{room}", "{name}", "{list:name}"])


def _templates(*, perms: bool, slots: bool) -> st.SearchStrategy[str]:
    atoms = st.one_of(WORDS, SLOTS) if slots else WORDS

    def groups(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        sequences = st.lists(inner, min_size=1, max_size=3)
        kinds = [
            st.builds(" ".join, sequences),
            st.builds(lambda parts: f"({'|'.join(parts)})", st.lists(inner, min_size=2, max_size=3)),
            st.builds(lambda parts: f"[{'|'.join(parts)}]", sequences),
        ]
        if not perms:  # hassil's own sampler and matcher disagree about permutations that are glued to something
            kinds.append(st.builds("".join, sequences))
        else:
            kinds.append(st.builds(lambda parts: f"({';'.join(parts)})", st.lists(inner, min_size=2, max_size=3)))
        return st.one_of(*kinds)

    return st.recursive(atoms, groups, max_leaves=8)


def every(node: Seq | Item) -> Iterator[str]:
    """All sentences of a tree, by brute force, spaces as they come."""
    match node:
        case TextItem(text):
            yield text
        case SlotItem():
            yield render(node)
        case Seq(items):
            for parts in itertools.product(*(list(every(item)) for item in items)):
                yield "".join(parts)
        case AltItem():
            for branch in options(node):
                yield from every(branch)
        case PermItem(members):
            for order in itertools.permutations(members):
                for parts in itertools.product(*(list(every(member)) for member in order)):
                    yield " " + "  ".join(parts) + " "
        case RefItem(name):
            yield f"<{name}>"


def sentences(node: Seq) -> set[str]:
    return {" ".join(sentence.split()) for sentence in every(node)}


def divided(template: str, limit: int = 5_000) -> Division:
    return divide(without_space_choices(trim(clean(read_hassil(template)))), NO_VOCABULARIES, limit)


def _no_shapes(name: str) -> Shapes:
    raise KeyError(name)


NO_VOCABULARIES = VocabularyLookup(lambda name: Seq((TextItem(name),)), _no_shapes, lambda _name: 1)


@given(_templates(perms=True, slots=True))
@settings(max_examples=120, deadline=None)
def test_a_sentence_is_read_as_hassil_reads_it(template: str) -> None:
    assume(size_of(read_hassil(template)) <= 2_000)
    theirs = {
        " ".join(text.split())
        for text in sample_sentence(parse_sentence(template.replace("list:", "")), expand_lists=False)
    }
    assert {text.replace("list:", "") for text in sentences(read_hassil(template))} == theirs


def size_of(tree: Seq) -> int:
    return size(clean(tree), lambda _name: 1)


@given(_templates(perms=True, slots=False))
@settings(max_examples=80, deadline=None)
def test_a_template_without_slots_stands_for_the_same_sentences_afterwards(template: str) -> None:
    assume(size_of(read_hassil(template)) <= 2_000)
    wanted = sentences(read_hassil(template)) - {""}
    assert {text for line in divided(template).lines for text in expand(render(line))} == wanted


@given(_templates(perms=False, slots=True), st.sampled_from([3, 40, 5_000]))
@settings(max_examples=120, deadline=None)
def test_lines_say_exactly_the_sentences_that_can_be_said(template: str, limit: int) -> None:
    tree = read_hassil(template)
    assume(size_of(tree) <= 400)
    division = divided(template, limit)
    said = [set(expand(render(line).replace("list:", ""))) for line in division.lines]
    assert all(len(line) <= limit or size(tree, lambda _name: 1) == 1 for line in said)
    everything = {sentence.replace("list:", "") for sentence in sentences(tree)}
    assert set().union(*said) == {sentence for sentence in everything if _can_be_said(sentence)}
    refused = set().union(*({text.replace("list:", "") for text in sentences(part)} for part, _why in division.refused))
    assert refused == {sentence for sentence in everything if not _can_be_said(sentence)}


def _can_be_said(sentence: str) -> bool:
    glued = any("{" in word and not (word[0] == "{" and word.endswith("}") and word.count("{") == 1)
                for word in sentence.split())  # fmt: skip
    if glued:
        return False
    try:
        expand(sentence)
    except TemplateError:
        return False
    return any(not word.startswith("{") for word in sentence.split())


@pytest.mark.parametrize(
    ("template", "lines"),
    [
        ("turn on [the] {name}", ["turn on [the] {name}"]),
        ("Turn ON, {name}!", ["turn on {name}"]),
        ("<a>", ["<a>"]),
        ("a|b", ["(a|b)"]),
        ("(a b)", ["a b"]),
        ("lights (on;{name})", ["lights (on {name}|{name} on)"]),
        ("{area} [the] {name} on", ["{area} the {name} on"]),
        ("[the] {name}", ["the {name}"]),
        ("{n}[([ ]%)| percent] of [it]", ["{n}[ percent] of [it]"]),
        ("{n}( |-)hour[s] timer", ["{n} hour[s] timer"]),
        ("day[ ]light", ["(day light|daylight)"]),
        ("set {t}[ ](k|kelvin)", ["set {t} (k|kelvin)"]),
        (r"say \(hello\)", ["say hello"]),
        ("what's l\u2019heure", ["what's l'heure"]),
    ],
)
def test_what_a_sentence_becomes(template: str, lines: list[str]) -> None:
    known = VocabularyLookup(
        lambda name: Seq((TextItem(name),)),
        lambda _name: frozenset(divide_shapes("word")),
        lambda _name: 1,
    )
    division = divide(without_space_choices(trim(clean(read_hassil(template)))), known, 5_000)
    assert [render(line) for line in division.lines] == lines


def divide_shapes(text: str) -> Shapes:
    from hark.tools.convert.division import shapes_of

    return shapes_of(TextItem(text), _no_shapes)


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{area} {name} on", ADJACENT),
        ("the {area}s", GLUED),
        ("{name} and {name}", REPEATED),
        ("{name}", SLOT_ONLY),
        ("[hello]", NOTHING),
    ],
)
def test_what_cannot_be_said_is_set_apart_with_its_reason(template: str, reason: str) -> None:
    assert [why for _part, why in divided(template).refused] == [[reason]]


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("(a|b", "never closed"),
        ("a]", "no partner"),
        ("() x", "empty"),
        ("{}", "empty"),
        ("{list:}", "no name"),
        ("a) b", "no partner"),
        ("(a|b;c)", "mixed"),
        ("a > b", "no partner"),
        ("(" * 70 + "a" + ")" * 70, "nested"),
    ],
)
def test_what_is_no_template_is_told(template: str, told: str) -> None:
    with pytest.raises(UnreadableTemplate, match=told):
        read_hassil(template)


def test_a_template_of_too_many_sentences_is_divided_until_it_fits() -> None:
    template = "(a|b|c|d) (e|f|g|h) (i|j|k|l) [m] x"
    lines = [render(line) for line in divided(template, limit=20).lines]
    assert all(len(expand(line)) <= 20 for line in lines)
    assert {text for line in lines for text in expand(line)} == set(expand(template))


def test_a_template_that_takes_hundreds_of_lines_is_refused() -> None:
    division = divided(" ".join(["(a|b|c|d|e|f)"] * 9), limit=100)
    assert division.lines == []
    assert "more than 500 lines" in division.refused[0][1][0]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("", ""),
        (" ", " "),
        ("%", " "),
        ("-hour", " hour"),
        ("1/2", "1/2"),
        ("Ein Großes ", "ein großes "),
        ("'s", "'s"),
    ],
)
def test_signs_at_the_edge_of_a_word_separate(text: str, clean: str) -> None:
    assert clean_text(text) == clean


def test_contractions_of_the_language_are_written_out() -> None:
    assert clean_text("What's the time, it's late", "en") == "what is the time it is late"
    assert clean_text("what's", "fr") == "what's"


def test_names_fit_a_locale_folder_and_never_meet() -> None:
    assert [base_name(name) for name in ("HassTurnOn", "über-all", "3d", "???", "HTTPServer")] == [
        "hass_turn_on", "uber_all", "n_3d", "unnamed", "http_server",
    ]  # fmt: skip
    names = BaseNames()
    assert [names.of("Light"), names.of("light"), names.of("Light"), names.of("light", "other")] == [
        "light", "light_2", "light", "light_3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("template", "tree"),
    [
        ("(a;b)", PermItem((Seq((TextItem("a"),)), Seq((TextItem("b"),))))),
        ("[a;b]", AltItem((Seq((PermItem((Seq((TextItem("a"),)), Seq((TextItem("b"),)))),)),), optional=True)),
        ("(a;b|c)", AltItem((Seq((PermItem((Seq((TextItem("a"),)), Seq((TextItem("b"),)))),)), Seq((TextItem("c"),))))),
        ("{0..100:brightness}", SlotItem("brightness", "0..100")),
        ("{@area}", SlotItem("area")),
        ("<rule>", RefItem("rule")),
    ],
)
def test_what_only_hassil_has_is_read(template: str, tree: Item) -> None:
    assert read_hassil(template) == Seq((tree,))


LOCALE_LINES = ["turn (on|off) [the] {number:room} light[s]", "[a|b] c <d>", "((a|b)|c) x", "[a b|c] d", "word"]


@pytest.mark.parametrize("line", LOCALE_LINES)
def test_a_line_of_a_locale_file_is_read_as_it_is_written(line: str) -> None:
    assert render(read_locale_line(line)) == line


@pytest.mark.parametrize("line", ["(a|b", "a {X}", "a|b", "", "(a|b " * 200 + "c" + ")" * 200])
def test_what_is_no_line_of_a_locale_file_is_told(line: str) -> None:
    with pytest.raises(UnreadableTemplate):
        read_locale_line(line)
