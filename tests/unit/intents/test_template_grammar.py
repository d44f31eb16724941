"""What templates stand for, and what is no template."""

from __future__ import annotations

import pytest

from hark.intents import MAX_SENTENCES, TemplateError, expand, phrases, sentences


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


def test_nesting_can_be_deep() -> None:
    assert expand("(" * 5_000 + "a|b" + ")" * 5_000 + " c") == ("a c", "b c")


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
