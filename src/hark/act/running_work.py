"""What runs for skills: handlers and tasks, how a handler is run to its end, and how both are stopped."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from typing import Any, Final, TypeGuard

from hark.act.questions import Questions
from hark.bus import Answers, Bus, ask
from hark.hosting import Loaded, Outcome, Runner, cancel_all, error_stack
from hark.model import Clock, Frozen, Message, Session
from hark.model.frozen import EMPTY
from hark.plugins import Plugin, Turn
from hark.plugins.handlers import ConversationPlugin
from hark.plugins.turn import TurnHost
from hark.spec import dispatch_topic, topics
from hark.spec.names import NOTHING_STOPPED, RESPONSE_ID


class RunningWork:
    """Everything under way, so that a stop finds what it is to stop and nothing else."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tasks: dict[asyncio.Task[Any], tuple[str, str]] = {}
        self._scheduled: set[asyncio.Task[Any]] = set()
        """Those that no user has just asked for."""

    def add(self, task: asyncio.Task[Any], skill_id: str, session_id: str, *, is_scheduled: bool = False) -> None:
        """A task that works for a skill in a session; it leaves by itself when it is done."""
        self._tasks[task] = (skill_id, session_id)
        if is_scheduled:
            self._scheduled.add(task)
            task.add_done_callback(self._scheduled.discard)
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    def scheduled_in(self, session_id: str) -> set[str]:
        """The skills whose scheduled calls run in a session: what rings there."""
        return {skill_id for task in self._scheduled for skill_id, where in [self._tasks[task]] if where == session_id}

    def is_busy(self, skill_id: str, session_id: str) -> bool:
        """Whether anything runs for the skill in that session, the task that asks apart."""
        return next(self._of(skill_id, session_id), None) is not None

    async def cancel(self, skill_id: str, session_id: str) -> bool:
        """Cancel what runs for the skill in that session, the task that asks apart; whether there was anything."""
        found = set(self._of(skill_id, session_id))
        await cancel_all(found, self._clock)
        return bool(found)

    async def close(self) -> None:
        """Cancel everything."""
        await cancel_all(set(self._tasks), self._clock)

    def _of(self, skill_id: str, session_id: str) -> Iterator[asyncio.Task[Any]]:
        asking = asyncio.current_task()
        for task, whose in list(self._tasks.items()):
            if whose == (skill_id, session_id) and task is not asking:
                yield task


class OpenCalls:
    """What handlers were called with and have not answered. While there is any, life is shown every `beat` seconds."""

    def __init__(self, bus: Bus, clock: Clock, host: str, beat: float, questions: Questions) -> None:
        self._bus = bus
        self._clock = clock
        self._host = host
        self._beat = beat
        self._questions = questions
        self._open: dict[int, Message] = {}
        """Whether their handlers have a task or not."""
        self._none_open: asyncio.Event | None = None
        """Set when nothing is under way, where that is waited for."""
        self._beating = False
        self._closed = False

    def began(self, dispatch: Message) -> None:
        """A handler was called."""
        self._open[id(dispatch)] = dispatch
        if not self._beating:
            self._beat_later()

    def ended(self, dispatch: Message) -> None:
        """It is done."""
        self._open.pop(id(dispatch), None)
        if self._none_open is not None and self._is_idle:
            self._none_open.set()

    async def idle(self, seconds: float) -> None:
        """Wait until no handler runs, at most this long; those that wait for an answer are not waited for."""
        if self._is_idle:
            return
        self._none_open = asyncio.Event()
        with suppress(TimeoutError):
            async with self._clock.timeout(seconds):
                await self._none_open.wait()

    def close(self) -> None:
        """Show no more."""
        self._closed = True

    @property
    def _is_idle(self) -> bool:
        return len(self._open) <= len(self._questions)

    def _beat_later(self) -> None:
        self._beating = True
        self._clock.after(self._beat, self._show_life)

    def _show_life(self) -> None:
        self._beating = False
        if self._open and not self._closed:
            running = [[dispatch.utterance_id, dispatch.type] for dispatch in self._open.values()]
            self._bus.emit(Message(topics.HOST_ALIVE, {"host": self._host, "open": running}, EMPTY))
            self._beat_later()


log = logging.getLogger("hark.act")


class HandlerRunner:
    """Calls handlers, and says what they return."""

    def __init__(self, runner: Runner, fallback_for: Callable[[Plugin, Message], Awaitable[str | None]]) -> None:
        self._runner = runner
        self._fallback_for = fallback_for

    def entry(self, plugin: Plugin, method: Callable[..., Any]) -> Loaded[Any]:
        """A handler, ready to be run. It may take all the time it wants."""
        if inspect.isasyncgenfunction(method):
            method = partial(_speak_each, method)
        return Loaded(plugin, method, limit=float("inf"))

    async def run(self, entry: Loaded[Any], turn: Turn, topic: str) -> str:
        """Run a handler to its end; what went wrong, in words, or nothing."""
        if entry.mode == "loop":
            outcome = await _guarded(entry.call(turn))
        else:
            outcome = await self._runner.call(entry, turn)
        if outcome.error is not None:
            log.error("handler %s failed: %s\n%s", topic, outcome.failure, error_stack(outcome.error))
            return outcome.failure
        if outcome.value is None:
            return ""
        if not issubclass(type(outcome.value), str):  # not isinstance: it believes what an object says about itself
            return f"TypeError: a handler returns text or None, and this one returned {type(outcome.value).__name__}"
        await turn.speak(outcome.value)
        return ""

    async def fall_back(self, plugin: Plugin, turn: Turn) -> Any:
        """The handler for an utterance that no intent matched, and that a plugin said it can take."""
        name = await self._fallback_for(plugin, turn.message)
        if name is None:
            raise LookupError(f"no fallback of {plugin.id} wants this any more")
        method = getattr(plugin, name)
        if inspect.isasyncgenfunction(method):
            return await _speak_each(method, turn)
        outcome = await self._runner.call(Loaded(plugin, method, limit=float("inf")), turn)
        if outcome.error is not None:
            raise outcome.error
        return outcome.value


async def _speak_each(method: Callable[..., Any], turn: Turn) -> None:
    async for text in method(turn):
        await turn.speak(text)


async def _guarded(work: Any) -> Outcome:
    try:
        return Outcome(await work, None, 0.0)
    except asyncio.CancelledError as cancelled:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return Outcome(None, cancelled, 0.0)  # the handler's own doing: no stop came from outside
    except BaseException as error:  # noqa: BLE001 - a SystemExit that leaves a task ends the loop
        return Outcome(None, error, 0.0)


_LIMIT = 10.0
"""Seconds a skill may take to clean up."""


class SkillStopper:
    """Ends what runs for a skill in one session, then lets the skill know. A second stop finds nothing to do."""

    def __init__(self, stage: TurnHost, runner: Runner, work: RunningWork) -> None:
        self._stage = stage
        self._runner = runner
        self._work = work
        self._plugins: dict[str, Plugin] = {}
        self._under_way: set[tuple[str, str]] = set()

    def attach(self, plugin: Plugin) -> None:
        """Stop this plugin when everything is stopped."""
        self._plugins[plugin.id] = plugin

    def detach(self, plugin_id: str) -> None:
        """Stop it no more."""
        self._plugins.pop(plugin_id, None)

    async def stop(self, plugin: Plugin, turn: Turn) -> object:
        """The handler of `<skill_id>:stop`: what it returns is said, as of any handler."""
        with self._once(plugin.id, turn.session.session_id) as first:
            if not first:
                return None
            busy = await self._work.cancel(plugin.id, turn.session.session_id)
            outcome = await self._notify(plugin, turn)
        # What rings began by itself, so it need not be the skill that was used last: a stop always ends it.
        for skill_id in self._work.scheduled_in(turn.session.session_id) - {plugin.id}:
            if skill_id in self._plugins:
                busy = True
                await self._stop_in(self._plugins[skill_id], turn.message)
        if outcome is not None and outcome.error is not None:
            raise outcome.error
        if outcome is not None and (outcome.value is not None or not _says_when_busy(plugin)):
            return outcome.value
        return None if busy else turn.slots.get(NOTHING_STOPPED)

    async def stop_all(self, message: Message) -> None:
        """`ovos.stop`: everything there is in the session of the Message, and nothing of any other."""
        # At once: a skill that takes its time to clean up must not keep the others going.
        await asyncio.gather(*(self._stop_in(plugin, message) for plugin in list(self._plugins.values())))

    async def _stop_in(self, plugin: Plugin, message: Message) -> None:
        session = message.session or Session()
        with self._once(plugin.id, session.session_id) as first:
            if not first:
                return
            busy = await self._work.cancel(plugin.id, session.session_id)
            if busy or await self._may_be_stopped(plugin, session):
                said = Frozen(lang=session.lang or "", utterance="", slots=Frozen())
                turn = Turn(message.forward(dispatch_topic(plugin.id, "stop"), said), self._stage, plugin)
                outcome = await self._notify(plugin, turn)
                if outcome is not None and outcome.error is not None:
                    log.error("%s failed to stop: %s", plugin.id, outcome.failure)

    @contextmanager
    def _once(self, skill_id: str, session_id: str) -> Iterator[bool]:
        """Whether this is the first of the stops of a skill in a session that are under way."""
        key = skill_id, session_id
        if key in self._under_way:
            yield False
            return
        self._under_way.add(key)
        try:
            yield True
        finally:
            self._under_way.discard(key)

    async def _may_be_stopped(self, plugin: Plugin, session: Session) -> bool:
        if not _says_when_busy(plugin):
            return False
        outcome = await self._runner.call(Loaded(plugin, plugin.can_stop, limit=_LIMIT), session)
        return outcome.value is True

    async def _notify(self, plugin: Plugin, turn: Turn) -> Outcome | None:
        if not isinstance(plugin, ConversationPlugin) or type(plugin).stopped is ConversationPlugin.stopped:
            return None
        return await self._runner.call(Loaded(plugin, plugin.stopped, limit=_LIMIT), turn)


def _says_when_busy(plugin: Plugin) -> TypeGuard[ConversationPlugin]:
    """Whether a plugin reports itself that it has something to stop."""
    return isinstance(plugin, ConversationPlugin) and type(plugin).can_stop is not ConversationPlugin.can_stop


_PATIENCE: Final = 60.0
"""Seconds after which a handler that waits for its speech asks whether anything is being said: if not, there may be no
service that speaks, and the handler goes on."""
_ANSWER: Final = 2.0
"""Seconds for the answer to that."""


class HandlerSpeech:
    """Emits speak Messages for handlers."""

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self._bus = bus
        self._clock = clock
        self._marks = count(1)
        self._rendered = Answers(bus, topics.SPEECH_RENDERED, lambda message: message.context.get(RESPONSE_ID))

    async def say(self, message: Message, wait: bool) -> None:
        """Emit a speak Message and, with `wait`, return when it was rendered."""
        if not wait:
            self._bus.post(message)
            return
        mark = f"{message.utterance_id}-{next(self._marks)}"
        rendered = self._rendered.expect(mark)
        try:
            self._bus.post(message.carrying(**{RESPONSE_ID: mark}))
            while not await self._in_time(rendered):
                if not await self._is_heard(message):
                    return
        finally:
            self._rendered.forget(mark)

    async def _in_time(self, rendered: asyncio.Future[Message]) -> bool:
        try:
            async with self._clock.timeout(_PATIENCE):
                await asyncio.wait([rendered])
        except TimeoutError:
            return False
        return True

    async def _is_heard(self, message: Message) -> bool:
        """Whether something is being said in the session of a Message: an answer may be long, or wait for another."""
        question = Message(topics.AUDIO_IS_SPEAKING, {}, {}, message.session)
        try:
            answer = await ask(self._bus, self._clock, question, window=_ANSWER)
        except TimeoutError:
            return False
        return answer.data.get("speaking") is True

    def close(self) -> None:
        """Listen no longer."""
        self._rendered.close()
