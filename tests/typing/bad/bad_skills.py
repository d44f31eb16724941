"""Mistakes of skill and matcher authors that a type checker finds."""

from __future__ import annotations

from collections.abc import Sequence

from hark.plugins import PipelinePlugin, Session, Turn
from hark.skills import Skill, intent


class Wrong(Skill):
    id = "wrong.skill"

    @intent(7)  # E: arg-type
    async def number(self, turn: Turn) -> None:
        turn.slots["city"] = "berlin"  # E: index
        turn.session = "default"  # E: assignment
        turn.remember("city", 7)  # E: arg-type
        turn.speak("hello")  # E: unused-coroutine
        await turn.speak(7)  # E: arg-type

    @intent("what (is|was) it", requires="it", length=3)  # E: call-arg
    def it(self, turn: Turn) -> str:
        return turn.slots  # E: return-value


class Scores(PipelinePlugin):
    id = "scores"

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> float:  # E: override
        return 0.7
