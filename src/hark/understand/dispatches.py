"""Waiting for handlers, however many, with one shared pair of listeners (rulings R11)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Final, Literal

import msgspec

from hark.bus import Bus, Subscription
from hark.model import Clock, Message, Session
from hark.spec import split_dispatch, topics
from hark.spec.names import SKILL_ID
from hark.understand.foreign_programs import ForeignPrograms
from hark.understand.programs import Programs
from hark.understand.turn_state import TurnOptions

Key = tuple[str | None, str]
"""An `utterance_id` and a dispatch topic: nested turns of one skill differ in the first."""


_CHECK: Final = 10.0
"""Seconds between two questions whether the programs whose handlers are under way are still connected."""


class HandlerOutcome(msgspec.Struct, frozen=True):
    """How a handler ended."""

    outcome: Literal["complete", "error"]
    exception: str = ""
    session: Session | None = None
    """The session the handler ended with; None when it is not known."""
    said: bool = False
    """Whether a handler that failed has said so."""
    declined: bool = False
    """Whether a fallback had no answer after all."""


class PendingCall(msgspec.Struct):
    """A handler that was called."""

    dispatch: Message
    since: float
    done: asyncio.Future[HandlerOutcome]
    accepted: float | None = None
    """From when its time counts; put off by as long as it waits for the user."""
    paused: float | None = None
    """Since when it waits for the user, if it does."""
    host: str = ""
    missed: int = 0
    """How often its host showed life without it."""
    called: float = 0.0
    """When it was last called, where calls are repeated."""
    heard: float = 0.0
    """When its host last said that it runs, where hosts are asked."""
    closing: asyncio.Task[None] | None = None
    """Makes sure that it is not started any more."""
    of_program: bool = False
    """Whether it is the handler of a program outside, which has no host (ruling R18)."""
    spoke: float | None = None
    """When its program last sent a Message of this turn."""
    waits_until: float = 0.0
    """Until when its program waits for an answer of the user, in Unix seconds."""


class Dispatches:
    """The handlers under way. Each ends by its done-signal, or by one of the ways in which none can come any more."""

    def __init__(self, bus: Bus, clock: Clock, options: Callable[[], TurnOptions], programs: Programs) -> None:
        self._bus = bus
        self._clock = clock
        self._options = options
        self._programs = programs
        programs.listeners.append(self)
        self._foreign = ForeignPrograms(bus, clock, programs, self) if bus.is_foreign else None
        self._waiting: dict[Key, PendingCall] = {}
        self._of_programs: dict[str | None, PendingCall] = {}
        """Those of programs outside, by utterance: a turn has one handler."""
        self._beats: dict[str, float] = {}
        self._checked = 0.0
        self._sweeping = False
        self._no_answer = ""
        """Why no question is answered any more."""
        self._subscriptions: tuple[Subscription, ...] = (
            bus.on(topics.HANDLER_ACCEPTED, self._accepted, name="dispatches: accepted"),
            bus.on(topics.HANDLER_DONE, self._done, name="dispatches: done"),
            bus.on(topics.HANDLER_WAITING, self._waits, name="dispatches: waiting"),
            bus.on(topics.HANDLER_ACTIVE, self.program_active, name="dispatches: active"),
            bus.on(topics.HOST_ALIVE, self._alive, name="dispatches: alive"),
        )

    def __len__(self) -> int:
        return len(self._waiting)

    def expect(self, dispatch: Message, host: str = "") -> asyncio.Future[HandlerOutcome]:  # noqa: ARG002 - see RemoteDispatches
        """The end of the handler that `dispatch` is about to call, or that a host was seen to have started."""
        done: asyncio.Future[HandlerOutcome] = asyncio.get_running_loop().create_future()
        call = self._waiting[self._key(dispatch)] = PendingCall(dispatch, self._clock.monotonic(), done)
        if self._programs.is_any:
            self._look_at_program(call)
        if not self._sweeping:
            self._sweep_later()
        return done

    def forget(self, dispatch: Message) -> None:
        """Wait for this one no longer."""
        self._waiting.pop(self._key(dispatch), None)
        if self._of_programs:
            self._of_programs.pop(dispatch.utterance_id, None)

    def give_up(self, why: str, *, asking: bool = False) -> None:
        """End every wait with an error, or only for handlers that wait for an answer, also those that ask later: the
        process is about to end, and no answer will reach them."""
        if asking:
            self._no_answer = why
        for waiting in list(self._waiting.values()):
            if not asking or waiting.paused is not None:
                give_up_on(waiting, why)

    def abandon(self, utterance_id: str | None, why: str) -> None:
        """End the wait of one turn, or of all: they are no longer ours."""
        for key, waiting in list(self._waiting.items()):
            if utterance_id in (None, key[0]):
                give_up_on(waiting, why)

    def close(self) -> None:
        """Listen no longer."""
        for subscription in self._subscriptions:
            subscription.close()
        if self._foreign is not None:
            self._foreign.close()

    def _key(self, message: Message) -> Key:
        """Of a dispatch, or of a signal of its host."""
        topic = message.data.get("topic", "") if message.type.startswith("hark.") else message.type
        return message.utterance_id, str(topic)

    def _accepted(self, message: Message) -> None:
        waiting = self._waiting.get(self._key(message))
        if waiting is not None and waiting.accepted is None:
            waiting.accepted = self._clock.monotonic()
            waiting.host = str(message.data.get("host", ""))
            self._beats[waiting.host] = waiting.accepted

    def _waits(self, message: Message) -> None:
        """A handler asked the user something, or has its answer: how long people think is not its time."""
        waiting = self._waiting.get(self._key(message))
        if waiting is None or waiting.accepted is None:
            return
        now = self._clock.monotonic()
        if waiting.paused is not None:
            waiting.accepted += now - waiting.paused
        waiting.paused = now if message.data.get("waits") is True else None
        if waiting.paused is not None and self._no_answer:
            give_up_on(waiting, self._no_answer)

    def _done(self, message: Message) -> None:
        if SKILL_ID in message.data:  # the server of the bus puts it there: the handler is a program's
            self.program_done(message)
            return
        self._finish(self._waiting.pop(self._key(message), None), message)

    def _finish(self, waiting: PendingCall | None, message: Message) -> None:
        if waiting is None or waiting.done.done():
            return
        exception = message.data.get("exception")
        if exception is None:
            declined = message.data.get("declined") is True
            waiting.done.set_result(HandlerOutcome("complete", "", message.session, declined=declined))
        else:
            said = message.data.get("said") is True
            waiting.done.set_result(HandlerOutcome("error", str(exception), message.session, said))

    def _alive(self, message: Message) -> None:
        host, running = message.data.get("host"), message.data.get("open")
        if host not in self._beats:  # others could be made up without limit
            return
        self._beats[host] = self._clock.monotonic()
        if not isinstance(running, tuple):
            return
        open_there = {tuple(key) for key in running if isinstance(key, tuple)}
        for key, waiting in list(self._waiting.items()):
            if waiting.host == host and waiting.accepted is not None:
                waiting.missed = 0 if key in open_there else waiting.missed + 1
                if waiting.missed > 1:  # once, its answer may still have been on its way
                    give_up_on(waiting, "the handler has ended, and how was lost on the way")

    def _sweep_later(self) -> None:
        self._sweeping = True
        options = self._options()
        self._clock.after(min(options.accept_within, options.beat) / 4, self._sweep)

    def _sweep(self) -> None:
        """Look for handlers from which nothing can come any more. One timer for all of them, none when none waits."""
        self._sweeping = False
        now = self._clock.monotonic()
        self._check_programs(now)
        for waiting in list(self._waiting.values()):
            why = self._hopeless(waiting, now)
            if why is not None:
                give_up_on(waiting, why)
        if self._waiting:
            self._sweep_later()
        else:
            self._beats.clear()

    # Handlers of programs outside.

    def programs_gone(self, skill_ids: Collection[str]) -> None:
        """End what these were doing: nothing more can come of it."""
        for waiting in list(self._of_programs.values()):
            skill_id = split_dispatch(waiting.dispatch.type)[0]
            if skill_id not in skill_ids:
                continue
            if waiting.spoke is None or self._programs.completes(skill_id) or self._asks(waiting):
                give_up_on(waiting, f"the program of {skill_id} lost its connection")
            elif not waiting.done.done():
                waiting.done.set_result(HandlerOutcome("complete"))

    def programs_changed(self) -> None:
        """Nothing to do: no call is made to a program that is gone."""

    def program_done(self, message: Message) -> None:
        """A program says that a handler has ended."""
        call = self._call_of_program(message)
        if call is not None:
            self.forget(call.dispatch)
            self._finish(call, message)

    def calls_of_programs(self) -> list[Message]:
        """The dispatches to programs that are under way."""
        return [call.dispatch for call in self._of_programs.values()]

    def take_for_program(self, utterance_id: str, skill_id: str) -> None:
        """The handler of this turn is a program's, unless a host has accepted it. For a bus that is not Hark's own."""
        for (one, _), call in self._waiting.items():
            if one == utterance_id and call.accepted is None and split_dispatch(call.dispatch.type)[0] == skill_id:
                self._take(call, skill_id)
                return

    def _take(self, call: PendingCall, skill_id: str) -> None:
        self._programs.attach([skill_id])
        self._is_of_program(call)
        if self._foreign is not None:
            self._foreign.watch()

    def _look_at_program(self, call: PendingCall) -> None:
        skill_id, intent_name = split_dispatch(call.dispatch.type)
        if skill_id in self._programs.absent:
            give_up_on(call, f"no handler: the program of {skill_id} is not connected")
        elif skill_id in self._programs.attached:
            self._is_of_program(call)
            if self._foreign is not None:
                self._foreign.watch()
            if intent_name == "response":
                self._answered(skill_id, call)

    def _is_of_program(self, call: PendingCall) -> None:
        call.of_program, call.accepted = True, call.since
        self._of_programs[call.dispatch.utterance_id] = call

    def _answered(self, skill_id: str, answer: PendingCall) -> None:
        """The user has answered: the handlers of this program that asked go on."""
        for call in self._of_programs.values():
            if call is not answer and self._asks(call):
                same = call.dispatch.session_id == answer.dispatch.session_id
                if same and split_dispatch(call.dispatch.type)[0] == skill_id:
                    call.spoke, call.waits_until = answer.since, 0.0

    def _call_of_program(self, message: Message) -> PendingCall | None:
        """The call that a Message of a program belongs to: of its turn, and of its skill."""
        skill_id, utterance_id = message.data.get(SKILL_ID), message.utterance_id
        call = self._of_programs.get(utterance_id)
        return call if call is not None and split_dispatch(call.dispatch.type)[0] == skill_id else None

    def program_active(self, message: Message) -> None:
        """A program has sent a Message of a turn."""
        call = self._call_of_program(message)
        if call is not None:
            until = message.data.get("waits_until")
            call.spoke = self._clock.monotonic()
            # Not as a float: a program may have said a number that is too large for one.
            call.waits_until = until if isinstance(until, (int, float)) else 0.0

    def _check_programs(self, now: float) -> None:
        """The server that programs are connected to may have died: it would say nothing."""
        if self._of_programs and self._foreign is None and now - self._checked >= _CHECK:
            self._checked = now
            self._programs.check()

    def _asks(self, call: PendingCall) -> bool:
        return call.waits_until > self._clock.wall()

    def _look_at_quiet(self, call: PendingCall, now: float) -> str | None:
        """End the handler of a program that has been quiet for long enough; why it is hopeless, if it is."""
        if call.waits_until:
            if self._asks(call):
                return None
            call.spoke, call.waits_until = now, 0.0
        skill_id = split_dispatch(call.dispatch.type)[0]
        is_quiet = call.spoke is not None and now - call.spoke >= self._options().quiet
        if is_quiet and not self._programs.completes(skill_id) and not call.done.done():
            call.done.set_result(HandlerOutcome("complete"))
        return self._overtime(call, now)

    def _hopeless(self, waiting: PendingCall, now: float) -> str | None:
        options = self._options()
        if waiting.of_program:
            return self._look_at_quiet(waiting, now)
        if waiting.accepted is None:
            late = now - waiting.since >= options.accept_within
            if late and self._foreign is not None:
                self._take(waiting, split_dispatch(waiting.dispatch.type)[0])
                return None
            return f"no handler accepted the dispatch within {options.accept_within:g} s" if late else None
        if now - self._beats.get(waiting.host, now) > 3 * options.beat:
            return f"handler host lost: no sign of life for {3 * options.beat:g} s"
        return self._overtime(waiting, now)

    def _overtime(self, waiting: PendingCall, now: float) -> str | None:
        limit, since = self._options().handler_limit, waiting.accepted
        if limit is None or since is None or waiting.paused is not None or now - since < limit:
            return None
        return f"timeout: the handler took longer than {limit:g} s"


def give_up_on(waiting: PendingCall, why: str) -> None:
    """End a wait with an error."""
    if not waiting.done.done():
        waiting.done.set_result(HandlerOutcome("error", why))
