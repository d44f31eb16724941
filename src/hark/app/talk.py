"""Putting utterances to an assistant, and following each until all is said."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any, Final

from hark.bus import Bus
from hark.model import Clock, Message, Session
from hark.speak import Spoken
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.spec.names import CANCEL_BY, CANCEL_REASON

_MARK: Final = "hark_asked"
"""Context key that tells which utterance a Message goes back to; every derivation carries it along."""

_OUTCOMES: Final = {
    topics.HANDLER_COMPLETE: "complete",
    topics.HANDLER_ERROR: "error",
    topics.INTENT_UNMATCHED: "unmatched",
    topics.UTTERANCE_CANCELLED: "cancelled",
}
_PATIENCE: Final = 60.0
"""Seconds that speech may still take after the end of its turn."""


class Talk:
    """Everybody who speaks to one assistant. What is said to nobody in particular goes to `aside`."""

    def __init__(self, bus: Bus, clock: Clock, aside: Callable[[str], None]) -> None:
        self._bus = bus
        self._clock = clock
        self._aside = aside
        self._marks = count(1)
        self._open: dict[str, Asked] = {}
        self._sessions = {DEFAULT_SESSION_ID}
        self._unrendered = 0
        self._all_said = asyncio.Event()
        self._all_said.set()
        bus.tap(self._saw)

    def serves(self, session_id: str) -> bool:
        """Whether somebody is here to hear what is said to this session."""
        return session_id in self._sessions

    def render(self, spoken: Spoken) -> None:
        """Let whoever asked hear it; speech that nobody waits for is for the device's own session."""
        asked = self._open.get(spoken.message.context.get(_MARK, ""))
        if asked is not None:
            asked.hear(spoken.text)
        elif spoken.message.session_id == DEFAULT_SESSION_ID:
            self._aside(spoken.text)

    async def ask(
        self, text: str, hear: Callable[[str], None], *, lang: str | None = None, session_id: str = DEFAULT_SESSION_ID
    ) -> Asked:
        """Say `text` and wait until its turn ended and was heard; raises `MalformedMessage` for what is no text."""
        data: dict[str, Any] = {"utterances": [text]}
        if lang is not None:
            data["lang"] = lang
        mark = str(next(self._marks))
        entry = Message(topics.UTTERANCE_HANDLE, data, {_MARK: mark}, Session(session_id))
        asked = self._open[mark] = Asked(hear)
        self._sessions.add(session_id)
        try:
            self._bus.emit(entry)
            await asked.ended.wait()
            with suppress(TimeoutError):  # a response that nobody renders
                async with self._clock.timeout(_PATIENCE):
                    await asked.silent.wait()
        finally:
            del self._open[mark]
            if session_id != DEFAULT_SESSION_ID:
                self._sessions.discard(session_id)
        return asked

    async def all_said(self, seconds: float) -> None:
        """Wait until nothing is left to be rendered, at most this long."""
        with suppress(TimeoutError):
            async with self._clock.timeout(seconds):
                await self._all_said.wait()

    def _saw(self, message: Message) -> None:
        change = self._change(message)
        if change:
            self._unrendered = max(self._unrendered + change, 0)
            if self._unrendered:
                self._all_said.clear()
            else:
                self._all_said.set()
        mark = message.context.get(_MARK)
        if mark is not None and (asked := self._open.get(mark)) is not None:
            asked.saw(message, change)

    def _change(self, message: Message) -> int:
        """How many responses more, or fewer, wait to be rendered."""
        if message.type == topics.SPEECH_RENDERED:
            return -1
        if message.type != topics.UTTERANCE_SPEAK or not self.serves(message.session_id):
            return 0
        return 1 if isinstance(message.data.get("utterance"), str) else 0


class Asked:
    """An utterance on its way, and how it ended."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        self.hear = hear
        self.outcome = "broken"
        """`complete`, `unmatched`, `cancelled`, `error`, or `broken` when nobody can tell."""
        self.detail = ""
        """Who cancelled it and why, or what went wrong."""
        self.utterance_id = ""
        self.ended = asyncio.Event()
        """Set by the end marker."""
        self.silent = asyncio.Event()
        """Set while nothing waits to be rendered, once the turn has ended."""
        self._unrendered = 0

    def saw(self, message: Message, change: int) -> None:
        """Take note of a Message of this turn, and of what is left to be rendered."""
        topic = message.type
        self._unrendered += change
        if topic == topics.UTTERANCE_HANDLED:
            self.utterance_id = message.utterance_id or ""
            self.ended.set()
        elif topic in _OUTCOMES and not self.ended.is_set():
            # A response can be cancelled as well; of these, the last before the marker is the turn's own.
            self.outcome = _OUTCOMES[topic]
            self.detail = _detail(message)
        if self.ended.is_set() and self._unrendered <= 0:
            self.silent.set()
        else:
            self.silent.clear()


def _detail(message: Message) -> str:
    data = message.data
    if message.type == topics.UTTERANCE_CANCELLED:
        return f"{data.get(CANCEL_BY)}: {data.get(CANCEL_REASON)}"
    if message.type == topics.HANDLER_ERROR:
        return f"{data.get('skill_id')}:{data.get('intent_name')}: {data.get('exception')}"
    return ""
