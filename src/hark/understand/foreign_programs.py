"""Programs on a bus that is not Hark's own: it names no connections, so their Messages have to do (ruling R18)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Protocol

from hark.bus import Bus
from hark.model import Clock, Message, Timer
from hark.spec import split_dispatch, topics
from hark.spec.names import SKILL_ID, UTTERANCE_ID
from hark.understand.programs import Programs

_PING: Final = 5.0
"""Seconds between two pings to a program whose handler is under way."""
_UNANSWERED: Final = 2
"""Pings in a row that a program leaves unanswered before it counts as gone."""
_OURS: Final = frozenset(
    {
        topics.INTENT_MATCHED,
        topics.HANDLER_START,
        topics.HANDLER_COMPLETE,
        topics.HANDLER_ERROR,
        topics.UTTERANCE_HANDLED,
        topics.UTTERANCE_CANCELLED,
        topics.STOP_PING,
    }
)
"""What carries the `skill_id` of a handler and does not come from it."""
_LEGACY_PING: Final = ".stop.ping"
_DONE: Final = frozenset({topics.LEGACY_HANDLER_COMPLETE, topics.LEGACY_HANDLER_ERROR})


class ForeignCalls(Protocol):
    """The handlers under way, as far as they may be those of programs."""

    def calls_of_programs(self) -> Iterable[Message]:
        """The dispatches of those that are."""

    def take_for_program(self, utterance_id: str, skill_id: str) -> None:
        """A Message of this turn came from this skill: unless a host has it, its handler is a program's."""

    def program_active(self, message: Message) -> None:
        """As `hark.handler.active`."""

    def program_done(self, message: Message) -> None:
        """As `hark.handler.done`."""


class ForeignPrograms:
    """Watches for Messages of programs: `context.skill_id` stands for a connection, an unanswered ping for its end."""

    def __init__(self, bus: Bus, clock: Clock, programs: Programs, calls: ForeignCalls) -> None:
        self._bus = bus
        self._clock = clock
        self._programs = programs
        self._calls = calls
        self._unanswered: dict[str, int] = {}
        """Pings that each program has left unanswered since its last Message."""
        self._timer: Timer | None = None
        self._end_tap: Callable[[], None] = bus.tap(self._saw)

    def close(self) -> None:
        """Watch no longer."""
        self._end_tap()
        if self._timer is not None:
            self._timer.cancel()

    def watch(self) -> None:
        """Ping the programs whose handlers are under way, from now on and as long as there are any."""
        if self._timer is None:
            self._ping()

    def _ping(self) -> None:
        self._timer = None
        gone: list[str] = []
        pinged: set[str] = set()
        for dispatch in list(self._calls.calls_of_programs()):
            skill_id = split_dispatch(dispatch.type)[0]
            if skill_id in pinged:
                continue
            pinged.add(skill_id)
            if self._unanswered.get(skill_id, 0) >= _UNANSWERED:
                gone.append(skill_id)
                continue
            self._unanswered[skill_id] = self._unanswered.get(skill_id, 0) + 1
            self._bus.emit(dispatch.forward(topics.STOP_PING))
            if topics.is_topic(skill_id + _LEGACY_PING):
                self._bus.emit(dispatch.forward(skill_id + _LEGACY_PING))
        for skill_id in gone:
            del self._unanswered[skill_id]
        self._programs.detach(gone)
        if pinged.difference(gone):
            self._timer = self._clock.after(_PING, self._ping)

    def _saw(self, message: Message) -> None:
        if message.type in _OURS or ":" in message.type or topics.is_private(message.type):
            return
        if message.type.endswith(_LEGACY_PING):
            return
        skill_id = message.data.get(SKILL_ID) if message.type.endswith(".pong") else message.context.get(SKILL_ID)
        if not isinstance(skill_id, str):
            return
        self._unanswered.pop(skill_id, None)
        if skill_id in self._programs.absent:
            self._programs.attach([skill_id])
        utterance_id = message.utterance_id
        if utterance_id is None or message.type.endswith(".pong"):
            return
        self._calls.take_for_program(utterance_id, skill_id)
        if skill_id in self._programs.attached:
            self._report(message, skill_id, utterance_id)

    def _report(self, message: Message, skill_id: str, utterance_id: str) -> None:
        turn = {UTTERANCE_ID: utterance_id}
        if message.type in _DONE or message.type == topics.LEGACY_HANDLER_START:
            self._programs.attach([skill_id], [skill_id])
        if message.type in _DONE:
            data = {SKILL_ID: skill_id}
            if message.type == topics.LEGACY_HANDLER_ERROR:
                data["exception"] = str(message.data.get("exception") or "the handler failed")[:1_000]
            self._calls.program_done(Message(topics.HANDLER_DONE, data, turn))
            return
        asked = message.session.response_mode if message.session is not None else None
        until = asked.expires_at if asked is not None and asked.skill_id == skill_id else None
        self._calls.program_active(Message(topics.HANDLER_ACTIVE, {SKILL_ID: skill_id, "waits_until": until}, turn))
