"""The chance skill: coins, dice and random numbers."""

from __future__ import annotations

import re
from pathlib import Path
from random import SystemRandom
from typing import Final

from hark.builtin.skills.shopping.skill import as_said, items_of
from hark.builtin.skills.spoken_numbers import number_in
from hark.builtin.skills.tables import table
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.skills.spoken import spoken_list

_NAMES: Final = Path(__file__).parent / "names"
_MOST_DICE: Final = 20
_MOST_SIDES: Final = 1_000_000
_FOLLOWED: Final = 3
"""Turns for which "again" means another throw."""
_DIE: Final = re.compile(r"(\d*)\s?[dw](\d+)", re.IGNORECASE)
"""A die as players write it: "d20", "2d6"; German players write "w20"."""


class ChanceSkill(Skill):
    """Tosses coins, rolls dice and picks numbers."""

    id = "chance.skill"
    reads_late = True

    def __init__(self) -> None:
        self._random = SystemRandom()

    @intent(file="coin")
    def coin(self, turn: Turn) -> None:
        """Heads or tails."""
        turn.remember("thrown", "coin", turns=_FOLLOWED)
        turn.say(self._random.choice(("heads", "tails")))

    @intent(file="decide")
    def decide(self, turn: Turn) -> None:
        """Yes or no."""
        turn.say(self._random.choice(("yes", "no")))

    @intent(file="dice")
    def dice(self, turn: Turn) -> None:
        """One die or several, with six sides or as many as were named."""
        written = _DIE.search(turn.utterance)
        if written is not None:
            count, sides = int(written[1] or 1), int(written[2])
        else:
            count = _whole(turn.slots.get("count", ""), turn.lang) or 1
            sides = _whole(turn.slots.get("sides", ""), turn.lang) or 6
        if not 1 <= count <= _MOST_DICE or not 2 <= sides <= _MOST_SIDES:
            turn.say("no_such_dice", dice=f"{count}d{sides}")
            return
        self._roll(turn, count, sides)

    @intent(file="choose")
    def choose(self, turn: Turn) -> None:
        """One of the things that the user names."""
        slots = turn.slots
        said = ", ".join(filter(None, (slots.get("options"), slots.get("first"), slots.get("second"))))
        options = items_of(as_said(said, turn.utterance) if "options" in slots else said, self._words("or", turn), ())
        if len(options) > 1:
            turn.say("choice", choice=self._random.choice(options))
        else:
            turn.say("no_choice")

    @intent(file="card")
    def card(self, turn: Turn) -> None:
        """A card of the French deck."""
        turn.remember("thrown", "card", turns=_FOLLOWED)
        cards = table(_NAMES, "cards", turn.lang) or table(_NAMES, "cards", self.lang)
        rank, suit = self._random.choice(cards["ranks"]), self._random.choice(cards["suits"])
        turn.say("card", rank=rank, suit=suit)

    @intent(file="number")
    def number(self, turn: Turn) -> None:
        """A number between two others; from 1 to 100 if none are named."""
        bounds = [_whole(turn.slots.get(slot, ""), turn.lang) for slot in ("low", "high")]
        low, high = (1 if bounds[0] is None else bounds[0]), (100 if bounds[1] is None else bounds[1])
        self._pick(turn, min(low, high), max(low, high))

    @intent(file="again", requires=("thrown",))
    def again(self, turn: Turn) -> None:
        """The same once more."""
        entry = turn.session.intent_context.get(f"{self.id}:thrown")
        kind, *numbers = (entry.value if entry is not None and entry.value else "coin").split()
        if kind == "dice":
            self._roll(turn, *map(int, numbers))
        elif kind == "number":
            self._pick(turn, *map(int, numbers))
        else:
            (self.card if kind == "card" else self.coin)(turn)

    def _words(self, name: str, turn: Turn) -> list[str]:
        return [" ".join(phrase) for phrase in self.locale.phrases(name, turn.lang)]

    def _roll(self, turn: Turn, count: int, sides: int) -> None:
        turn.remember("thrown", f"dice {count} {sides}", turns=_FOLLOWED)
        rolled = [self._random.randint(1, sides) for _ in range(count)]
        if count == 1:
            turn.say("rolled", result=rolled[0])
        else:
            turn.say("rolled_several", results=spoken_list([str(one) for one in rolled], turn.lang), total=sum(rolled))

    def _pick(self, turn: Turn, low: int, high: int) -> None:
        turn.remember("thrown", f"number {low} {high}", turns=_FOLLOWED)
        turn.say("picked", result=self._random.randint(low, high))


def _whole(text: str, lang: str) -> int | None:
    value = number_in(text, lang) if text else None
    return int(value) if value is not None and value.denominator == 1 and abs(value) < 10**15 else None
