"""Hosting handlers: each dispatch is accepted, run, and answered with how it went (ruling R11)."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

from hark.act.speech import Speech
from hark.bus import Bus, Subscription
from hark.hosting import Loaded, Outcome, Runner, describe, end_all, let_out, stack_of
from hark.model import Frozen, Message, Session
from hark.model.frozen import EMPTY
from hark.plugins import Plugin, Turn
from hark.plugins.handlers import handlers_of
from hark.spec import dispatch_topic, topics
from hark.trace import TraceStore

log = logging.getLogger("hark.act")


class HandlerHost:
    """Runs the `@handles` methods of plugins. A handler may take all the time it wants; the host shows it is alive."""

    def __init__(self, bus: Bus, runner: Runner, traces: TraceStore, beat: float = 2.0) -> None:
        self._bus = bus
        self._runner = runner
        self._traces = traces
        self._beat = beat
        self._id = uuid4().hex
        self._speech = Speech(bus, runner.clock)
        self._running: set[asyncio.Task[Any]] = set()
        self._open = 0
        """Handlers under way, with or without a task."""
        self._beating = False
        self._closed = False
        self._subscriptions: dict[str, list[Subscription]] = {}

    def attach(self, plugin: Plugin) -> None:
        """Take on the handlers of a plugin."""
        subscriptions = self._subscriptions.setdefault(plugin.id, [])
        for intent_name, method in handlers_of(plugin).items():
            topic = dispatch_topic(plugin.id, intent_name)
            entry = Loaded(plugin, method, limit=float("inf"))
            if inspect.isasyncgenfunction(method):
                entry = Loaded(plugin, partial(self._speak_each, method), limit=float("inf"))
            # A quick handler has nothing to wait for: it needs neither a task nor a trip through the event loop.
            quick = entry.mode == "inline"
            run = partial(self._handle, entry, not quick)
            subscriptions.append(self._bus.on(topic, run, name=f"handler {topic}", concurrent=True, eager=quick))

    def detach(self, plugin_id: str) -> None:
        """Call a plugin's handlers no more; those that run go on."""
        for subscription in self._subscriptions.pop(plugin_id, ()):
            subscription.close()

    async def close(self) -> None:
        """Stop every handler that still runs."""
        self._closed = True
        for plugin_id in list(self._subscriptions):
            self.detach(plugin_id)
        await end_all(self._running, self._runner.clock)
        self._speech.close()

    async def _handle(self, entry: Loaded[Any], has_task: bool, dispatch: Message) -> None:
        task = asyncio.current_task() if has_task else None
        if task is not None:
            task.set_name(dispatch.type)
            self._running.add(task)
        self._open += 1
        self._bus.emit(dispatch.forward(topics.HANDLER_ACCEPTED, Frozen(topic=dispatch.type, host=self._id)))
        if not self._beating:
            self._beat_later()
        turn = Turn(dispatch, self._runner.clock, self._emit, self._speech.say)
        failure = "the handler was stopped"
        began = self._runner.clock.monotonic()
        try:
            failure = await self._run(entry, turn, dispatch.type)
        except Exception as error:  # noqa: BLE001 - what it is does not matter, its turn has to end
            failure = describe(error)
            log.error("what handler %s returned could not be said: %s\n%s", dispatch.type, failure, stack_of(error))
        finally:
            self._open -= 1
            if task is not None:
                self._running.discard(task)
            self._note(dispatch, failure, self._runner.clock.monotonic() - began)
            self._bus.emit(_done(dispatch, turn, failure))

    def _emit(self, message: Message) -> None:
        """What handlers emit. Nothing is delivered before this returns: they may be at the end of their stack."""
        let_out(message.type, "a handler")
        self._bus.post(message)

    async def _run(self, entry: Loaded[Any], turn: Turn, topic: str) -> str:
        """Run a handler to its end; what went wrong, in words, or nothing."""
        if entry.mode == "loop":
            outcome = await self._guarded(entry.call(turn))
        else:
            outcome = await self._runner.call(entry, turn)
        if outcome.error is not None:
            log.error("handler %s failed: %s\n%s", topic, outcome.failure, stack_of(outcome.error))
            return outcome.failure
        if outcome.value is None:
            return ""
        if not issubclass(type(outcome.value), str):  # not isinstance: it believes what an object says about itself
            return f"TypeError: the handler returned a {type(outcome.value).__name__}; it returns text or None"
        await turn.speak(outcome.value)
        return ""

    async def _guarded(self, work: Any) -> Outcome:
        try:
            return Outcome(await work, None, 0.0)
        except asyncio.CancelledError as cancelled:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return Outcome(None, cancelled, 0.0)  # the handler's own doing: nobody stopped it
        except BaseException as error:  # noqa: BLE001 - a SystemExit that leaves a task ends the loop
            return Outcome(None, error, 0.0)

    async def _speak_each(self, method: Callable[..., Any], turn: Turn) -> None:
        async for text in method(turn):
            await turn.speak(text)

    def _note(self, dispatch: Message, failure: str, seconds: float) -> None:
        trace = self._traces.of(dispatch.utterance_id)
        if trace is not None:
            trace.step("handler", dispatch.type, "raised" if failure else "returned", seconds, failure)

    def _beat_later(self) -> None:
        self._beating = True
        self._runner.clock.after(self._beat, self._show_life)

    def _show_life(self) -> None:
        self._beating = False
        if self._open and not self._closed:
            self._bus.emit(Message(topics.HOST_ALIVE, {"host": self._id}, EMPTY))
            self._beat_later()


def _done(dispatch: Message, turn: Turn, failure: str) -> Message:
    """The signal that a handler has ended, with its session. A handler may have assigned anything to its turn."""
    data = {"exception": failure} if failure else {}
    done = dispatch.forward(topics.HANDLER_DONE, Frozen(data, topic=dispatch.type))
    session = vars(turn).get("_session")
    if session is dispatch.session or type(session) is not Session or session.session_id != dispatch.session_id:
        return done
    return done.carrying(session)
