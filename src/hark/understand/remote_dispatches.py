"""Waiting for handlers in other processes, whose calls and answers may be lost on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from hark.bus import Bus
from hark.model import Clock, Frozen, Message, Timer
from hark.spec import split_dispatch, topics
from hark.spec.names import DESTINATION
from hark.understand.dispatches import Dispatches, HandlerOutcome, Key, PendingCall, give_up_on
from hark.understand.programs import Programs
from hark.understand.turn_state import TurnOptions

PROGRAM: Final = "program"
"""Noted as the host of a handler that a program outside has."""
_LOOK: Final = 0.25
"""Seconds between two looks at all handlers that are waited for, and between two calls of one that was not accepted."""
_NO_HANDLER: Final = 5.0
"""Seconds after which a handler that no host has accepted is given up: time for a host to be started again."""
_ASK: Final = 1.0
"""Seconds between two questions to the hosts whether they still run what they have accepted."""
_STALLED: Final = 0.5
"""Seconds by which a look may be late; after that, answers wait unread, and hosts have waited for calls."""
_LOST: Final = 3.0
"""Seconds without an answer after which a host counts as lost."""


class CallLog(Protocol):
    """The log in which hosts note which handlers they start."""

    @property
    def connected(self) -> bool:
        """Whether the broker can be reached: while it cannot, nothing is concluded."""

    async def start(self, key: str, dispatch: Message, host: str) -> object:
        """Note that the handler of a turn is started by `host`."""

    async def close_calls(self, key: str) -> str | None:
        """Make sure that no handler of a turn is started any more; the host that has started one, if so."""


class RemoteDispatches(Dispatches):
    """Calls a handler until a host has accepted it, then asks the host how it goes.

    The signals of hosts are hints. What a host answers is the truth, and so is the log: where a handler is given up,
    the log has refused that any host starts it later.
    """

    def __init__(
        self, bus: Bus, clock: Clock, options: Callable[[], TurnOptions], programs: Programs, log: CallLog
    ) -> None:
        super().__init__(bus, clock, options, programs)
        self._log = log
        self._asked = 0.0
        self._timer: Timer | None = None
        self._due = 0.0
        self._noting: set[asyncio.Task[object]] = set()
        status = bus.on(topics.HOST_STATUS_RESPONSE, self._status, name="dispatches: status")
        self._subscriptions = (*self._subscriptions, status)

    def expect(self, dispatch: Message, host: str = "") -> asyncio.Future[HandlerOutcome]:
        done: asyncio.Future[HandlerOutcome] = asyncio.get_running_loop().create_future()
        now = self._clock.monotonic()
        waiting = self._waiting[self._key(dispatch)] = PendingCall(dispatch, now, done, called=now, heard=now)
        if host == PROGRAM:
            # What it has sent is not known here: it counts as having spoken, or its turn might never end.
            self._is_of_program(waiting)
            waiting.spoke = now
            self._programs.attach([split_dispatch(dispatch.type)[0]])
            self._programs.check()
        elif host:
            waiting.accepted, waiting.host = now, host
            self._asked = now - _ASK
        elif self._programs.is_any:
            self._look_at_program(waiting)
            if waiting.of_program:
                self._note(dispatch)
        self._look_within(_LOOK)
        return done

    def _note(self, dispatch: Message) -> None:
        """Note that a program was called, so that another worker that takes over the turn does not call it again."""
        task = asyncio.get_running_loop().create_task(self._log.start(dispatch.utterance_id or "", dispatch, PROGRAM))
        self._noting.add(task)
        task.add_done_callback(self._noting.discard)

    def reconnected(self) -> None:
        """The broker can be reached again, or this process has stood still: what was not heard says nothing."""
        now = self._clock.monotonic()
        for waiting in self._waiting.values():
            waiting.since = waiting.heard = now
            waiting.called = now - _LOOK
        self._asked = now - _ASK

    def _key(self, message: Message) -> Key:
        # A turn has one handler. Of two workers that took the same turn, the other may have called another one.
        return message.utterance_id, ""

    def _accepted(self, message: Message) -> None:
        super()._accepted(message)
        waiting = self._waiting.get(self._key(message))
        if waiting is not None:
            waiting.heard = self._clock.monotonic()

    def _alive(self, message: Message) -> None:
        """What a host shows by itself is less than what it answers."""

    def _status(self, message: Message) -> None:
        running, unknown = message.data.get("running"), message.data.get("unknown")
        now = self._clock.monotonic()
        for key in running if isinstance(running, tuple) else ():
            waiting = self._waiting.get((key, ""))
            if waiting is not None:
                waiting.heard = now
        for key in unknown if isinstance(unknown, tuple) else ():
            waiting = self._waiting.get((key, ""))
            if waiting is not None and waiting.accepted is not None:
                give_up_on(waiting, "handler host lost: it was started again")

    def _look_within(self, seconds: float) -> None:
        """One timer for all of them, at the earliest moment at which one needs a look."""
        due = self._clock.monotonic() + seconds
        if self._timer is not None:
            if self._due <= due:
                return
            self._timer.cancel()
        self._due = due
        self._timer = self._clock.after(seconds, self._sweep)

    def _sweep(self) -> None:
        self._timer = None
        now = self._clock.monotonic()
        if now - self._due > _STALLED:
            self.reconnected()
        if self._log.connected:
            self._check_programs(now)
            for waiting in list(self._waiting.values()):
                if waiting.accepted is None:
                    self._call_again(waiting, now)
                    continue
                why = self._hopeless(waiting, now)
                if why is not None:
                    give_up_on(waiting, why)
            self._ask(now)
        if self._waiting:
            is_calling = any(waiting.accepted is None for waiting in self._waiting.values())
            self._look_within(_LOOK if is_calling else _ASK)

    def _call_again(self, waiting: PendingCall, now: float) -> None:
        if waiting.closing is not None:
            return
        if now - waiting.since >= _NO_HANDLER:
            waiting.closing = asyncio.get_running_loop().create_task(self._close(waiting))
        elif now - waiting.called >= max(_LOOK, (now - waiting.since) / 4):  # less and less: all turns wait for it
            waiting.called = now
            dispatch = waiting.dispatch
            call = Frozen(topic=dispatch.type, data=dispatch.data, destination=dispatch.context.get(DESTINATION, ""))
            self._bus.emit(dispatch.signal(topics.HANDLER_CALL, call))

    async def _close(self, waiting: PendingCall) -> None:
        host = await self._log.close_calls(waiting.dispatch.utterance_id or "")
        if host:
            waiting.accepted = waiting.heard = self._clock.monotonic()
            waiting.host, waiting.closing = host, None
        else:
            give_up_on(waiting, f"no handler accepted the dispatch within {_NO_HANDLER:g} s")

    def _ask(self, now: float) -> None:
        if now - self._asked < _ASK:
            return
        calls = [
            [waiting.dispatch.utterance_id, waiting.dispatch.type, waiting.host]
            for waiting in self._waiting.values()
            if waiting.accepted is not None and not waiting.of_program
        ]
        if calls:
            self._asked = now
            self._bus.emit(Message(topics.HOST_STATUS, {"calls": calls}))

    def _hopeless(self, waiting: PendingCall, now: float) -> str | None:
        if waiting.of_program:
            return self._look_at_quiet(waiting, now)
        if now - waiting.heard >= _LOST:
            return f"handler host lost: no answer for {_LOST:g} s"
        return self._overtime(waiting, now)
