"""Calls of handlers by other processes, which may come again: each handler is started once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, Protocol

import msgspec

from hark.bus import Bus
from hark.model import Frozen, Message
from hark.spec import split_dispatch, topics

_REMEMBERED: Final = 1_000
"""Calls whose outcome is remembered."""
_MAY_HAVE_RUN: Final = "the handler may have run in a process that is gone"


class CallNotes(Protocol):
    """A log that every process can read, in which one process alone can note that it starts a handler."""

    async def start(self, key: str, dispatch: Message, host: str) -> Literal["start", "started", "over"]:
        """Note that `host` starts the handler of a turn: it may; another process has; the turn has ended."""

    def is_key(self, utterance_id: str | None) -> bool:
        """Whether a turn of this name can be noted."""


class _Call(msgspec.Struct):
    dispatch: Message
    done: Message | None = None


class Calls:
    """What became of each call: a repeated one is answered, not made.

    `is_sole` says whether a skill is hosted here and in no other process, `runs` whether a call is for this one.
    """

    def __init__(
        self,
        bus: Bus,
        host: str,
        notes: CallNotes,
        is_sole: Callable[[str], bool],
        runs: Callable[[Message, bool], bool] | None,
    ) -> None:
        self._bus = bus
        self._host = host
        self._notes = notes
        self._is_sole = is_sole
        self._runs = runs
        self._known: dict[str, _Call] = {}
        self._ended: dict[str, None] = {}
        """Those of which the outcome is known, the oldest first."""
        self._subscription = bus.on(topics.HOST_STATUS, self._status, name="act: status")

    def close(self) -> None:
        self._subscription.close()

    async def begin(self, dispatch: Message, *, is_repeated: bool) -> bool:
        """Whether to start the handler of a dispatch now."""
        if self._runs is not None and not self._runs(dispatch, is_repeated):
            return False
        key = dispatch.utterance_id or ""
        if not self._notes.is_key(key):
            return True
        known = self._known.get(key)
        if known is not None:
            self._answer(known)
            return False
        self._known[key] = _Call(dispatch)
        found = await self._notes.start(key, dispatch, self._host)
        if found == "start":
            return True
        del self._known[key]
        if found == "started" and self._is_sole(split_dispatch(dispatch.type)[0]):
            # A skill has one host: this is the next life of the one that started it.
            failed = Frozen(topic=dispatch.type, exception=_MAY_HAVE_RUN)
            self._bus.emit(dispatch.signal(topics.HANDLER_DONE, failed))
        return False

    def ended(self, dispatch: Message, done: Message) -> None:
        """A handler is done, and this says how."""
        key = dispatch.utterance_id or ""
        known = self._known.get(key)
        if known is not None:
            known.done = done
            self._ended[key] = None
            if len(self._ended) > _REMEMBERED:
                oldest = next(iter(self._ended))
                del self._ended[oldest], self._known[oldest]

    def _answer(self, call: _Call) -> None:
        accepted = Frozen(topic=call.dispatch.type, host=self._host)
        self._bus.emit(call.dispatch.signal(topics.HANDLER_ACCEPTED, accepted))
        if call.done is not None:
            self._bus.emit(call.done)

    def _status(self, asked: Message) -> None:
        """Answer what is known of calls that this host has accepted, and of those to skills that are hosted here."""
        calls = asked.data.get("calls")
        running: list[str] = []
        unknown: list[str] = []
        for call in calls if isinstance(calls, tuple) else ():
            if not (isinstance(call, tuple) and len(call) == 3 and all(isinstance(part, str) for part in call)):
                continue
            key, topic, host = call
            if host != self._host and not self._is_sole(split_dispatch(topic)[0]):
                continue
            known = self._known.get(key)
            if known is None:
                unknown.append(key)
            elif known.done is None:
                running.append(key)
            else:
                self._bus.emit(known.done)
        if running or unknown:
            data = {"host": self._host, "running": running, "unknown": unknown}
            self._bus.emit(Message(topics.HOST_STATUS_RESPONSE, data))
