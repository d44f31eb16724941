"""Hosting handlers: each dispatch is accepted, run, and answered with how it went (ruling R11)."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import threading
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from hark.act.calls import CallNotes, Calls
from hark.act.polls import Polls
from hark.act.questions import Questions
from hark.act.running_work import HandlerRunner, HandlerSpeech, OpenCalls, RunningWork, SkillStopper
from hark.act.shared_plugins import SharedPlugins
from hark.bus import Bus, Subscription
from hark.hosting import Loaded, Runner, check_emittable, describe_error, error_stack, sendable_text
from hark.model import Clock, Frozen, Message, Session
from hark.plugins import Plugin, Turn
from hark.plugins.handlers import converses, fallbacks_of, handlers_of, is_dangerous
from hark.plugins.schedules import ScheduledTurn, scheduled_of
from hark.spec import dispatch_topic, topics
from hark.spec.names import SCHEDULER, SKILL_ID, TOOL_TURN, TRACE_KEEP
from hark.trace import TraceStore

log = logging.getLogger("hark.act")

_FIRED = 1_000
"""Occurrences that are remembered as called for."""


class HandlerHost:
    """Runs the handlers of plugins. A handler may take all the time it wants; the host shows it is alive.

    It is the `RunningEngine` their turns act through, and it answers for them where candidates are asked.
    """

    def __init__(
        self,
        bus: Bus,
        runner: Runner,
        traces: TraceStore,
        beat: float = 2.0,
        *,
        notes: CallNotes | None = None,
        opens: Callable[[Message], bool] | None = None,
        is_shared: Callable[[str], bool] = lambda _plugin_id: False,
    ) -> None:
        self._bus = bus
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._runner = runner
        self._traces = traces
        self._id = os.urandom(16).hex()
        self._speech = HandlerSpeech(bus, runner.clock)
        self._questions = Questions(bus, runner.clock)
        self._work = RunningWork(runner.clock)
        self._polls = Polls(bus, runner, self._work)
        self._stopping = SkillStopper(self, runner, self._work)
        self._running = HandlerRunner(runner, self._polls.fallback_for)
        self._under_way = OpenCalls(bus, runner.clock, self._id, beat, self._questions)
        self._entries: dict[str, Loaded[Any]] = {}
        """The handlers, by their dispatch topics."""
        self._dangerous: set[str] = set()
        """Those of them that no model has run without the user."""
        self._subscriptions: dict[str, list[Subscription]] = {}
        self._fired: dict[tuple[str, object, object], None] = {}
        """Occurrences of schedules that were called for, the latest last."""
        self._shared: SharedPlugins | None = None
        if opens is not None:
            self._shared = SharedPlugins(bus, self._id, self._work, self._questions, is_shared, opens)
            self._polls.answers = self._shared.answers
        self._calls: Calls | None = None
        """Where dispatches come from other processes, and may come again."""
        if notes is not None:
            self._calls = Calls(bus, self._id, notes, self._is_sole, self._shared.runs if self._shared else None)
            self._repeated = bus.on(topics.HANDLER_CALL, self._call, name="act: call", concurrent=True)
        self._closed = False
        self._stops = bus.on(topics.STOP, self._stopping.stop_all, name="act on ovos.stop", concurrent=True)

    @property
    def clock(self) -> Clock:
        return self._runner.clock

    def attach(self, plugin: Plugin) -> None:
        """Take on the handlers of a plugin, and answer for it in polls."""
        subscriptions = self._subscriptions.setdefault(plugin.id, [])
        for intent_name, method in {**self._reserved(plugin), **handlers_of(plugin)}.items():
            topic = dispatch_topic(plugin.id, intent_name)
            entry = self._running.entry(plugin, method)
            self._entries[topic] = entry
            if is_dangerous(method):
                self._dangerous.add(topic)
            # A quick handler has nothing to wait for: it needs neither a task nor a trip through the event loop.
            quick = entry.mode == "inline" and self._calls is None
            run = partial(self._handle, entry, not quick)
            subscriptions.append(self._bus.on(topic, run, name=f"handler {topic}", concurrent=True, eager=quick))
        for name, method in scheduled_of(plugin).items():
            call = partial(self._call_scheduled, self._running.entry(plugin, method), name)
            topic = f"{plugin.id}.{name}"
            subscriptions.append(self._bus.on(topic, call, name=f"scheduled {topic}", concurrent=True))
        self._polls.attach(plugin)
        self._stopping.attach(plugin)

    def detach(self, plugin_id: str) -> None:
        """Call a plugin's handlers no more; those that run go on."""
        for subscription in self._subscriptions.pop(plugin_id, ()):
            subscription.close()
        for topic in [topic for topic, entry in self._entries.items() if entry.id == plugin_id]:
            del self._entries[topic]
            self._dangerous.discard(topic)
        self._polls.detach(plugin_id)
        self._stopping.detach(plugin_id)

    async def idle(self, seconds: float) -> None:
        """Wait until no handler runs, at most this long; those that wait for an answer are not waited for."""
        await self._under_way.idle(seconds)

    async def close(self) -> None:
        """Stop every handler that still runs."""
        self._closed = True
        self._under_way.close()
        for plugin_id in list(self._subscriptions):
            self.detach(plugin_id)
        self._stops.close()
        if self._calls is not None:
            self._repeated.close()
            self._calls.close()
        if self._shared is not None:
            self._shared.close()
        self._polls.close()
        await self._work.close()
        self._speech.close()
        self._questions.close()

    def emit(self, message: Message) -> None:
        """Nothing is delivered before this returns: the handler may be deep in its stack."""
        check_emittable(message.type, "a handler")
        self._bus.post(unspoken(message) if message.type == topics.UTTERANCE_SPEAK else message)

    async def say(self, message: Message, wait: bool) -> None:
        said = unspoken(message)
        if said is message:
            await self._speech.say(message, wait)
        else:
            self._bus.post(said)

    async def listen(self, turn: Turn, question: str, timeout: float, lang: str | None) -> str | None:
        return await self._questions.listen(turn, question, timeout, lang)

    def note(self, turn: Turn, text: str) -> None:
        dispatch = turn.message
        trace = self._traces.of(dispatch.utterance_id)
        if trace is not None:
            trace.limit(dispatch.context.get(TRACE_KEEP))
            trace.step("handler", turn.skill_id, "note", 0.0, sendable_text(text))

    def task(self, turn: Turn, work: Coroutine[Any, Any, None], name: str) -> None:
        """Handlers on worker threads may begin one as well."""
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
            found["fallback"] = partial(self._running.fall_back, plugin)
        return found

    async def _call(self, message: Message) -> None:
        """A dispatch that was perhaps not heard comes again."""
        topic, data = message.data.get("topic"), message.data.get("data")
        entry = self._entries.get(topic) if isinstance(topic, str) else None
        if entry is not None and isinstance(data, Frozen):
            dispatch = message.forward(str(topic), data).carrying(destination=message.data.get("destination") or None)
            await self._handle(entry, True, dispatch, is_repeated=True)

    def _is_sole(self, skill_id: str) -> bool:
        return skill_id in self._subscriptions and not (self._shared and self._shared.is_shared(skill_id))

    async def _handle(
        self, entry: Loaded[Any], has_task: bool, dispatch: Message, *, is_repeated: bool = False
    ) -> None:
        if self._calls is not None and not await self._calls.begin(dispatch, is_repeated=is_repeated):
            if dispatch.type.endswith(":stop") and self._shared is not None and self._shared.is_shared(entry.id):
                await self._work.cancel(entry.id, dispatch.session_id)  # another process answers, each stops its own
            return
        task = asyncio.current_task() if has_task else None
        if task is not None:
            task.set_name(dispatch.type)
            self._work.add(task, entry.id, dispatch.session_id)
        self._under_way.began(dispatch)
        self._bus.emit(dispatch.signal(topics.HANDLER_ACCEPTED, Frozen(topic=dispatch.type, host=self._id)))
        turn = Turn(dispatch, self, entry.plugin)
        failure = "the handler was stopped"
        began = self._runner.clock.monotonic()
        try:
            if dispatch.type in self._dangerous and dispatch.context.get(TOOL_TURN, dispatch.type) != dispatch.type:
                failure = _NOT_AGREED
            else:
                failure = await self._running.run(entry, turn, dispatch.type)
        except Exception as error:  # noqa: BLE001 - what it is does not matter, its turn has to end
            failure = describe_error(error)
            log.error("what handler %s returned could not be said: %s\n%s", dispatch.type, failure, error_stack(error))
        finally:
            self._under_way.ended(dispatch)
            self._note(dispatch, failure, self._runner.clock.monotonic() - began)
            done = _done(dispatch, turn, failure)
            if self._calls is not None:
                self._calls.ended(dispatch, done)
            self._bus.emit(done)

    async def _call_scheduled(self, entry: Loaded[Any], name: str, fire: Message) -> None:
        """The scheduler fired an event of a plugin. It may do so twice for one occurrence."""
        said = fire.context.get(SCHEDULER)
        if not isinstance(said, Frozen) or said.get(SKILL_ID, entry.id) != entry.id:
            log.warning("%s was not emitted by the scheduler; %s is not called", fire.type, entry.id)
            return
        occurrence = entry.id, said.get("id"), said.get("due")
        if occurrence in self._fired:
            return
        self._fired[occurrence] = None
        while len(self._fired) > _FIRED:
            del self._fired[next(iter(self._fired))]
        task = asyncio.current_task()
        if task is not None:
            task.set_name(fire.type)
            self._work.add(task, entry.id, fire.session_id, is_scheduled=True)
        try:
            self._tell_scheduled(fire, runs=True)
            turn = ScheduledTurn(fire, self, entry.plugin, name)
            await self._running.run(entry, turn, fire.type)
        except Exception as error:  # noqa: BLE001 - what it is does not matter, others are to be called
            log.error("scheduled call %s failed: %s\n%s", fire.type, describe_error(error), error_stack(error))
        finally:
            self._tell_scheduled(fire, runs=False)

    def _tell_scheduled(self, fire: Message, *, runs: bool) -> None:
        """Whatever decides what a stop is about may be in another process."""
        said = fire.context[SCHEDULER]
        data = {"call": f"{fire.type} {said.get('id')} {said.get('due')}", "runs": runs}
        self._bus.emit(Message(topics.SCHEDULED_CALL, data, session=fire.session))

    def _note(self, dispatch: Message, failure: str, seconds: float) -> None:
        trace = self._traces.of(dispatch.utterance_id)
        if trace is not None:
            trace.limit(dispatch.context.get(TRACE_KEEP))
            trace.step("handler", dispatch.type, "raised" if failure else "returned", seconds, failure)


_NOT_AGREED: Final = "it is dangerous, and the tool of a model that led to it was another one: the user was not asked"


def _done(dispatch: Message, turn: Turn, failure: str) -> Message:
    """The signal that a handler has ended, with its session. A handler may have assigned anything to its turn."""
    data = {"exception": failure} if failure else {}
    done = dispatch.signal(topics.HANDLER_DONE, Frozen(data, topic=dispatch.type))
    session = vars(turn).get("_session")
    if session is dispatch.session or type(session) is not Session or session.session_id != dispatch.session_id:
        return done
    return done.carrying(session)


def unspoken(message: Message) -> Message:
    """What a handler says, on a topic of its own where a model asked for its turn: the model gives the answer.

    Questions are asked aloud: only the user can answer them.
    """
    if TOOL_TURN not in message.context or message.data.get("listen") is True:
        return message
    return message.forward(topics.TOOL_SAID, message.data)
