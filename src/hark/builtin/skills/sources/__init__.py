"""The skill that says where an answer is from."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from hark.plugins import Message, Turn
from hark.skills import Skill, intent
from hark.skills.spoken import spoken_list
from hark.spec import topics

_SESSIONS: Final = 1_000
_MOST: Final = 8
"""Sources of one answer that are named."""


class SourcesSkill(Skill):
    """Answers "how do you know?": with the skills and tools that the last answer was taken from."""

    id = "sources.skill"
    reads_late = True
    quick = True  # what was noted is there before the next turn begins

    async def start(self) -> None:
        self._used: OrderedDict[str, tuple[str | None, list[str]]] = OrderedDict()
        """The turn and the sources of the last answer with any, by session."""
        self.host.on(topics.ANSWER_SOURCES, self._note)

    @intent(file="how_do_you_know")
    def how_do_you_know(self, turn: Turn) -> str:
        """Say where the last answer is from."""
        _, sources = self._used.get(turn.session.session_id, (None, []))
        if not sources:
            return turn.render("nowhere")
        return turn.render("from", sources=spoken_list(tuple(sources), turn.lang))

    def _note(self, message: Message) -> None:
        named = message.data.get("sources")
        sources = [one for one in named if isinstance(one, str) and one] if isinstance(named, tuple) else []
        session_id, turn_id = message.session_id, message.utterance_id
        before, known = self._used.pop(session_id, (None, []))
        joined = [*known, *sources] if before == turn_id and message.data.get("more") is True else sources
        self._used[session_id] = turn_id, list(dict.fromkeys(joined))[:_MOST]
        if len(self._used) > _SESSIONS:
            self._used.popitem(last=False)
