"""Messages and listeners for bus tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hark.model import Message, Session


def note(n: Any = 0, topic: str = "test.note", **context: Any) -> Message:
    """A Message with a number in it."""
    return Message(topic, {"n": n}, context)


def keep(heard: list[Any]) -> Callable[[Message], None]:
    """A listener that keeps the numbers it hears."""

    def listen(message: Message) -> None:
        heard.append(message.data["n"])

    return listen


def of_session(session_id: str, utterance_id: str = "u1") -> Message:
    """A Message of some turn."""
    return Message("test.entry", {}, {"utterance_id": utterance_id}, Session(session_id))
