"""OVOS-INTENT-1: what templates stand for, and what is no template.

Rows about engines are in `test_intent_1_engine.py`, rows about authors in the tests of `hark lint`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from hark.intents import words
from hark.intents.grammar import MAX_SENTENCES, Direction, Malformed, TemplateError, expand, parse, phrases
from hark.intents.locale import Locale, MalformedResource, Renderer, Role, UnfilledSlot, read_lines

VOCABULARIES = {"color": ["red", "(light|dark) blue"], "nest": ["<color> paint"], "one": ["solo"]}
OUT = Direction.OUTPUT


def samples(template: str, direction: Direction = Direction.INPUT) -> set[str]:
    """The sentences of a template, which come without repetition."""
    found = expand(template, VOCABULARIES, direction=direction)
    assert len(found) == len(set(found))
    return set(found)


def refused(template: str, direction: Direction = Direction.INPUT, *, slots: bool = True) -> Malformed:
    """Why a template is refused."""
    with pytest.raises(TemplateError) as error:
        parse(template, direction=direction, slots=slots).check(VOCABULARIES)
    return error.value.kind


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Locale]:
    """Put a file into an English locale, and read that."""

    def write(name: str, text: str) -> Locale:
        path = tmp_path / "locale" / "en-US" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return Locale(tmp_path / "locale")

    return write


Write = Callable[[str, str], Locale]

GOLDEN = [
    (
        "[please] open (the|my) door",
        {"please open the door", "please open my door", "open the door", "open my door"},
    ),
    (
        "(dim|lower) [the] (lamp|blind)[s]",
        {
            f"{a} {b}{c}{d}"
            for a in ("dim", "lower")
            for b in ("the ", "")
            for c in ("lamp", "blind")
            for d in ("s", "")
        },
    ),
    ("turn [(really|very) ]loud", {"turn loud", "turn really loud", "turn very loud"}),
    ("[a|b] c", {"a c", "b c", "c"}),
    ("[[a] b] c", {"a b c", "b c", "c"}),
    ("(a|b|) (c|) d", {"a c d", "a d", "b c d", "b d", "c d", "d"}),
    ("<nest>", {"red paint", "light blue paint", "dark blue paint"}),
    ("<one> way", {"solo way"}),
    ("(on|off) {a} [and {b}]", {"on {a}", "off {a}", "on {a} and {b}", "off {a} and {b}"}),
    ("remind me {{date:when}}", {"remind me {when}"}),
    ("go [{x} now] [{y}]", {"go", "go {y}", "go {x} now", "go {x} now {y}"}),
    ("((a)) b", {"a b"}),
    ("[] x", {"x"}),
    ("say {_a}", {"say {_a}"}),
    ("(say {x}|tell {x})", {"say {x}", "tell {x}"}),
]

MALFORMED = [
    ("{a} [foo] {b}", Malformed.ADJACENT_SLOTS),
    ("go [{x}] [now] [{y}]", Malformed.ADJACENT_SLOTS),
    ("{x} and {date:x}", Malformed.REPEATED_SLOT),
    ("() x", Malformed.EMPTY_GROUP),
    ("a|b", Malformed.PIPE_OUTSIDE_GROUP),
    ("({a}|{b})", Malformed.SLOT_ONLY),
    ("x {Date:when}", Malformed.INVALID_SLOT),
]


@pytest.mark.spec("INTENT-1/4.a")
@pytest.mark.spec("INTENT-1/7.e")
@pytest.mark.parametrize(("template", "expected"), GOLDEN)
def test_the_worked_examples_stand_for_these_sentences(template: str, expected: set[str]) -> None:
    assert samples(template) == expected


@pytest.mark.spec("INTENT-1/4.a")
@pytest.mark.spec("INTENT-1/7.e")
@pytest.mark.parametrize(("template", "kind"), MALFORMED)
def test_the_worked_examples_that_are_malformed(template: str, kind: Malformed) -> None:
    assert refused(template) is kind


# §1 and §2: roles and text.


@pytest.mark.spec("INTENT-1/1.1.a")
@pytest.mark.parametrize("role", [Role.ENTITY, Role.VOCABULARY, Role.BLACKLIST])
def test_roles_without_slots_refuse_them(write: Write, role: Role) -> None:
    locale = write(f"x{role.value}", "one\none {x}\n")
    with pytest.raises(MalformedResource, match="no slot") as error:
        locale.language("en-US").samples(role, "x")
    assert (error.value.line, error.value.column) == (2, 5)


@pytest.mark.spec("INTENT-1/2.a")
def test_text_is_brought_into_its_normal_form_before_it_is_compared() -> None:
    assert words("Turn ON: the (light)!") == ["turn", "on", "the", "light"]
    assert words("  [what]  <is>  {it} | now;  ") == ["what", "is", "it", "now"]


@pytest.mark.spec("INTENT-1/2.d")
@pytest.mark.parametrize("template", [r"say \( now", r"say \{ now", r"say \| now", r"say \< now", r"a \] b"])
def test_nothing_can_be_escaped(template: str) -> None:
    assert refused(template) in (Malformed.UNBALANCED, Malformed.PIPE_OUTSIDE_GROUP)


@pytest.mark.spec("INTENT-1/2.d")
def test_a_backslash_is_a_backslash() -> None:
    assert samples(r"a\(b|c)", OUT) == {r"a\b", r"a\c"}


@pytest.mark.spec("INTENT-1/2.e")
def test_what_is_spoken_may_have_capitals_and_punctuation() -> None:
    assert samples("It's {temp}°, {cond}!", OUT) == {"It's {temp}°, {cond}!"}


# §3.2 and §3.3: groups and what may be left out.


@pytest.mark.spec("INTENT-1/3.2.a")
def test_every_combination_takes_one_branch_of_each_group() -> None:
    assert samples("(a|b|) (c|) d") == {"a c d", "a d", "b c d", "b d", "c d", "d"}
    assert samples("x (a||b) y") == {"x a y", "x y", "x b y"}


@pytest.mark.spec("INTENT-1/3.2.c")
def test_an_empty_branch_leaves_no_double_space() -> None:
    assert samples("(|please) stop") == {"stop", "please stop"}
    assert samples("a ( |b) c") == {"a c", "a b c"}


@pytest.mark.spec("INTENT-1/3.3.a")
@pytest.mark.parametrize(
    ("optional", "group"), [("a [b] c", "a (b|) c"), ("[a|b] c", "(a|b|) c"), ("[] x", "(|) x"), ("x[[s]]", "x((s|)|)")]
)
def test_what_may_be_left_out_is_a_group_with_an_empty_branch(optional: str, group: str) -> None:
    assert samples(optional) == samples(group)


# §3.4: slots.


@pytest.mark.spec("INTENT-1/3.4.a")
def test_single_and_double_braces_are_the_same_slot() -> None:
    assert samples("say {n}") == samples("say {{n}}") == {"say {n}"}
    assert parse("say {{n}}").slots == ("n",)
    assert refused("say {n} and {{n}}") is Malformed.REPEATED_SLOT


@pytest.mark.spec("INTENT-1/3.4.b")
@pytest.mark.parametrize("template", ["say {{{n}}}", "say {{n}", "say {n}}", "say {{}}"])
def test_doubled_braces_are_no_escape(template: str) -> None:
    assert refused(template) in (Malformed.UNBALANCED, Malformed.INVALID_SLOT)


@pytest.mark.spec("INTENT-1/3.4.c")
@pytest.mark.parametrize("name", ["Name", "a-b", "ä", "a.b", "", "a:b:c", ":a", "a:"])
def test_a_slot_has_a_plain_name(name: str) -> None:
    assert refused(f"say {{{name}}}") is Malformed.INVALID_SLOT


@pytest.mark.spec("INTENT-1/3.4.d")
def test_a_slot_name_begins_with_no_digit() -> None:
    assert refused("say {1a}") is Malformed.INVALID_SLOT
    assert samples("say {a1}") == {"say {a1}"}


@pytest.mark.spec("INTENT-1/3.4.e")
@pytest.mark.parametrize("slot", ["{ n }", "{n }", "{date: n}", "{{ n }}", "{a b}", "{n\t}"])
def test_there_is_no_space_within_braces(slot: str) -> None:
    assert refused(f"say {slot}") is Malformed.INVALID_SLOT


@pytest.mark.spec("INTENT-1/3.4.f")
def test_a_slot_may_stand_within_a_group() -> None:
    assert samples("[{x}] go") == {"{x} go", "go"}
    assert samples("go (to {x}|home)") == {"go to {x}", "go home"}


@pytest.mark.spec("INTENT-1/3.4.g")
@pytest.mark.parametrize("kind", ["number", "duration", "date", "color", "language", "location", "timezone"])
def test_a_type_is_no_part_of_the_name(kind: str) -> None:
    template = parse(f"remind me {{{kind}:when}}")
    assert template.slots == ("when",)
    assert template.remarks == ()


@pytest.mark.spec("INTENT-1/3.4.h")
@pytest.mark.spec("INTENT-1/7.a")
@pytest.mark.parametrize("kind", ["date", "pizza", "x9_"])
def test_whatever_the_type_the_slot_remains(kind: str) -> None:
    assert samples(f"remind me {{{kind}:when}}") == {"remind me {when}"}


@pytest.mark.spec("INTENT-1/3.5.a")
def test_groups_nest_as_deep_as_anybody_likes() -> None:
    assert len(samples("((((a|b)|c)|d)|e) x")) == 5
    assert samples("[x " * 2_000 + "]" * 2_000 + "y") == {" ".join(["x"] * n + ["y"]) for n in range(2_001)}


# §3.6: malformed forms.


@pytest.mark.spec("INTENT-1/3.6.a")
@pytest.mark.parametrize("sign", "()[]{}<>")
@pytest.mark.parametrize("direction", list(Direction))
def test_brackets_come_in_pairs(sign: str, direction: Direction) -> None:
    assert refused(f"turn {sign} on", direction) is Malformed.UNBALANCED


@pytest.mark.spec("INTENT-1/3.6.a")
def test_brackets_do_not_cross() -> None:
    assert refused("(a [b) c]") is Malformed.UNBALANCED


@pytest.mark.spec("INTENT-1/3.6.b")
@pytest.mark.parametrize("template", ["() x", "( ) x", "(()) x", "[()] x", "a (b|()) c"])
def test_a_group_is_not_empty(template: str) -> None:
    assert refused(template) is Malformed.EMPTY_GROUP
    assert refused(template, OUT) is Malformed.EMPTY_GROUP


@pytest.mark.spec("INTENT-1/3.6.c")
@pytest.mark.parametrize("template", ["[x]", "(|)", "[a] [b]", "", "  ", "[{x}]", "(a|[b])"])
def test_no_sentence_is_empty(template: str) -> None:
    assert refused(template) is Malformed.EMPTY_SAMPLE
    assert refused(template, OUT) is Malformed.EMPTY_SAMPLE


@pytest.mark.spec("INTENT-1/3.6.c")
def test_part_of_a_sentence_may_be_left_out() -> None:
    assert samples("x [y]") == {"x", "x y"}


@pytest.mark.spec("INTENT-1/3.6.d")
@pytest.mark.parametrize("template", ["{n}", "{{n}}", " {n} ", "{date:n}", "({a}|{b})", "({n})"])
def test_what_is_compared_with_speech_is_more_than_a_slot(template: str) -> None:
    assert refused(template) is Malformed.SLOT_ONLY


@pytest.mark.spec("INTENT-1/3.6.e")
def test_what_is_spoken_may_be_a_slot_alone(write: Write) -> None:
    assert samples("{day}", OUT) == {"{day}"}
    assert Renderer(write("today.dialog", "{day}\n")).render("today", "en-US", {"day": "Monday"}).text == "Monday"


@pytest.mark.spec("INTENT-1/3.6.f")
@pytest.mark.parametrize(
    "template", ["{a}{b}", "{a} {b}", "x {a} [foo] {b}", "go [{x}] [now] [{y}]", "go ({a}|b) {c}", "go {a}, {b}"]
)
def test_a_word_stands_between_two_slots_of_every_sentence(template: str) -> None:
    assert refused(template) is Malformed.ADJACENT_SLOTS


@pytest.mark.spec("INTENT-1/3.6.g")
def test_what_is_spoken_may_have_slots_side_by_side(write: Write) -> None:
    assert samples("{speed} {unit}", OUT) == {"{speed} {unit}"}
    locale = write("speed.dialog", "{speed} {unit}\n")
    assert Renderer(locale).render("speed", "en-US", {"speed": 50, "unit": "mph"}).text == "50 mph"


@pytest.mark.spec("INTENT-1/3.6.h")
@pytest.mark.parametrize("template", ["{x} and {x}", "{x} and {date:x}", "{x} and {{x}}", "a [{x}] b [(c {x}|d)]"])
@pytest.mark.parametrize("direction", list(Direction))
def test_a_sentence_has_a_slot_once(template: str, direction: Direction) -> None:
    assert refused(template, direction) is Malformed.REPEATED_SLOT


@pytest.mark.spec("INTENT-1/3.6.i")
def test_a_vocabulary_has_to_be_there() -> None:
    assert refused("<nope> x") is Malformed.UNDEFINED_VOCABULARY
    assert refused("x [<nope>]", OUT) is Malformed.UNDEFINED_VOCABULARY


@pytest.mark.spec("INTENT-1/3.6.j")
@pytest.mark.parametrize(
    "vocabularies",
    [{"a": ["<b>"], "b": ["<a>"]}, {"a": ["<a>"]}, {"a": ["x", "y [<b>]"], "b": ["<c>"], "c": ["z", "<b>"]}],
)
def test_a_vocabulary_does_not_need_itself(vocabularies: dict[str, list[str]]) -> None:
    with pytest.raises(TemplateError) as error:
        expand("<a> x", vocabularies)
    assert error.value.kind is Malformed.CYCLIC_VOCABULARY
    assert error.value.chain[0] == "a"
    assert error.value.chain[-1] in error.value.chain[:-1]


@pytest.mark.spec("INTENT-1/3.6.k")
@pytest.mark.parametrize("template", ["a|b", "a|b (c|d)", "(c|d) a|b", "|"])
@pytest.mark.parametrize("direction", list(Direction))
def test_branches_are_within_a_group(template: str, direction: Direction) -> None:
    assert refused(template, direction) is Malformed.PIPE_OUTSIDE_GROUP


@pytest.mark.spec("INTENT-1/3.6.l")
@pytest.mark.spec("INTENT-1/3.6.m")
@pytest.mark.spec("INTENT-1/3.7.a")
@pytest.mark.parametrize("reference", ["<Color>", "<1a>", "<a b>", "<>", "< a>", "<a|b>", "<a-b>"])
def test_what_is_no_name_is_refused_as_that(reference: str) -> None:
    assert refused(f"x {reference}") is Malformed.INVALID_REFERENCE


@pytest.mark.spec("INTENT-1/3.6.n")
def test_a_group_of_one_is_its_branch() -> None:
    assert samples("(word) x") == {"word x"}


@pytest.mark.spec("INTENT-1/3.6.o")
def test_each_group_of_one_is_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "hark.intents"):
        expand("((log)) once (and) again")
    assert len([record for record in caplog.records if "group of one" in record.message]) == 3


@pytest.mark.spec("INTENT-1/3.6.p")
def test_a_type_nobody_registered_is_dropped() -> None:
    assert samples("remind me {datex:when}") == {"remind me {when}"}


@pytest.mark.spec("INTENT-1/3.6.q")
def test_a_type_nobody_registered_is_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "hark.intents"):
        expand("log the type {momentx:when}")  # once for each type: another test has the other one
    assert [record.message for record in caplog.records if "'momentx'" in record.message]


@pytest.mark.spec("INTENT-1/3.6.r")
def test_adjacency_is_found_where_nobody_could_expand() -> None:
    long = "[a] " * 60
    assert refused(f"{long}{{x}} {long}{{y}}") is Malformed.ADJACENT_SLOTS
    assert parse(f"{long}{{x}} {long}then {long}{{y}}").count() == 10**18


@pytest.mark.spec("INTENT-1/3.6.s")
def test_comments_and_blank_lines_are_no_templates(tmp_path: Path) -> None:
    path = tmp_path / "x.voc"
    path.write_text("# (not a template\n\n  yes\n   # nor ( this\n", "utf-8")
    assert [(line.number, line.column, line.text) for line in read_lines(path)] == [(3, 3, "yes")]


# §3.7: vocabularies.


@pytest.mark.spec("INTENT-1/3.7.b")
def test_vocabularies_may_name_vocabularies() -> None:
    assert samples("buy <nest>") == {"buy red paint", "buy light blue paint", "buy dark blue paint"}


@pytest.mark.spec("INTENT-1/3.7.c")
def test_a_vocabulary_may_stand_wherever_a_word_may() -> None:
    assert samples("[<color>] car") == {"car", "red car", "light blue car", "dark blue car"}
    assert samples("(<one>|two) cars") == {"solo cars", "two cars"}


@pytest.mark.spec("INTENT-1/3.7.d")
def test_no_vocabulary_stands_within_a_slot() -> None:
    assert refused("say {<color>}") is Malformed.INVALID_SLOT


@pytest.mark.spec("INTENT-1/3.7.e")
def test_vocabularies_have_no_slots() -> None:
    with pytest.raises(TemplateError) as error:
        expand("x <v>", {"v": ["a {b}"]})
    assert error.value.kind is Malformed.SLOT_NOT_ALLOWED


@pytest.mark.spec("INTENT-1/4.1.a")
def test_a_vocabulary_stands_for_a_group_of_its_members() -> None:
    assert samples("<color> car") == samples("(red|light blue|dark blue) car")
    assert set(expand("x<v>y", {"v": [" [a] b "]})) == {"xa by", "xby"}, "members are complete before they are put in"


# §4: expansion.


@pytest.mark.spec("INTENT-1/4.1.b")
def test_no_sentence_has_spaces_to_spare() -> None:
    assert samples("  a  [b]   c\td  ") == {"a b c d", "a c d"}


@pytest.mark.spec("INTENT-1/4.1.c")
def test_sentences_are_distinct() -> None:
    assert sorted(expand("(a|b) (c|c)")) == ["a c", "b c"]
    assert sorted(expand("[a] [a] b")) == ["a a b", "a b", "b"]


@pytest.mark.spec("INTENT-1/4.1.d")
def test_a_slot_stays_a_slot() -> None:
    assert samples("(find|search) {query} [now]") == {
        f"{a} {{query}}{b}" for a in ("find", "search") for b in ("", " now")
    }


@pytest.mark.spec("INTENT-1/4.1.e")
def test_types_make_no_difference_to_the_sentences() -> None:
    assert samples("in {duration:t} [at {place}]") == samples("in {t} [at {{location:place}}]")
    assert not any(":" in sample for sample in samples("in {duration:t}"))


@pytest.mark.spec("INTENT-1/4.3.b")
def test_what_is_too_big_is_refused_at_once() -> None:
    with pytest.raises(TemplateError) as error:
        expand("(a|b)" * 40)
    assert error.value.kind is Malformed.TOO_MANY_SENTENCES


@pytest.mark.spec("INTENT-1/4.3.c")
def test_the_limit_is_written_down_and_told() -> None:
    with pytest.raises(TemplateError, match=f"more than {MAX_SENTENCES}, which is the limit"):
        expand("(a|b)" * 40)
    page = Path(__file__).parent.parent.parent / "docs" / "lint.md"
    assert f"{MAX_SENTENCES:,} sentences" in page.read_text("utf-8")


# §5: what is spoken.


@pytest.mark.spec("INTENT-1/5.1.b")
@pytest.mark.spec("INTENT-1/5.1.c")
def test_a_phrase_without_a_value_for_its_slot_is_not_spoken(write: Write) -> None:
    renderer = Renderer(write("hi.dialog", "Hi {who}\n"))
    assert renderer.render("hi", "en-US", {"who": "Ann"}).text == "Hi Ann"
    with pytest.raises(UnfilledSlot, match="who"):
        renderer.render("hi", "en-US", {})


@pytest.mark.spec("INTENT-1/5.5.b")
@pytest.mark.spec("INTENT-1/7.d")
@pytest.mark.parametrize("text", ["Hi {a}\nBye\n", "Hi {a}\nHi {b}\n", "Hi\nHi {a}\n"])
def test_the_phrases_of_a_dialog_have_the_same_slots(write: Write, text: str) -> None:
    with pytest.raises(MalformedResource, match="same slots") as error:
        Renderer(write("hi.dialog", text)).render("hi", "en-US", {"a": 1, "b": 2})
    assert error.value.line == 2


@pytest.mark.spec("INTENT-1/5.5.c")
@pytest.mark.spec("INTENT-1/7.d")
def test_slots_that_may_be_left_out_count_and_types_do_not(write: Write) -> None:
    locale = write("hi.dialog", "say {x}\nsay [{x}]\nsay {number:x}\n")
    assert Renderer(locale).render("hi", "en-US", {"x": "ten"}).text in ("say ten", "say")


@pytest.mark.spec("INTENT-1/5.5.d")
@pytest.mark.spec("INTENT-1/5.5.e")
def test_the_templates_of_an_intent_may_have_different_slots(write: Write) -> None:
    language = write("play.intent", "play {q}\nplay {q} on {e}\n").language("en-US")
    assert language.samples(Role.INTENT, "play") == ("play {q}", "play {q} on {e}")


@pytest.mark.spec("INTENT-1/7.f")
def test_who_needs_no_slots_needs_no_more_than_the_expander() -> None:
    assert phrases("(light|dark) blue") == ("light blue", "dark blue")
    assert set(expand("[<color>] car", VOCABULARIES)) == {"car", "red car", "light blue car", "dark blue car"}
