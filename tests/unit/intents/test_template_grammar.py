"""The sentences of templates, malformed templates, and their errors."""

from __future__ import annotations

from itertools import islice

import pytest

from hark.intents import MAX_SENTENCES, TemplateError, expand, phrases, sentences
from hark.intents.grammar import (
    Choice,
    Literal,
    Malformed,
    Odd,
    Reference,
    Sequence,
    Slot,
    is_slot,
    parse,
)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("what time is it", {"what time is it"}),
        (
            "[please] open (the|my) door",
            {"please open the door", "please open my door", "open the door", "open my door"},
        ),
        ("turn [(really|very) ]loud", {"turn loud", "turn really loud", "turn very loud"}),
        ("[a|b] c", {"a c", "b c", "c"}),
        ("[[a] b] c", {"a b c", "b c", "c"}),
        ("(a|b|) (c|) d", {"a c d", "a d", "b c d", "b d", "c d", "d"}),
        ("(a|b) (c|c)", {"a c", "b c"}),
        ("light[s]", {"light", "lights"}),
        ("(on|off) {a} [and {b}]", {"on {a}", "off {a}", "on {a} and {b}", "off {a} and {b}"}),
        ("remind me {{date:when}}", {"remind me {when}"}),
        ("go [{x} now] [{y}]", {"go", "go {y}", "go {x} now", "go {x} now {y}"}),
        ("((a)) b", {"a b"}),
        ("[] x", {"x"}),
        ("say {_a}", {"say {_a}"}),
        ("  a \t b  ", {"a b"}),
        ("at 5:30", {"at 5:30"}),
    ],
)
def test_a_template_stands_for_these_sentences(template: str, expected: set[str]) -> None:
    found = expand(template)
    assert set(found) == expected
    assert len(found) == len(expected)


DEEP = 10_000


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("(" * DEEP + "a|b" + ")" * DEEP + " c", ("a c", "b c")),
        ("[" * DEEP + "a" + "]" * DEEP + " c", ("a c", "c")),
        ("(a " * DEEP + ")" * DEEP, (" ".join(["a"] * DEEP),)),
    ],
)
def test_nesting_can_be_deep(template: str, expected: tuple[str, ...]) -> None:
    assert expand(template) == expected
    assert repr(parse(template).root)


@pytest.mark.parametrize(
    ("template", "kind"),
    [
        ("(" * DEEP, Malformed.UNBALANCED),
        ("a" + ")" * DEEP, Malformed.UNBALANCED),
        ("[a " * DEEP + "]" * DEEP + "b", Malformed.TOO_MANY_SENTENCES),
        ("(a|" * DEEP + "b" + ")" * DEEP, Malformed.TOO_MANY_SENTENCES),
        ("[a " * DEEP + "]" * DEEP, Malformed.EMPTY_SAMPLE),
        ("[a {x} " * DEEP + "]" * DEEP + "b", Malformed.REPEATED_SLOT),
    ],
)
def test_mistakes_in_deep_nesting_are_reported(template: str, kind: Malformed) -> None:
    with pytest.raises(TemplateError) as error:
        expand(template)
    assert error.value.kind is kind
    assert len(str(error.value)) < 1_000


@pytest.mark.parametrize(
    ("template", "position", "reason"),
    [
        ("turn (on|off", 5, "never closed"),
        ("turn [on", 5, "never closed"),
        ("turn on)", 7, "closes nothing"),
        ("(a [b) c]", 5, "closes nothing"),
        ("a } b", 2, "no partner"),
        ("a { b", 2, "no partner"),
        ("a > b", 2, "no partner"),
        ("a < b", 2, "no partner"),
        ("say {{{n}}}", 4, "no partner"),
        ("open () door", 5, "empty"),
        ("open ( ) door", 5, "empty"),
        ("silver|gold", 6, "outside every group"),
        ("say {Name}", 4, "no slot"),
        ("say {a-b}", 4, "no slot"),
        ("say {1a}", 4, "no slot"),
        ("say { n }", 4, "no slot"),
        ("say {}", 4, "no slot"),
        ("say {<color>}", 4, "no slot"),
        ("<Color> car", 0, "no vocabulary name"),
        ("<color> car", 0, "not known here"),
        ("[x]", 0, "empty sentence"),
        ("(|)", 0, "empty sentence"),
        ("[a] [b]", 0, "empty sentence"),
    ],
)
def test_an_error_says_what_is_wrong_and_where(template: str, position: int, reason: str) -> None:
    with pytest.raises(TemplateError, match=reason) as error:
        expand(template)
    assert error.value.position == position
    assert f"column {position + 1}" in str(error.value)
    assert repr(template) in str(error.value)


def test_too_many_sentences_are_refused_before_they_are_made() -> None:
    with pytest.raises(TemplateError, match=f"more than {MAX_SENTENCES}"):
        expand("(a|b)" * 40)


@pytest.mark.parametrize(
    ("template", "position", "reason"),
    [
        ("{name}", 0, "no word beside"),
        ("({a}|{b})", 0, "no word beside"),
        ("go {a} {b}", 7, "no word between"),
        ("{a} [foo] {b}", 10, "no word between"),
        ("go {a}, {b}", 8, "no word between"),
        ("{x} and {date:x}", 8, "twice"),
        ("(?|hello)", 0, "punctuation alone"),
    ],
)
def test_what_is_compared_with_speech_needs_words_around_its_slots(template: str, position: int, reason: str) -> None:
    with pytest.raises(TemplateError, match=reason) as error:
        sentences(template)
    assert error.value.position == position


def test_one_slot_may_stand_in_several_branches() -> None:
    assert sentences("(say {x}|tell {x})") == (("say", "{x}"), ("tell", "{x}"))


def test_a_sentence_that_is_only_a_slot_is_left_out() -> None:
    assert sentences("[please] {x}") == (("please", "{x}"),)


def test_sentences_are_folded_like_speech() -> None:
    assert sentences("What's, the TIME?", "en-GB") == (("what", "is", "the", "time"),)


def test_phrases_have_no_slots() -> None:
    assert phrases("(light|dark) Blue!") == ("light blue", "dark blue")
    with pytest.raises(TemplateError, match="no slot") as error:
        phrases("dim {room}")
    assert error.value.position == 4
    assert error.value.kind is Malformed.SLOT_NOT_ALLOWED


# The template as a thing of its own.


def test_a_template_knows_its_slots_and_vocabularies_in_the_order_of_writing() -> None:
    template = parse("<polite> (set {number:b}|say {{b}}) in [the] {a} with <color> or <polite>")
    assert template.slots == ("b", "a")
    assert template.references == ("polite", "color")


def test_the_tree_can_be_walked() -> None:
    root = parse("turn (on|off) [the] {number:n} <thing>").root
    assert isinstance(root, Sequence)
    turn, on_off, _, the, _, slot, _, thing = root.parts
    assert isinstance(turn, Literal)
    assert (turn.text, turn.position) == ("turn ", 0)
    assert isinstance(on_off, Choice)
    assert [(branch.text, branch.position) for branch in on_off.branches if isinstance(branch, Literal)] == [
        ("on", 6),
        ("off", 9),
    ]
    assert isinstance(the, Choice)
    assert [branch.text for branch in the.branches if isinstance(branch, Literal)] == ["the", ""]
    assert isinstance(slot, Slot)
    assert (slot.name, slot.type, slot.position) == ("n", "number", 20)
    assert isinstance(thing, Reference)
    assert (thing.name, thing.position) == ("thing", 31)


def test_a_node_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        parse("turn on").root.position = 3  # type: ignore[misc]


def test_what_is_odd_is_remarked_with_its_place() -> None:
    template = parse("(please) set [] {datex:when} to ((x))")
    assert [(remark.kind, remark.position) for remark in template.remarks] == [
        (Odd.SINGLE_BRANCH, 0),
        (Odd.EMPTY_OPTIONAL, 13),
        (Odd.UNREGISTERED_TYPE, 16),
        (Odd.SINGLE_BRANCH, 32),
        (Odd.SINGLE_BRANCH, 33),
    ]
    assert parse("[please] set {date:when} (a|b)").remarks == ()


def test_sentences_are_made_as_they_are_asked_for() -> None:
    template = parse("(a|b)" * 40)
    assert template.count() == 2**40
    first = template.samples(limit=None)
    assert list(islice(first, 3)) == ["a" * 40, "a" * 39 + "b", "a" * 38 + "ba"]


def test_a_limit_speaks_up_before_the_first_sentence() -> None:
    with pytest.raises(TemplateError, match=r"1099511627776 sentences, more than 100, which is the limit"):
        parse("(a|b)" * 40).samples(limit=100)


def test_counting_stops_somewhere() -> None:
    assert parse("(a|b)" * 500).count() == 10**18


def test_an_error_can_be_placed_in_a_file() -> None:
    with pytest.raises(TemplateError) as error:
        parse("turn (on")
    placed = error.value.placed(line=7, column=3)
    assert (placed.line, placed.column, placed.kind) == (7, 8, Malformed.UNBALANCED)
    assert (placed.reason, placed.position) == (error.value.reason, 5)
    assert "line 7, column 8" in str(placed)


def test_slots_are_distinguished_from_words() -> None:
    assert [is_slot(word) for word in sentences("play {song}")[0]] == [False, True]


@pytest.mark.parametrize("template", [None, 5, ["a"], b"a"])
def test_only_text_is_a_template(template: object) -> None:
    with pytest.raises(TypeError):
        expand(template)  # type: ignore[arg-type]
