"""A game: the assistant thinks of a number, the user guesses."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from random import Random
from typing import Final

from hark.builtin.skills.storage import StoredValue
from hark.intents.text import words
from hark.plugins import Turn
from hark.skills import Skill, intent

_PATIENCE: Final = 3
"""Answers in a row that are no guess, after which the game is over."""


class GuessingSkill(Skill):
    """A guessing game for any number of sessions at once; a stop ends the game of its session."""

    id = "guessing.skill"
    reads_late = True

    @dataclass(frozen=True)
    class Settings:
        """Between which numbers the assistant chooses."""

        lowest: int = 1
        highest: int = 100
        seconds: float = 30.0
        """How long it waits for a guess."""

    settings: Settings

    async def start(self) -> None:
        self._best = StoredValue(self.host, "best.json", dict[str, int], {})
        self._random = Random()  # noqa: S311 - a game

    @intent(file="play")
    async def play(self, turn: Turn) -> None:
        """Play until the user stops."""
        while True:
            guesses = await self._game(turn)
            if guesses is None:
                return
            is_best = await asyncio.to_thread(self._scored, guesses)
            said = "right_first" if guesses == 1 else "right"
            await turn.say(said, {} if guesses == 1 else {"guesses": guesses})
            if is_best:
                turn.say("record")
            if not await turn.ask_yes_no(turn.render("again"), retries=0):
                turn.say("bye")
                return

    @intent(file="best")
    def best(self, turn: Turn) -> None:
        """Tell the best score so far."""
        with self._best.lock:
            guesses = self._best.read().get(self._game_name())
        if guesses is None:
            turn.say("no_best")
        else:
            turn.say("best_one" if guesses == 1 else "best", {} if guesses == 1 else {"guesses": guesses})

    async def _game(self, turn: Turn) -> int | None:
        """One number: how many guesses it took, or None when the user gave up or left."""
        from hark.builtin.skills.spoken_numbers import number_in  # not before a user plays

        low, high = sorted((self.settings.lowest, self.settings.highest))
        secret = self._random.randint(low, high)
        question = turn.render("begin", low=low, high=high)
        guesses = misses = 0
        while misses < _PATIENCE:
            answer = await turn.ask(question, timeout=self.settings.seconds)
            if answer is None:
                break
            if self._gives_up(answer, turn.lang):
                turn.say("it_was", number=secret)
                return None
            guess = number_in(answer, turn.lang)
            if guess is None:
                misses += 1
                question = turn.render("no_number")
                continue
            guesses, misses = guesses + 1, 0
            if guess == secret:
                return guesses
            question = turn.render("higher" if guess < secret else "lower")
        turn.say("left", number=secret)
        return None

    def _gives_up(self, answer: str, lang: str) -> bool:
        return tuple(words(answer, lang)) in self.locale.phrases("give_up", lang)

    def _scored(self, guesses: int) -> bool:
        """Store a score if it is the best; returns whether it beat another."""
        name = self._game_name()
        with self._best.lock:
            scores = self._best.read()
            before = scores.get(name)
            if before is None or guesses < before:
                self._best.write({**scores, name: guesses})
        return before is not None and guesses < before

    def _game_name(self) -> str:
        """Scores count among games with the same numbers."""
        return f"{self.settings.lowest} to {self.settings.highest}"
