"""Hosting handlers: each dispatch is accepted, run, and answered with how it went (ruling R11)."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, Final, Protocol

from hark.act.polls import Polls
from hark.act.questions import Questions
from hark.act.speech import Speech
from hark.act.stopping import Stopping
from hark.act.work import Work
from hark.bus import Bus, Subscription
from hark.hosting import Loaded, Outcome, Runner, describe, let_out, stack_of
from hark.model import Clock, Frozen, Message, Session
from hark.model.frozen import EMPTY
from hark.plugins import Plugin, Turn
from hark.plugins.conversing import converses, fallbacks_of
from hark.plugins.handlers import handlers_of
from hark.spec import dispatch_topic, split_dispatch, topics
from hark.spec.names import AGAIN
from hark.trace import TraceStore

log = logging.getLogger("hark.act")

_REMEMBERED: Final = 1_000


class Shared(Protocol):
    """Says which of several processes with the same handlers is to run one."""

    def takes(self, dispatch: Message) -> bool:
        """Whether it is this one."""

    def takes_answer(self, dispatch: Message) -> bool:
        """Whether it is this one for an answer for which nobody waits here."""


class HandlerHost:
    """Runs the handlers of plugins. A handler may take all the time it wants; the host shows it is alive.

    It is the `Stage` their turns act through, and it answers for them where candidates are asked.
    """

    def __init__(
        self,
        bus: Bus,
        runner: Runner,
        traces: TraceStore,
        beat: float = 2.0,
        *,
        shared: Shared | None = None,
        is_apart: bool = False,
    ) -> None:
        self._bus = bus
        self._shared = shared
        """Where several processes have the same handlers, which dispatches are for this one."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._runner = runner
        self._traces = traces
        self._beat = beat
        self._id = os.urandom(16).hex()
        self._speech = Speech(bus, runner.clock)
        self._questions = Questions(bus, runner.clock)
        self._work = Work(runner.clock)
        self._polls = Polls(bus, runner, self._work)
        self._stopping = Stopping(self, runner, self._work)
        self._open: dict[int, Message] = {}
        """What handlers under way were called with, whether they have a task or not."""
        self._none_open: asyncio.Event | None = None
        """Set when nothing is under way, for whoever waits for that."""
        self._beating = False
        self._is_apart = is_apart
        """Whether dispatches come from another process: then one may come again, when nobody knows if it was heard."""
        self._called: dict[tuple[str | None, str], None] = {}
        """The last dispatches, if so."""
        self._closed = False
        self._subscriptions: dict[str, list[Subscription]] = {}
        self._stops = bus.on(topics.STOP, self._stopping.stop_all, name="act on ovos.stop", concurrent=True)

    @property
    def clock(self) -> Clock:
        """As promised by `Stage`."""
        return self._runner.clock

    def attach(self, plugin: Plugin) -> None:
        """Take on the handlers of a plugin, and answer for it in polls."""
        subscriptions = self._subscriptions.setdefault(plugin.id, [])
        for intent_name, method in {**self._reserved(plugin), **handlers_of(plugin)}.items():
            topic = dispatch_topic(plugin.id, intent_name)
            entry = Loaded(plugin, method, limit=float("inf"))
            if inspect.isasyncgenfunction(method):
                entry = Loaded(plugin, partial(self._speak_each, method), limit=float("inf"))
            # A quick handler has nothing to wait for: it needs neither a task nor a trip through the event loop.
            quick = entry.mode == "inline"
            run = partial(self._handle, entry, not quick)
            subscriptions.append(self._bus.on(topic, run, name=f"handler {topic}", concurrent=True, eager=quick))
        self._polls.attach(plugin)
        self._stopping.attach(plugin)

    def detach(self, plugin_id: str) -> None:
        """Call a plugin's handlers no more; those that run go on."""
        for subscription in self._subscriptions.pop(plugin_id, ()):
            subscription.close()
        self._polls.detach(plugin_id)
        self._stopping.detach(plugin_id)

    def began(self) -> None:
        """Tell that the handlers of those who were attached can be called, for there may be calls they have missed."""
        self._bus.emit(Message(topics.HOST_BEGAN, {"host": self._id, "skills": list(self._subscriptions)}))

    async def idle(self, seconds: float) -> None:
        """Wait until no handler runs, at most this long; those that wait for an answer are not waited for."""
        if len(self._open) <= len(self._questions):
            return
        self._none_open = asyncio.Event()
        with suppress(TimeoutError):
            async with self.clock.timeout(seconds):
                await self._none_open.wait()

    async def close(self) -> None:
        """Stop every handler that still runs."""
        self._closed = True
        for plugin_id in list(self._subscriptions):
            self.detach(plugin_id)
        self._stops.close()
        self._polls.close()
        await self._work.close()
        self._speech.close()
        self._questions.close()

    def emit(self, message: Message) -> None:
        """As promised by `Stage`. Nothing is delivered before this returns: the handler may be deep in its stack."""
        let_out(message.type, "a handler")
        self._bus.post(message)

    async def say(self, message: Message, wait: bool) -> None:
        """As promised by `Stage`."""
        await self._speech.say(message, wait)

    async def listen(self, turn: Turn, question: str, timeout: float, lang: str | None) -> str | None:
        """As promised by `Stage`."""
        return await self._questions.listen(turn, question, timeout, lang)

    def task(self, turn: Turn, work: Coroutine[Any, Any, None], name: str) -> None:
        """As promised by `Stage`; handlers on worker threads may begin one as well."""
        if not inspect.iscoroutine(work):
            raise TypeError(f"task takes what an async def returns, not {type(work).__name__}")
        who = f"{turn.skill_id} {name}".strip()

        def begin() -> None:
            if self._closed:
                work.close()
                return
            task = self._loop.create_task(self._runner.guard(work, who), name=who)
            task.add_done_callback(lambda _task: work.close())  # it may be stopped before it began
            self._work.add(task, turn.skill_id, turn.session.session_id)

        if threading.get_ident() == self._thread:
            begin()
        else:
            self._loop.call_soon_threadsafe(begin)

    def _reserved(self, plugin: Plugin) -> dict[str, Callable[..., Any]]:
        """The handlers every plugin has, under the names no intent may have (PIPELINE-1 §7.3)."""
        found: dict[str, Callable[..., Any]] = {
            "response": self._questions.answered,
            "stop": partial(self._stopping.stop, plugin),
        }
        if converses(plugin):
            found["converse"] = plugin.converse  # type: ignore[attr-defined]
        if fallbacks_of(plugin):
            found["fallback"] = partial(self._fall_back, plugin)
        return found

    async def _fall_back(self, plugin: Plugin, turn: Turn) -> Any:
        name = await self._polls.fallback_for(plugin, turn.message)
        if name is None:
            raise LookupError(f"no fallback of {plugin.id} wants this any more")
        method = getattr(plugin, name)
        if inspect.isasyncgenfunction(method):
            return await self._speak_each(method, turn)
        outcome = await self._runner.call(Loaded(plugin, method, limit=float("inf")), turn)
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    def _is_mine(self, plugin_id: str, dispatch: Message) -> bool:
        """Whether a dispatch is for this process: an answer is for the one in which somebody waits for it."""
        if self._shared is None:
            return True
        if split_dispatch(dispatch.type)[1] == "response":
            return self._questions.waits(plugin_id, dispatch.session_id) or self._shared.takes_answer(dispatch)
        return self._shared.takes(dispatch)

    async def _handle(self, entry: Loaded[Any], has_task: bool, dispatch: Message) -> None:
        if not self._is_mine(entry.id, dispatch) or (self._is_apart and not self._is_new(dispatch)):
            return
        task = asyncio.current_task() if has_task else None
        if task is not None:
            task.set_name(dispatch.type)
            self._work.add(task, entry.id, dispatch.session_id)
        self._open[id(dispatch)] = dispatch
        self._bus.emit(dispatch.forward(topics.HANDLER_ACCEPTED, Frozen(topic=dispatch.type, host=self._id)))
        if not self._beating:
            self._beat_later()
        turn = Turn(dispatch, self, entry.plugin)
        failure = "the handler was stopped"
        began = self._runner.clock.monotonic()
        try:
            failure = await self._run(entry, turn, dispatch.type)
        except Exception as error:  # noqa: BLE001 - what it is does not matter, its turn has to end
            failure = describe(error)
            log.error("what handler %s returned could not be said: %s\n%s", dispatch.type, failure, stack_of(error))
        finally:
            self._open.pop(id(dispatch), None)
            if self._none_open is not None and len(self._open) <= len(self._questions):
                self._none_open.set()
            self._note(dispatch, failure, self._runner.clock.monotonic() - began)
            self._bus.emit(_done(dispatch, turn, failure))

    def _is_new(self, dispatch: Message) -> bool:
        key = dispatch.utterance_id, dispatch.type
        if AGAIN in dispatch.context and key in self._called:
            return False
        self._called[key] = None
        if len(self._called) > _REMEMBERED:
            del self._called[next(iter(self._called))]
        return True

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
            running = [[dispatch.utterance_id, dispatch.type] for dispatch in self._open.values()]
            self._bus.emit(Message(topics.HOST_ALIVE, {"host": self._id, "open": running}, EMPTY))
            self._beat_later()


def _done(dispatch: Message, turn: Turn, failure: str) -> Message:
    """The signal that a handler has ended, with its session. A handler may have assigned anything to its turn."""
    data = {"exception": failure} if failure else {}
    done = dispatch.forward(topics.HANDLER_DONE, Frozen(data, topic=dispatch.type))
    session = vars(turn).get("_session")
    if session is dispatch.session or type(session) is not Session or session.session_id != dispatch.session_id:
        return done
    return done.carrying(session)
