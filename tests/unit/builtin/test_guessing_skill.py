"""The guessing game."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hark.builtin import GuessingSkill
from hark.testing import Assistant

BEGIN = "I am thinking of a number from {} to {}. What is your guess?"


def game(low: int, high: int, folder: Path | None = None) -> Assistant:
    settings = {"plugins": {"guessing.skill": {"lowest": low, "highest": high}}}
    return Assistant(GuessingSkill(), settings=settings, data_root=folder)


async def test_the_number_can_always_be_found_by_halving() -> None:
    async with game(1, 100) as hark:
        assert await hark.hears("play guess the number") == [BEGIN.format(1, 100)]
        low, high = 1, 100
        for _ in range(7):
            middle = (low + high) // 2
            said = await hark.hears(f"{middle}")
            if said[0].startswith("That is it"):
                break
            low, high = (middle + 1, high) if said[0].startswith("Higher") else (low, middle - 1)
        else:
            pytest.fail("seven guesses are enough for a hundred numbers")
        assert said[-1] == "Shall we play again?"


async def test_settings_the_wrong_way_round_are_no_problem() -> None:
    async with game(9, 3) as hark:
        assert await hark.hears("play guess the number") == [BEGIN.format(3, 9)]


async def test_the_best_score_is_kept_for_each_range(tmp_path: Path) -> None:
    async with game(7, 7, tmp_path) as hark:
        assert await hark.hears("what is my best score") == ["Nobody has guessed a number yet."]
        await hark.hears("play guess the number")
        await hark.hears("5")
        assert (await hark.hears("7"))[0] == "That is it! You needed 2 guesses."
        await hark.hears("no")
        assert await hark.hears("what is my best score") == ["The best so far is 2 guesses."]
    assert json.loads((tmp_path / "guessing.skill" / "best.json").read_text()) == {"7 to 7": 2}
    async with game(8, 8, tmp_path) as hark:
        assert await hark.hears("what is my best score") == ["Nobody has guessed a number yet."]


async def test_a_worse_game_is_no_record(tmp_path: Path) -> None:
    async with game(7, 7, tmp_path) as hark:
        await hark.hears("play guess the number")
        assert await hark.hears("7") == ["That is it, at the first guess!", "Shall we play again?"]
        assert await hark.hears("yes") == [BEGIN.format(7, 7)]
        await hark.hears("1")
        assert await hark.hears("7") == ["That is it! You needed 2 guesses.", "Shall we play again?"]
        assert await hark.hears("no") == ["That was fun."]


async def test_who_never_says_a_number_is_left_in_peace() -> None:
    async with game(7, 7) as hark:
        await hark.hears("play guess the number")
        assert await hark.hears("banana") == ["I need a number. What is your guess?"]
        assert await hark.hears("banana") == ["I need a number. What is your guess?"]
        assert await hark.hears("banana") == ["Let us stop here. It was 7."]


async def test_a_stop_ends_the_game() -> None:
    async with game(7, 7) as hark:
        assert await hark.hears("play guess the number") == [BEGIN.format(7, 7)]
        await hark.hears("stop")
        assert await hark.hears("7") == []


async def test_a_guess_may_be_in_words() -> None:
    async with game(27, 27) as hark:
        await hark.hears("play guess the number")
        assert (await hark.hears("is it twenty seven"))[0] == "That is it, at the first guess!"
