"""The shopping list: what is on it, and that it stays there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hark.builtin import ShoppingSkill
from hark.builtin.skills.shopping.skill import as_said, items_of, without
from hark.testing import Assistant

KEPT = "shopping.skill/lists.json"


def assistant(folder: Path | None = None) -> Assistant:
    return Assistant(ShoppingSkill(), data_root=folder)


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("milk", ["milk"]),
        ("milk, eggs and bread", ["milk", "eggs", "bread"]),
        ("milk, eggs, and some bread.", ["milk", "eggs", "bread"]),
        ("the Milk and milk", ["milk"]),
        ("the", ["the"]),
        ("brandy and candy", ["brandy", "candy"]),
        (" , and ,", []),
    ],
)
def test_several_things_are_named_at_once(text: str, items: list[str]) -> None:
    assert items_of(text, ["and"], ["the", "some"]) == items


@pytest.mark.parametrize("leading", [["de", "l", "d"], ["de", "l'", "d'"]])
def test_an_article_that_is_stuck_to_its_word_comes_off(leading: list[str]) -> None:
    assert items_of("de l'eau et d'huile", ["et"], leading) == ["eau", "huile"]


def test_capitals_and_commas_are_the_users() -> None:
    assert as_said("milk eggs", "put Milk, eggs on the list") == "Milk, eggs"
    assert as_said("milk eggs", "something else") == "milk eggs"


def test_what_is_taken_off_is_returned_as_it_was_written() -> None:
    assert without(["Milk", "eggs"], ["milk", "salt"]) == (["eggs"], ["Milk"], ["salt"])


async def test_the_list_survives_a_restart(tmp_path: Path) -> None:
    async with assistant(tmp_path) as hark:
        await hark.hears("put milk and eggs on the list")
    assert json.loads((tmp_path / KEPT).read_text()) == {"shopping": ["milk", "eggs"]}
    async with assistant(tmp_path) as hark:
        assert await hark.hears("what is on the list") == ["On the shopping list: milk and eggs."]


async def test_a_list_that_cannot_be_read_is_renamed(tmp_path: Path) -> None:
    path = tmp_path / KEPT
    path.parent.mkdir()
    path.write_text("{")
    async with assistant(tmp_path) as hark:
        assert await hark.hears("what is on the list") == ["The shopping list is empty."]
        await hark.hears("put milk on the list")
    assert path.with_name("lists.json.broken").read_text() == "{"
    assert json.loads(path.read_text()) == {"shopping": ["milk"]}


async def test_without_a_disk_there_is_a_list_all_the_same() -> None:
    async with assistant() as hark:
        await hark.hears("put milk on the list")
        assert await hark.hears("what is on the list", session="kitchen") == ["On the shopping list: milk."]


async def test_two_sessions_at_once_lose_nothing(tmp_path: Path) -> None:
    async with assistant(tmp_path) as hark:
        hearings = [hark.say(f"put thing{n} on the list", session=f"s{n}") for n in range(30)]
        for hearing in hearings:
            await hearing.over.wait()
    assert sorted(json.loads((tmp_path / KEPT).read_text())["shopping"]) == sorted(f"thing{n}" for n in range(30))


async def test_what_was_added_meanwhile_stays_when_the_list_is_cleared() -> None:
    async with assistant() as hark:
        await hark.hears("put milk on the list")
        assert await hark.hears("clear the list", session="kitchen") == [
            "There is one thing on the shopping list. Shall I delete it?"
        ]
        await hark.hears("put eggs on the list")
        assert await hark.hears("yes", session="kitchen") == ["The shopping list is empty now."]
        assert await hark.hears("what is on the list") == ["On the shopping list: eggs."]


async def test_the_list_of_an_older_version_is_read_and_kept(tmp_path: Path) -> None:
    old = tmp_path / "shopping.skill" / "list.json"
    old.parent.mkdir()
    old.write_text('["milk"]')
    async with assistant(tmp_path) as hark:
        assert await hark.hears("what is on my shopping list") == ["On the shopping list: milk."]
        await hark.hears("add eggs to my shopping list")
    assert json.loads((tmp_path / KEPT).read_text()) == {"shopping": ["milk", "eggs"]}


async def test_a_list_of_ones_own_is_apart_from_the_others(tmp_path: Path) -> None:
    async with assistant(tmp_path) as hark:
        assert await hark.hears("add a tent to the camping list") == ["I made the camping list and put tent on it."]
        await hark.hears("add milk to the shopping list")
        assert await hark.hears("what is on my camping list") == ["On the camping list: tent."]
    assert json.loads((tmp_path / KEPT).read_text()) == {"camping": ["tent"], "shopping": ["milk"]}
