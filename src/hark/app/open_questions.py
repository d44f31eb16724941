"""Which turn waits for an answer, and which utterance was one."""

from __future__ import annotations

from typing import Generic, TypeVar

from hark.model import Message
from hark.spec import topics

T = TypeVar("T")


class OpenQuestions(Generic[T]):
    """The turns whose handler waits for what is said next. At most one in a session, as the session has it."""

    def __init__(self) -> None:
        self._asking: dict[str, tuple[str, T]] = {}

    def saw(self, message: Message, turn: T) -> T | None:
        """Take note of a Message of `turn`; the turn that goes on because this is the answer to its question."""
        if is_question(message):
            mode = message.session.response_mode if message.session is not None else None
            if mode is not None:
                self._asking[message.session_id] = mode.skill_id, turn
        elif message.type.endswith(":response"):
            skill_id, asking = self._asking.get(message.session_id, ("", None))
            if message.type == f"{skill_id}:response":
                del self._asking[message.session_id]
                return asking
        return None

    def forget(self, turn: T) -> None:
        """The turn is over: it waits for nothing any more."""
        for session_id in [one for one, (_, asking) in self._asking.items() if asking is turn]:
            del self._asking[session_id]


def is_question(message: Message) -> bool:
    """Whether somebody is asked something and the answer goes to whoever asked (CONVERSE-1 §5.1)."""
    if message.type != topics.UTTERANCE_SPEAK or message.data.get("listen") is not True:
        return False
    return message.session is not None and message.session.response_mode is not None
