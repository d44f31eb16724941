"""The jokes skill."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Final

from hark.builtin.skills.storage import StoredValue
from hark.intents.locale import MissingResource, Role
from hark.plugins import Turn
from hark.skills import Skill, intent

_FOLLOWED: Final = 3
"""Turns for which "another one" means a joke."""


class JokesSkill(Skill):
    """Tells a joke, and none again before all of them were told: not even after a restart."""

    id = "jokes.skill"
    reads_late = True

    async def start(self) -> None:
        self._told = StoredValue(self.host, "told.json", dict[str, list[str]], {})
        self._random = Random()  # noqa: S311 - a joke

    @intent(file="joke")
    async def joke(self, turn: Turn) -> None:
        """One of the jokes in the language of the turn."""
        lang, joke = await asyncio.to_thread(self._next, turn.lang)
        turn.remember("told", turns=_FOLLOWED)
        await turn.speak(joke, lang=lang)

    @intent(file="another", requires=("told",))
    async def another(self, turn: Turn) -> None:
        """One more."""
        await self.joke(turn)

    def _next(self, lang: str) -> tuple[str, str]:
        """A joke that is still to be told, and the language it is in."""
        try:
            language = self.locale.find(Role.DIALOG, "joke", lang)
        except MissingResource:
            language = self.locale.language(self.lang)
        jokes = language.samples(Role.DIALOG, "joke")
        with self._told.lock:
            everything = self._told.read()
            told = [joke for joke in everything.get(language.tag, ()) if joke in jokes]
            left = [joke for joke in jokes if joke not in told]
            if not left:
                # A new round does not begin with the joke the last one ended with.
                left = [joke for joke in jokes if joke != told[-1]] or list(jokes)
                told = []
            joke = self._random.choice(left)
            self._told.write({**everything, language.tag: [*told, joke]})
        return language.tag, joke
