"""What skills know as a tool of a model: a question of fact goes to all sources at once (COMMON-QUERY-1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from hark.builtin.persona.answers import AwaitedAnswers
from hark.builtin.persona.tools import Arguments, ToolError, ToolOffer, defined, note_source, readable, shortened
from hark.plugins import Host, Message, Session, Turn
from hark.spec import topics

LOOK_UP: Final = "look_up"
_ANSWERED: Final = 8.0
"""Seconds for the skills that know facts."""
_CLAIMED: Final = 0.5
"""Seconds in which they say whether they could know."""


class FactSources:
    """The skills that answer questions of fact. See `OfferedTools`."""

    def __init__(self, host: Host, answers: AwaitedAnswers, private: frozenset[str]) -> None:
        self._answers = answers
        self._private = private
        self._skills: set[str] = set()
        host.on((topics.SKILL_LOADED, topics.SKILL_DEREGISTER), self._note_skill)

    def _note_skill(self, message: Message) -> None:
        skill_id, capabilities = message.data.get("skill_id"), message.data.get("capabilities")
        if not isinstance(skill_id, str):
            return
        self._skills.discard(skill_id)
        if message.type == topics.SKILL_LOADED and isinstance(capabilities, tuple) and "common_query" in capabilities:
            self._skills.add(skill_id)

    def offers(self, session: Session, lang: str) -> Iterator[ToolOffer]:  # noqa: ARG002
        """One tool, where there is a source."""
        skills = sorted(self._skills - self._private - {*(session.blacklisted_skills or ())})
        if not skills:
            return

        async def call(arguments: Arguments, turn: Turn) -> str:
            asked = arguments.get("question")
            if not isinstance(asked, str) or not asked.strip():
                raise ToolError("question has to be a text")
            return await self._look_up(asked, skills, turn)

        names = ", ".join(map(readable, skills))
        about = f"Look up a fact where it is known ({names}). Use it before you answer a question of fact."
        question = {"type": "string", "description": "a whole question, in the language of the user"}
        schema = {"type": "object", "properties": {"question": question}, "required": ["question"]}
        definition = defined(LOOK_UP, about, schema)
        yield ToolOffer(
            definition, f"sources/{LOOK_UP}", False, lambda given: f"look up: {shortened(given).get('question')}", call
        )

    async def _look_up(self, question: str, skills: Sequence[str], turn: Turn) -> str:
        asked = {"utterance": question, "lang": turn.lang}
        ping = turn.derive(topics.COMMON_QUERY_PING, asked)
        claims = await self._answers.from_skills([ping], topics.COMMON_QUERY_PONG, skills, _CLAIMED)
        able = [one for one, pong in claims.items() if pong.data.get("can_answer", pong.data.get("can_handle")) is True]
        requests = [turn.derive(topics.COMMON_QUERY_REQUEST, {**asked, "skill_id": skill}) for skill in able]
        answers: dict[str, Message] = {}
        if able:
            answers = await self._answers.from_skills(requests, topics.COMMON_QUERY_RESPONSE, able, _ANSWERED)
        known = [
            (_source(skill_id, one), text)
            for skill_id, one in answers.items()
            if isinstance(text := one.data.get("answer"), str)
        ]
        for source, _ in known:
            note_source(turn, source)
        return "\n".join(f"{source}: {text}" for source, text in known) or "None of the sources knows."


def _source(skill_id: str, answer: Message) -> str:
    source = answer.data.get("source")
    return source if isinstance(source, str) and source else readable(skill_id)
