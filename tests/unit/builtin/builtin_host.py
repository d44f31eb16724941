"""A host and a turn for plugins under test."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hark.model import Clock, Frozen, Message, Session, Timer
from hark.plugins import Ctx, Plugin, Turn

NOON = 1_767_268_800.0
"""2026-01-01 12:00 UTC, a Thursday."""


class StoppedClock(Clock):
    """Always the same moment."""

    def wall(self) -> float:
        return NOON

    def monotonic(self) -> float:
        return 0.0

    def after(self, seconds: float, callback: Callable[[], object]) -> Timer:
        raise NotImplementedError


class FakeHost:
    """Enough of `Host` for what is built in: Messages are delivered at once."""

    def __init__(self, name: str) -> None:
        self.clock = StoppedClock()
        self.log = logging.getLogger(f"test.{name}")
        self.sent: list[Message] = []
        self._listeners: dict[str, list[Callable[[Message], Any]]] = {}

    langs = ("en-US",)
    lang = "en-US"

    @property
    def data_dir(self) -> Path:
        raise RuntimeError("nothing is kept on disk")

    def on(self, topic: str | Sequence[str], listener: Callable[[Message], Any], *, shared: bool = False) -> None:
        for one in (topic,) if isinstance(topic, str) else topic:
            self._listeners.setdefault(one, []).append(listener)

    def emit(self, topic: str, data: Mapping[str, Any] | None = None, *, session: Session | None = None) -> None:
        self.send(Message(topic, dict(data or {}), session=session))

    def send(self, message: Message) -> None:
        self.sent.append(message)

    def hears(self, topic: str, data: Mapping[str, Any], session_id: str = "default", **context: Any) -> None:
        """Let a Message arrive."""
        message = Message(topic, dict(data), context, Session(session_id))
        for listener in self._listeners.get(topic, ()):
            listener(message)


async def begin(plugin: Plugin, **settings: Any) -> FakeHost:
    """Start a plugin as the frame would."""
    host = FakeHost(plugin.id)
    plugin.settings = plugin.Settings(**settings)
    plugin.host = host  # type: ignore[assignment]
    await plugin.begin()
    return host


class MuteStage:
    """Where handlers are called that say nothing through their turn."""

    clock = StoppedClock()

    def emit(self, message: Message) -> None: ...

    async def say(self, message: Message, wait: bool) -> None: ...

    async def listen(self, turn: Turn, question: str, timeout: float, lang: str | None) -> str | None: ...

    def note(self, turn: Turn, text: str) -> None: ...

    def task(self, turn: Turn, work: Any, name: str) -> None: ...


def turn(topic: str, utterance: str, slots: Mapping[str, str] | None = None, session: Session | None = None) -> Turn:
    """What a handler would hold."""
    data = {"utterance": utterance, "lang": "en-US", "slots": dict(slots or {})}

    return Turn(Message(topic, data, session=session), MuteStage())


def ctx(lang: str | None = None) -> Ctx:
    """What a transformer would see."""
    return Ctx(Frozen(), Session(), lang, True)
