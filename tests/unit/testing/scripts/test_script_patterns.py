"""How what was said is compared with what is written."""

import pytest

from hark.testing.scripts.errors import LineError
from hark.testing.scripts.pattern import Pattern, UserText, plain


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("it is 17:30", "It is 17:30."),
        ("Don't!", "don’t"),  # noqa: RUF001 - the other apostrophe is what this is about
        ("¿qué hora es?", "Qué hora es"),
        ("milk,   bread", "Milk bread"),
        ("straße", "STRASSE"),
        ("* milk *", "Milk."),
        ("* milk *", "There is milk, and bread."),
        ("*", ""),
        ("*", "whatever it is"),
        ("mil*", "milky"),
        ("*day", "Sunday"),
        ("(yes|no), sir", "No, Sir!"),
        ("(a (b|c)|d) e", "a c e"),
        ("[please] help [me]", "help"),
        ("it is [now] five", "it is five"),
        ("it is [now] five", "it is now five"),
        (r"2\*3", "2*3"),
        (r"\(maybe\)", "maybe"),
        (r"\#1", "#1"),
        ("-5 degrees", "-5 degrees"),
        ("5 - 3", "5 3"),
    ],
)
def test_what_is_alike(pattern: str, said: str) -> None:
    assert Pattern(pattern).match(said, {}) == {}


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("it is 17:30", "It is 17 30"),
        ("* milk *", "buttermilk"),
        ("milk", "milk and bread"),
        ("mil*", "milky way"),
        ("(yes|no)", "yes no"),
        ("-5 degrees", "5 degrees"),
        ("twenty-one", "twenty one"),
        ("[please] help", "please"),
    ],
)
def test_what_is_not_alike(pattern: str, said: str) -> None:
    assert Pattern(pattern).match(said, {}) is None


def test_names_capture_words_as_few_as_will_do() -> None:
    captured = Pattern("You can say {first} or {second}.").match('You can say "one more" or "two or three".', {})
    assert captured == {"first": "one more", "second": "two or three"}
    assert Pattern("{hour}:{minute}").match("17:30", {}) == {"hour": "17", "minute": "30"}
    assert Pattern("it is {x}").match("it is", {}) is None


def test_a_name_that_was_captured_is_those_words_and_no_others() -> None:
    assert Pattern("{item} is on the list").match("Oat milk is on the list", {"item": "oat milk"}) == {}
    assert Pattern("{item} is on the list").match("Bread is on the list", {"item": "oat milk"}) is None
    assert Pattern("{x} and {x}").match("one and two", {}) is None
    assert Pattern("{x} and {x}").match("one and one", {}) == {"x": "one"}
    assert Pattern("(about {x}|just {x})").match("just six", {}) == {"x": "six"}


def test_captured_signs_have_no_meaning() -> None:
    assert Pattern("{x}").match("aab", {"x": "a*b"}) is None
    assert Pattern("{x}").match("a*b", {"x": "a*b"}) == {}


def test_words_within_an_answer_are_whole_words() -> None:
    assert Pattern("bread").match("Milk, bread and butter", {}, within=True) == {}
    assert Pattern("read").match("Milk, bread and butter", {}, within=True) is None


@pytest.mark.parametrize(
    ("pattern", "wrong"),
    [
        ("a|b", "outside"),
        ("(a|b", "not closed"),
        ("[a", "not closed"),
        ("a)", "closes nothing"),
        ("(a]", "closes nothing"),
        ("[a|b]", "outside"),
        ("{two words}", "not a name"),
        ("{}", "not a name"),
        ("{a", "stands alone"),
        ("a\\", "stands alone"),
    ],
)
def test_what_cannot_be_read_is_told_with_a_remedy(pattern: str, wrong: str) -> None:
    with pytest.raises(LineError, match=wrong) as raised:
        Pattern(pattern)
    assert "write" in raised.value.remedy


def test_people_say_signs_as_they_are_and_what_was_captured() -> None:
    speech = UserText(r"put {item} on (my) list * \{not this\} \#1")
    assert speech.names == {"item"}
    assert speech.filled({"item": "oat milk"}) == "put oat milk on (my) list * {not this} #1"


@pytest.mark.parametrize("text", ["a { b", "a } b", "{two words}", "{}"])
def test_braces_without_a_name_are_a_mistake(text: str) -> None:
    with pytest.raises(LineError, match="braces"):
        UserText(text)


def test_plain_text_has_nothing_that_does_not_count() -> None:
    assert plain("  «Um 17:30 Uhr»,\tsagte sie … ") == "um 17:30 uhr sagte sie"
