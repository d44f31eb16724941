"""The repeat skill: what the assistant said last, once more."""

from __future__ import annotations

from typing import Final, NamedTuple

from hark.plugins import Message, Turn
from hark.skills import Skill, intent
from hark.spec import topics

_SESSIONS: Final = 64
_SENTENCES: Final = 20


class LastAnswer(NamedTuple):
    """What was said in the last turn of a session that said anything."""

    utterance_id: str | None
    lang: str | None
    texts: tuple[str, ...]


class RepeatSkill(Skill):
    """Keeps the last answer of each session in memory, and says it again."""

    id = "repeat.skill"
    reads_late = True
    quick = True  # it hears everything that is said

    def __init__(self) -> None:
        self._last: dict[str, LastAnswer] = {}

    async def start(self) -> None:
        self.host.on(topics.UTTERANCE_SPEAK, self._said)

    @intent(file="again")
    async def again(self, turn: Turn) -> None:
        """Say it again."""
        last = self._last.get(turn.session.session_id)
        if last is None:
            turn.say("nothing")
            return
        for text in last.texts:
            await turn.speak(text, lang=last.lang)

    @intent(file="missed")
    async def missed(self, turn: Turn) -> None:
        """Say it again to a user who did not hear or understand it."""
        await self.again(turn)

    def _said(self, message: Message) -> None:
        text = message.data.get("utterance")
        if not isinstance(text, str) or not text or message.context.get("skill_id") == self.id:
            return
        lang, session_id = message.data.get("lang"), message.session_id
        before = self._last.pop(session_id, None)
        texts: tuple[str, ...] = (text,)
        if before is not None and before.utterance_id is not None and before.utterance_id == message.utterance_id:
            texts = (*before.texts, text)[-_SENTENCES:]
        self._last[session_id] = LastAnswer(message.utterance_id, lang if isinstance(lang, str) else None, texts)
        if len(self._last) > _SESSIONS:
            del self._last[next(iter(self._last))]
