"""Every shape a handler may have, and what a turn gives it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import assert_type

from hark.plugins import Declined, Match, PipelinePlugin, Round, Session, Turn, handles
from hark.skills import Skill, intent


class Shapes(Skill):
    id = "shapes.skill"

    @intent("say it at once")
    def text(self, turn: Turn) -> str:
        assert_type(turn.slots, Mapping[str, str])
        assert_type(turn.lang, str)
        assert_type(turn.session, Session)
        return turn.slots.get("what", "it")

    @intent("say it later", lang="en-US", required_slots=[], blacklist=["not"])
    async def later(self, turn: Turn) -> None:
        await turn.speak("it", wait=True)
        turn.remember("said", "it", turns=2)
        turn.forget("said")
        self.disable("text")

    @intent("say it bit by bit", requires=["said"], excludes=[{"key": "quiet", "scope": "shared"}])
    async def bits(self, turn: Turn) -> AsyncIterator[str]:
        yield "it"


class Plain(PipelinePlugin):
    id = "plain"

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | Declined:
        return self.claim("it", lang=lang, utterance=utterances[0]) if utterances else Declined("nothing was said")

    @handles("it")
    def it(self, turn: Turn) -> str:
        return turn.utterance


class Polling(PipelinePlugin):
    id = "polling"

    async def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | None:
        if round is None or not await round.poll("my.ping", {}, ["a"], 0.1):
            return None
        return self.claim("it", lang=lang, utterance=utterances[0], slots={"entry": round.entry})
