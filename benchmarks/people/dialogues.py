"""Sentences that need more than one claim: several commands in one, corrections, and what is said during a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final, NamedTuple

from hark.intents import words
from hark.spec import topics
from hark.testing import Assistant

Claim = tuple[str, Mapping[str, str]]

ANSWER: Final = "answer"
"""What a script expects where the skill that asked gets what was said."""

_REPLY: Final = ":response"
"""The end of the label under which a skill gets an answer."""


class Played(NamedTuple):
    """One dialogue that was played."""

    text: str
    is_right: bool
    ran: str
    """What ran, for the list of what went wrong."""


class Dialogues:
    """Plays dialogues with a running assistant, each in a session of its own."""

    def __init__(self, assistant: Assistant, lang: str) -> None:
        self._assistant = assistant
        self._lang = lang
        self._sessions = (f"d{number}" for number in count())

    async def several(self, table: Mapping[str, Sequence[str]]) -> list[Played]:
        """Sentences with several commands: all have to run, in order, and nothing else."""
        played = []
        for text, wanted in table.items():
            ran = [claim[0] for claim in await self._claims(text, next(self._sessions))]
            played.append(Played(text, ran == list(wanted), ", ".join(ran)))
        return played

    async def corrections(self, rows: Sequence[Mapping[str, Any]]) -> list[Played]:
        """A command and its correction: the last claim has to be the intent, with these slots."""
        played = []
        for row in rows:
            session = next(self._sessions)
            await self._claims(row["first"], session)
            claims = await self._claims(row["then"], session)
            ran, slots = claims[-1] if claims else ("", {})
            is_right = ran == row["intent"] and all(
                words(slots.get(name, ""), self._lang) == words(value, self._lang)
                for name, value in row.get("slots", {}).items()
            )
            played.append(Played(f"{row['first']} / {row['then']}", is_right, f"{ran} {dict(slots)}"))
        return played

    async def questions(self, rows: Sequence[Mapping[str, Any]]) -> list[Played]:
        """What is said while a skill waits: a command runs, an answer goes to the skill, or the question is closed."""
        played = []
        for row in rows:
            session = next(self._sessions)
            await self._claims(row["asked"], session)
            ran = ", ".join(self._replies(await self._claims(row["said"], session)))
            played.append(Played(f"{row['asked']} / {row['said']}", ran == row["intent"], ran))
        return played

    async def _claims(self, text: str, session: str) -> list[Claim]:
        self._assistant.messages.clear()
        await self._assistant.hears(text, session=session, lang=self._lang)
        matched = [message.data for message in self._assistant.of(topics.INTENT_MATCHED)]
        claims = [(f"{data['skill_id']}:{data['intent_name']}", data["slots"]) for data in matched]
        return [claim for claim in claims if not claim[0].startswith("several:")]

    @staticmethod
    def _replies(claims: Sequence[Claim]) -> Iterator[str]:
        for label, _ in claims:
            yield ANSWER if label.endswith(_REPLY) else label
