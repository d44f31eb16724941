"""The calculator skill: sums, units, and utterances that are neither."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hark.builtin import CalculatorSkill
from hark.builtin.skills.calculator.arithmetic import UNITS, Different, TooBig, Unclear, converted, evaluate
from hark.builtin.skills.calculator.calculator import SIGNS, Quantity, Reader
from hark.builtin.skills.spoken_numbers import number, number_in, spoken
from hark.builtin.skills.tables import groups, read_table
from hark.intents.locale import Role
from hark.testing import Assistant

LANGS = ("de-DE", "en-US", "es-ES", "fr-FR", "it-IT", "pt-PT")
NAMES = Path(CalculatorSkill.locale_dir or "").parent / "names"


def reader(lang: str = "en-US") -> Reader:
    return Reader(CalculatorSkill.locale, lang)


def result(text: str, lang: str = "en-US") -> Fraction:
    tokens = reader(lang).sum(text)
    assert tokens is not None, text
    return evaluate(tokens)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 + 2", 4),
        ("2+2*3", 8),
        ("(2+2)*3", 12),
        ("what is 2 plus 3 times 4?", 14),
        ("10-3-2", 5),
        ("10 - -3", 13),
        ("-5 + 2", -3),
        ("3x4", 12),
        ("3 × 4 ÷ 2", 6),  # noqa: RUF001
        ("2 to the power of 10", 1024),
        ("2^3^2", 512),
        ("4 squared", 16),
        ("the square root of 16 plus 1", 5),
        ("√16", 4),
        ("20% of 150", 30),
        ("15 percent of 80", 12),
        ("50%*4", 2),
        ("0.1 + 0.2", Fraction(3, 10)),
        ("1,000 + 1", 1001),
        ("7 / 2 =", Fraction(7, 2)),
        ("-2^2", -4),
    ],
)
def test_a_sum_is_worked_out(text: str, value: Fraction | int) -> None:
    assert result(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "7", "what is love", "2 plus apples", "plus plus", "the plus", "import os", "2 + __import__", "x" * 300],
)
def test_what_is_no_sum_is_none(text: str) -> None:
    tokens = reader().sum(text)
    if tokens is not None:
        with pytest.raises(Unclear):
            evaluate(tokens)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("5 / 0", ZeroDivisionError),
        ("0 ^ -1", ZeroDivisionError),
        ("9 ^ 9 ^ 9", TooBig),
        ("2 ^ 0.3", Unclear),
        ("√ -4", Unclear),
        ("2 + (3", None),
        ("2 + ) 3", Unclear),
        ("2 +", Unclear),
        ("(" * 60 + "1 + 1", TooBig),
    ],
)
def test_sums_that_cannot_be_evaluated_raise_different_errors(text: str, problem: type[Exception] | None) -> None:
    if problem is None:
        assert result(text) == 5  # who speaks closes no brackets
        return
    with pytest.raises(problem):
        result(text)


@given(st.lists(st.one_of(st.integers(-99, 99).map(Fraction), st.sampled_from("+-*/^r%()")), max_size=12))
def test_any_row_of_numbers_and_signs_has_a_result_or_a_reason(tokens: list[Fraction | str]) -> None:
    with suppress(Unclear, TooBig, ZeroDivisionError):
        assert isinstance(evaluate(tokens), Fraction)


@given(st.text(max_size=60), st.sampled_from(LANGS))
def test_any_text_is_a_question_for_it_or_not(text: str, lang: str) -> None:
    skill = CalculatorSkill()
    said = skill.answer(text, lang)
    if said is not None:
        assert skill.dialogs.render(said.dialog, lang, said.values).text


@pytest.mark.parametrize(
    ("text", "lang", "value"),
    [
        ("what is twenty one plus five", "en-US", 26),
        ("was ist einundzwanzig mal zwei", "de-DE", 42),
        ("cuánto es veintiuno más dos", "es-ES", 23),
        ("combien font vingt et un moins deux", "fr-FR", 19),
        ("quanto fa ventuno diviso tre", "it-IT", 7),
        ("quanto é vinte e um vezes dois", "pt-PT", 42),
    ],
)
def test_numbers_may_be_words(text: str, lang: str, value: int) -> None:
    assert result(text, lang) == value


@pytest.mark.parametrize(
    ("amount", "source", "target", "value"),
    [
        (1, "mile", "kilometre", "1.609344"),
        (1, "foot", "inch", "12"),
        (1, "stone", "pound", "14"),
        (1, "gallon", "pint", "8"),
        (100, "celsius", "fahrenheit", "212"),
        (-40, "fahrenheit", "celsius", "-40"),
        (0, "kelvin", "celsius", "-273.15"),
        (36, "kilometre_per_hour", "metre_per_second", "10"),
        (1, "knot", "kilometre_per_hour", "1.852"),
        (8, "megabit", "megabyte", "1"),
        (1, "gibibyte", "mebibyte", "1024"),
        (1, "week", "hour", "168"),
        (1, "cubic_metre", "litre", "1000"),
    ],
)
def test_a_unit_is_turned_into_another(amount: int, source: str, target: str, value: str) -> None:
    assert converted(Fraction(amount), source, target) == Fraction(value)
    assert converted(Fraction(value), target, source) == amount


def test_units_of_different_things_are_not_turned_into_each_other() -> None:
    with pytest.raises(Different):
        converted(Fraction(1), "mile", "kilogram")


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("5 miles", (5, "mile")),
        ("5km", (5, "kilometre")),
        ("a mile", (1, "mile")),
        ("20°C", (20, "celsius")),
        ("100 km/h", (100, "kilometre_per_hour")),
        ("2 nautical miles", (2, "nautical_mile")),
        ("2 hours and 30 minutes", (Fraction(5, 2), "hour")),
        ("5 feet 6 inches", (Fraction(11, 2), "foot")),
        ("5 feet 6", (Fraction(11, 2), "foot")),
        ("5 feet 6 kilos", None),
        ("5 apples", None),
        ("3 celsius 4 celsius", None),
        ("miles 5", None),
        ("", None),
    ],
)
def test_a_quantity_is_read(text: str, quantity: tuple[Fraction, str] | None) -> None:
    assert reader().quantity(text) == (None if quantity is None else Quantity(Fraction(quantity[0]), quantity[1]))


@pytest.mark.parametrize(
    ("lang", "text", "result"),
    [
        ("en-US", "subtract 18 from 50", 32),
        ("en-US", "add 15 and 27", 42),
        ("en-US", "if i split 86 dollars between 4 people how much is that each", Fraction(43, 2)),
        ("de-DE", "ziehe 18 von 50 ab", 32),
        ("es-ES", "resta 18 de 50", 32),
        ("fr-FR", "soustrais 18 de 50", 32),
        ("it-IT", "sottrai 18 da 50", 32),
        ("pt-PT", "subtrai 18 de 50", 32),
    ],
)
def test_the_sign_may_stand_before_the_numbers(lang: str, text: str, result: Fraction) -> None:
    tokens = reader(lang).sum(text)
    assert tokens is not None
    assert evaluate(tokens) == result


@pytest.mark.parametrize("lang", LANGS)
def test_every_language_has_words_for_all_units_and_signs(lang: str) -> None:
    forms = read_table(NAMES / lang / "units.txt")
    assert forms.keys() == UNITS.keys()
    assert all(len(words) >= 2 for words in forms.values())
    assert groups(CalculatorSkill.locale, "operator", lang).keys() == SIGNS.keys()
    around = {"opener", "into", "one", "both", "dropped", "multiply", "divide", "by", "forms"}
    assert around == read_table(NAMES / lang / "around.txt").keys()


@pytest.mark.parametrize("lang", LANGS)
def test_no_word_means_two_units_and_all_of_them_are_in_the_vocabulary(lang: str) -> None:
    meanings: dict[str, set[str]] = {}
    for unit, words in read_table(NAMES / lang / "units.txt").items():
        for word in words:
            meanings.setdefault(word.casefold(), set()).add(unit)
    assert {word: units for word, units in meanings.items() if len(units) > 1} == {}
    vocabulary = CalculatorSkill.locale.language(lang).samples(Role.VOCABULARY, "unit")
    assert {word.casefold() for word in vocabulary} == meanings.keys()


@pytest.mark.parametrize(
    ("value", "lang", "text", "is_exact"),
    [
        (Fraction(5), "de-DE", "5", True),
        (Fraction(-5, 2), "de-DE", "-2,5", True),
        (Fraction(5, 2), "en-US", "2.5", True),
        (Fraction(5, 2), "es-MX", "2.5", True),
        (Fraction(1, 3), "fr-FR", "0,333333", False),
        (Fraction(1, 20), "xx", "0.05", True),
        (Fraction(0), "pt-PT", "0", True),
        (Fraction(-1, 10**9), "en-US", "0", False),
    ],
)
def test_numbers_are_written_as_the_language_does(value: Fraction, lang: str, text: str, is_exact: bool) -> None:
    assert spoken(value, lang) == (text, is_exact)


def test_the_number_in_a_sentence_is_found() -> None:
    assert number_in("is it 50?", "en-US") == 50
    assert number_in("I say 1,5", "de-DE") == Fraction(3, 2)
    assert number_in("either 4 or 5", "en-US") is None
    assert number_in("no idea", "en-US") is None
    assert number("5", "xx") is None


async def test_the_result_is_remembered_for_a_while() -> None:
    async with Assistant(CalculatorSkill()) as hark:
        assert await hark.hears("plus 3") == []
        assert await hark.hears("what is 2 + 2") == ["That is 4."]
        assert await hark.hears("and times 3") == ["That is 12."]
        assert await hark.hears("divided by 5") == ["That is 2.4."]
        assert await hark.hears("plus 3", session="other") == []


async def test_the_answer_to_a_question_is_remembered_for_a_minute() -> None:
    async with Assistant(CalculatorSkill()) as hark:
        await hark.hears("what is 2 + 2")
        await hark.clock.advance(61)
        assert await hark.hears("and times 3") == []
        for number in range(70):
            await hark.hears("what is 2 + 2", session=f"s{number}")
        assert await hark.hears("and times 3", session="s0") == []
        assert await hark.hears("and times 3", session="s69") == ["That is 12."]


async def test_a_question_for_another_skill_is_left_alone() -> None:
    async with Assistant(CalculatorSkill()) as hark:
        for text in ("what is love", "what is the capital of France", "how many people live in Lisbon", "plus"):
            assert await hark.hears(text) == [], text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("calculate two apples plus three", "I cannot work that out."),
        ("calculate 5 divided by 0", "Nobody can divide by zero."),
        ("calculate 99 ^ 99", "That number is too big for me."),
        ("convert 5 miles to kilograms", "miles cannot be turned into kilograms."),
        ("convert some apples to miles", "I cannot work that out."),
        ("convert 1 mile to meters", "1 mile is 1609.344 meters."),
        ("convert 1 millimeter to kilometers", "1 millimeter is 0.000001 kilometers."),
    ],
)
async def test_what_was_meant_for_it_always_gets_an_answer(text: str, said: str) -> None:
    async with Assistant(CalculatorSkill()) as hark:
        assert await hark.hears(text) == [said]
