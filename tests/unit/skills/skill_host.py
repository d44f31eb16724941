"""A host that writes down what a skill emits."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hark.model import Message, Session
from hark.skills import Skill


class FakeHost:
    """Just enough of `Host` for a skill."""

    def __init__(self, data_dir: Path | None = None) -> None:
        self._data_dir = data_dir
        self.log = logging.getLogger("hark.plugin.test")
        self.emitted: list[Message] = []
        self.listeners: dict[str, Callable[[Message], Any]] = {}

        self.spoken: list[tuple[str, str | None, Session | None]] = []

    @property
    def data_dir(self) -> Path:
        if self._data_dir is None:
            raise RuntimeError("nothing is kept on disk")
        return self._data_dir

    def speak(self, text: str, *, session: Session | None = None, lang: str | None = None) -> None:
        self.spoken.append((text, lang, session))

    def on(self, topic: str, listener: Callable[[Message], Any], *, shared: bool = False) -> None:
        self.listeners[topic] = listener

    def emit(self, topic: str, data: Mapping[str, Any] | None = None, *, session: Session | None = None) -> None:
        self.emitted.append(Message(topic, dict(data or {}), session=session))

    async def hears(self, topic: str, data: Mapping[str, Any] | None = None) -> None:
        """Let a Message arrive."""
        result = self.listeners[topic](Message(topic, dict(data or {})))
        if inspect.isawaitable(result):
            await result

    def of(self, topic: str) -> list[Any]:
        """The payloads emitted on one topic."""
        return [message.data for message in self.emitted if message.type == topic]

    @property
    def topics(self) -> list[str]:
        """The topics emitted, in order."""
        return [message.type for message in self.emitted]


async def begun(skill: Skill, data_dir: Path | None = None) -> FakeHost:
    """The host of a skill that has begun."""
    host = FakeHost(data_dir)
    skill.host = host  # type: ignore[assignment]
    await skill.begin()
    return host


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files, by their path below `folder`."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    return folder
