"""The jokes skill: jokes, riddles, and facts that are good to know."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Final

from hark.builtin.skills.storage import StoredValue
from hark.builtin.skills.tables import plain, table
from hark.intents.locale import MissingResource, Role
from hark.plugins import Turn
from hark.skills import Skill, intent

_NAMES: Final = Path(__file__).parent / "names"
_FOLLOWED: Final = 3
"""Turns for which "another one" means the same kind, and a guess is one of the riddle."""


class JokesSkill(Skill):
    """Tells jokes, riddles and odd facts, and none again before all of its kind were told: not even after a restart."""

    id = "jokes.skill"
    reads_late = True

    async def start(self) -> None:
        self._told = StoredValue(self.host, "told.json", dict[str, list[str]], {})
        self._random = Random()  # noqa: S311 - a joke

    @intent(file="joke")
    async def joke(self, turn: Turn) -> None:
        """One of the jokes in the language of the turn."""
        await self._tell(turn, "joke")

    @intent(file="fact")
    async def fact(self, turn: Turn) -> None:
        """Something that is good to know."""
        await self._tell(turn, "fact")

    @intent(file="riddle")
    async def riddle(self, turn: Turn) -> None:
        """A riddle; the user may guess, or ask for the solution."""
        riddles = table(_NAMES, "riddles", turn.lang) or table(_NAMES, "riddles", self.lang)
        name = await asyncio.to_thread(self._next, "riddle", tuple(riddles))
        turn.remember("told", "riddle", turns=_FOLLOWED)
        turn.remember("riddle", riddles[name][1], turns=_FOLLOWED)
        await turn.speak(riddles[name][0])

    @intent(file="guess", requires=("riddle",))
    def guess(self, turn: Turn) -> None:
        """A guess at a riddle."""
        answer = self._solution(turn)
        if plain(answer).split()[-1] not in plain(turn.slots["guess"]).split():
            turn.remember("riddle", answer, turns=_FOLLOWED)
            turn.say("wrong")
            return
        turn.forget("riddle")
        turn.say("right", answer=answer)

    @intent(file="solution", requires=("riddle",))
    def solution(self, turn: Turn) -> None:
        """The solution of a riddle."""
        turn.say("solution", answer=self._solution(turn))
        turn.forget("riddle")

    @intent(file="another", requires=("told",))
    async def another(self, turn: Turn) -> None:
        """One more."""
        entry = turn.session.intent_context.get(f"{self.id}:told")
        if entry is not None and entry.value == "riddle":
            await self.riddle(turn)
        else:
            await self._tell(turn, (entry.value if entry is not None else None) or "joke")

    async def _tell(self, turn: Turn, kind: str) -> None:
        try:
            language = self.locale.find(Role.DIALOG, kind, turn.lang)
        except MissingResource:
            language = self.locale.language(self.lang)
        key = language.tag if kind == "joke" else f"{language.tag} {kind}"
        text = await asyncio.to_thread(self._next, key, language.samples(Role.DIALOG, kind))
        turn.remember("told", kind, turns=_FOLLOWED)
        await turn.speak(text, lang=language.tag)

    def _solution(self, turn: Turn) -> str:
        entry = turn.session.intent_context.get(f"{self.id}:riddle")
        return (entry.value if entry is not None else None) or ""

    def _next(self, key: str, texts: Sequence[str]) -> str:
        """One of `texts` that is still to be told; what was told is kept under `key`."""
        with self._told.lock:
            everything = self._told.read()
            told = [text for text in everything.get(key, ()) if text in texts]
            left = [text for text in texts if text not in told]
            if not left:
                # A new round does not begin with what the last one ended with.
                left = [text for text in texts if text != told[-1]] or list(texts)
                told = []
            text = self._random.choice(left)
            self._told.write({**everything, key: [*told, text]})
        return text
