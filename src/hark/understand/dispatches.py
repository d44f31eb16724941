"""Waiting for handlers, however many, with one shared pair of listeners (rulings R11)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

import msgspec

from hark.bus import Bus, Subscription
from hark.model import Clock, Message, Session
from hark.spec import topics
from hark.understand.turn_state import TurnOptions

Key = tuple[str | None, str]
"""An `utterance_id` and a dispatch topic: nested turns of one skill differ in the first."""


class HandlerOutcome(msgspec.Struct, frozen=True):
    """How a handler ended."""

    outcome: Literal["complete", "error"]
    exception: str = ""
    session: Session | None = None
    """The session the handler ended with; None when it is not known."""


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


class Dispatches:
    """The handlers under way. Each ends by its done-signal, or by one of the ways in which none can come any more."""

    def __init__(self, bus: Bus, clock: Clock, options: Callable[[], TurnOptions]) -> None:
        self._bus = bus
        self._clock = clock
        self._options = options
        self._waiting: dict[Key, PendingCall] = {}
        self._beats: dict[str, float] = {}
        self._sweeping = False
        self._subscriptions: tuple[Subscription, ...] = (
            bus.on(topics.HANDLER_ACCEPTED, self._accepted, name="dispatches: accepted"),
            bus.on(topics.HANDLER_DONE, self._done, name="dispatches: done"),
            bus.on(topics.HANDLER_WAITING, self._waits, name="dispatches: waiting"),
            bus.on(topics.HOST_ALIVE, self._alive, name="dispatches: alive"),
        )

    def __len__(self) -> int:
        return len(self._waiting)

    def expect(self, dispatch: Message, host: str = "") -> asyncio.Future[HandlerOutcome]:  # noqa: ARG002 - see RemoteDispatches
        """The end of the handler that `dispatch` is about to call, or that a host was seen to have started."""
        done: asyncio.Future[HandlerOutcome] = asyncio.get_running_loop().create_future()
        self._waiting[self._key(dispatch)] = PendingCall(dispatch, self._clock.monotonic(), done)
        if not self._sweeping:
            self._sweep_later()
        return done

    def forget(self, dispatch: Message) -> None:
        """Wait for this one no longer."""
        self._waiting.pop(self._key(dispatch), None)

    def give_up(self, why: str, *, asking: bool = False) -> None:
        """End every wait with an error, or only for handlers that wait for an answer: the process is about to end."""
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

    def _done(self, message: Message) -> None:
        waiting = self._waiting.pop(self._key(message), None)
        if waiting is None or waiting.done.done():
            return
        exception = message.data.get("exception")
        if exception is None:
            waiting.done.set_result(HandlerOutcome("complete", "", message.session))
        else:
            waiting.done.set_result(HandlerOutcome("error", str(exception), message.session))

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
        for waiting in list(self._waiting.values()):
            why = self._hopeless(waiting, now)
            if why is not None:
                give_up_on(waiting, why)
        if self._waiting:
            self._sweep_later()
        else:
            self._beats.clear()

    def _hopeless(self, waiting: PendingCall, now: float) -> str | None:
        options = self._options()
        if waiting.accepted is None:
            late = now - waiting.since >= options.accept_within
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
