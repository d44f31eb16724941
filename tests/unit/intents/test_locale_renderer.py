"""Saying dialogs."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from locale_folder import write

from hark.intents.locale import Locale, MissingResource, Renderer, UnfilledSlot


@pytest.fixture
def renderer(tmp_path: Path) -> Renderer:
    files = {
        "hello.dialog": "Hello.\nHi.\nGood day.\nHey.",
        "coin.dialog": "(Heads|Tails)!",
        "time.dialog": "It is {time}[ in {city}].\n[In {city}: ]{time}.",
        "set.dialog": "{what} is set.",
        "shade.dialog": "Now <shade>.",
        "shade.voc": "red\nblue",
    }
    write(tmp_path / "en-US", files)
    write(tmp_path / "de-DE", {"hello.dialog": "Hallo."})
    return Renderer(Locale(tmp_path), "en-US", Random(7))


def test_every_phrase_has_its_turn_before_one_comes_again(renderer: Renderer) -> None:
    said = [renderer.render("hello", "en-US").text for _ in range(400)]
    assert all(one != other for one, other in pairwise(said))
    rounds = [said[start : start + 4] for start in range(0, 400, 4)]
    assert all(len(set(one)) == 4 for one in rounds)
    assert len({tuple(one) for one in rounds}) > 1


def test_the_same_chance_says_the_same(renderer: Renderer) -> None:
    one, other = (Renderer(renderer.locale, random=Random(3)) for _ in range(2))
    assert [one.render("hello", "en-US") for _ in range(20)] == [other.render("hello", "en-US") for _ in range(20)]


def test_a_phrase_with_choices_is_rarely_said_the_same_way_twice(renderer: Renderer) -> None:
    said = [renderer.render("coin", "en-US").text for _ in range(200)]
    assert set(said) == {"Heads!", "Tails!"}
    assert Counter(one == other for one, other in pairwise(said))[True] < 40


def test_a_vocabulary_is_a_choice_too(renderer: Renderer) -> None:
    assert {renderer.render("shade", "en-US").text for _ in range(20)} == {"Now red.", "Now blue."}


def test_a_value_is_said_as_it_is(renderer: Renderer) -> None:
    text = renderer.render("set", "en-US", {"what": "(a|b) {what} <c>"}).text
    assert text == "(a|b) {what} <c> is set."
    assert renderer.render("set", "en-US", {"what": 5, "unused": 1}).text == "5 is set."


def test_none_leaves_out_the_part_it_belongs_to(renderer: Renderer) -> None:
    said = {renderer.render("time", "en-US", {"time": "noon", "city": None}).text for _ in range(20)}
    assert said == {"It is noon.", "noon."}
    said = {renderer.render("time", "en-US", {"time": "noon", "city": "Faro"}).text for _ in range(40)}
    assert said == {"It is noon.", "It is noon in Faro.", "In Faro: noon.", "noon."}


def test_a_slot_without_value_is_named_with_its_file_and_nothing_is_said(renderer: Renderer) -> None:
    for values in ({"time": "noon"}, {"time": None, "city": "Faro"}):
        for _ in range(10):  # whatever chance would have chosen
            with pytest.raises(UnfilledSlot, match=r"en-US/time\.dialog:1: the slot \{(city|time)\} has no value"):
                renderer.render("time", "en-US", values)


def test_a_missing_language_is_replaced_by_a_near_one_then_by_the_fallback(renderer: Renderer) -> None:
    assert renderer.render("hello", "de-AT") == ("Hallo.", "de-DE")
    assert renderer.render("coin", "de-AT").lang == "en-US"
    with pytest.raises(MissingResource, match=r"no coin\.dialog for de-AT; there is one in: en-US"):
        Renderer(renderer.locale).render("coin", "de-AT")
    with pytest.raises(MissingResource, match=r"no nothing\.dialog for en-US"):
        renderer.render("nothing", "en-US")


def test_several_threads_can_speak_at_once(renderer: Renderer) -> None:
    with ThreadPoolExecutor(4) as pool:
        said = Counter(rendered.text for rendered in pool.map(lambda _: renderer.render("hello", "en-US"), range(400)))
    assert said == {"Hello.": 100, "Hi.": 100, "Good day.": 100, "Hey.": 100}


def test_prompts_are_filled_in_where_there_is_a_value(tmp_path: Path) -> None:
    write(tmp_path / "en-US", {"ask.prompt": "# {{city}}\r\n{{day}} {{{city}}} {{ city }} {{City}} {city}\n"})
    renderer = Renderer(Locale(tmp_path), "en-US")
    wanted = "# Faro {{day}}\r\n{{day}} {Faro {{day}}} {{ city }} {{City}} {city}\n"
    assert renderer.prompt("ask", "de-DE", {"city": "Faro {{day}}"}) == wanted
    assert "{{city}}" in renderer.prompt("ask", "en-US")
