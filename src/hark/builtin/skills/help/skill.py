"""Telling what can be said."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import islice
from typing import Final

from hark.builtin.asking import Asker
from hark.builtin.skills.help.examples import best, example, in_turn
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.spec import topics

_EXAMPLES: Final = 5
_FOLLOWED: Final = 3
"""Turns for which "what else" is understood."""


class HelpSkill(Skill):
    """Gives examples of what skills registered: one sentence for an intent, and something of every skill first."""

    id = "help.skill"
    reads_late = True

    async def start(self) -> None:
        """Get ready to ask what is registered (INTENT-4 §10)."""
        self._manifest = Asker(self.host, topics.INTENT_LIST, topics.INTENT_DESCRIBE)

    @intent(file="what_can_you_do")
    async def what_can_you_do(self, turn: Turn) -> None:
        """A few sentences to try."""
        await self._tell(turn, 0)

    @intent(file="what_else", requires=("told",))
    async def what_else(self, turn: Turn) -> None:
        """A few more."""
        told = turn.session.intent_context.get(f"{self.id}:told")
        await self._tell(turn, int(told.value or 0) if told is not None else 0)

    async def _tell(self, turn: Turn, told: int) -> None:
        examples: dict[str, None] = {}
        async for one in self._examples(turn):
            examples[turn.render("quoted", text=one)] = None
            if len(examples) == told + _EXAMPLES:
                break
        fresh = list(islice(examples, told, None))
        turn.remember("told", str(told + len(fresh)), turns=_FOLLOWED)
        if fresh:
            *others, last = fresh
            said = turn.render("row", first=", ".join(others), last=last) if others else last
            turn.say("examples", examples=said)
        else:
            turn.say("nothing_more" if told else "nothing")

    async def _examples(self, turn: Turn) -> AsyncIterator[str]:
        """An example for each intent the session can reach."""
        query = turn.derive(topics.INTENT_LIST, {"session_id": turn.session.session_id})
        answer = await self._manifest.ask(query)
        if answer is None:
            return
        listed = answer.data.get("intents", ())
        reachable = [one for one in listed if one["enabled"] and one["skill_id"] != self.id]
        for one in in_turn(best(reachable, turn.lang)):
            wanted = {key: value for key, value in one.items() if key != "enabled"}
            described = await self._manifest.ask(turn.derive(topics.INTENT_DESCRIBE, wanted))
            for told in described.data.get("definitions", ()) if described is not None else ():
                said = example(told["definition"], told["method"], lambda slot: turn.render("something", name=slot))
                if said:
                    yield said
