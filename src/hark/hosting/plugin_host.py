"""The host of a plugin: its access to bus, clock, log and disk, and the topics it may not emit."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hark.bus import Bus, Subscription
from hark.hosting.loaded import TOO_MANY_ABANDONED, Loaded
from hark.hosting.runner import Outcome, Runner, cancel_all
from hark.model import Clock, Message, Session, Timer
from hark.plugins import Home, PipelinePlugin, Plugin, Transformer
from hark.spec import is_dispatch_topic, topics
from hark.spec.names import SKILL_ID, stamp_key

RUNTIME_TOPICS: Final = frozenset(
    {
        *topics.LIFECYCLE,
        topics.HANDLER_ACCEPTED,
        topics.HANDLER_DONE,
        topics.HANDLER_WAITING,
        topics.QUESTION_WITHDRAWN,
        topics.HOST_ALIVE,
        topics.SPEECH_RENDERED,
        topics.SCHEDULED_CALL,
        topics.SESSION_CHANGED,
        topics.SPEECH_SHOWN,
    }
)
"""Topics that only Hark emits: a plugin that could emit them could end the turns of others."""


_UNKNOWN_HOME: Final = Home()


def plugins_may_emit(topic: str) -> bool:
    """Whether a plugin may emit `topic`: neither a topic of Hark's own nor a dispatch, which follows from a claim."""
    return topic not in RUNTIME_TOPICS and not is_dispatch_topic(topic)


def check_emittable(topic: str, plugin_id: str) -> None:
    """Raise `PermissionError` when plugins may not emit `topic`."""
    if not plugins_may_emit(topic):
        raise PermissionError(f"{plugin_id} may not emit {topic}: only Hark itself emits it")


def with_stamp(stamps: Any, transformer_id: str) -> tuple[str, ...]:
    """The ids of the transformers a Message passed, with one more; a value from outside that is no list is dropped."""
    return (*stamps, transformer_id) if type(stamps) is tuple else (transformer_id,)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:  # on a worker thread
        return None


class _PostedTimer:
    """A timer that a worker thread asked for: the event loop starts and cancels it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, start: Callable[[], Timer]) -> None:
        self._loop = loop
        self._start = start
        self._timer: Timer | None = None
        self._is_cancelled = False
        loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        if not self._is_cancelled:
            self._timer = self._start()

    def cancel(self) -> None:
        self._is_cancelled = True
        self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class _HeldTimer:
    """A timer of a plugin, held until it is due or cancelled: a plugin may cancel one for every turn."""

    def __init__(self, timer: Timer, timers: set[_HeldTimer]) -> None:
        self._timer = timer
        self._timers = timers
        timers.add(self)

    def release(self) -> None:
        self._timers.discard(self)

    def cancel(self) -> None:
        self._timer.cancel()
        self.release()


class PluginHost:
    """The `hark.plugins.Host` of one plugin. Everything the plugin started through it ends with `close`."""

    def __init__(
        self,
        plugin: Plugin,
        bus: Bus,
        runner: Runner,
        data_root: Path | None,
        langs: Collection[str] = ("en-US",),
        lang: str = "en-US",
        home: Home = _UNKNOWN_HOME,
    ) -> None:
        self.langs = langs
        self.lang = lang
        self.home = home
        self._plugin = plugin
        self._bus = bus
        self._runner = runner
        self._data_root = data_root
        self._subscriptions: list[Subscription] = []
        self._timers: set[_HeldTimer] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._hung: list[Loaded[Plugin]] = []
        """Timers whose call was abandoned and still runs."""
        self._closed = False
        self._loop = _running_loop()
        self.log = logging.getLogger(f"hark.plugin.{plugin.id}")

    @property
    def clock(self) -> Clock:
        return self._runner.clock

    @property
    def data_dir(self) -> Path:
        if self._data_root is None:
            raise RuntimeError(f"{self._plugin.id}: this assistant keeps no state on disk")
        directory = self._data_root / self._plugin.id
        for folder in (self._data_root, directory):  # it may hold what users said
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return directory

    @property
    def has_data(self) -> bool:
        return self._data_root is not None and (self._data_root / self._plugin.id).is_dir()

    def on(
        self,
        topic: str | Sequence[str],
        listener: Callable[[Message], Awaitable[None] | None],
        *,
        shared: bool = False,
    ) -> None:
        name = f"{self._plugin.id} on {topic if isinstance(topic, str) else ', '.join(topic)}"
        self._check_open()
        entry = Loaded(self._plugin, listener, limit=60.0)
        one_at_a_time = asyncio.Lock()
        waiting: deque[Message] = deque()
        working: asyncio.Task[None] | None = None

        async def call(message: Message) -> None:
            async with one_at_a_time:
                if not entry.unloaded:  # it still occupies the threads of earlier calls
                    self._count_success(entry, await self._runner.call(entry, message))

        async def call_all() -> None:
            while waiting:
                await call(waiting.popleft())

        def call_now(message: Message) -> asyncio.Task[None] | None:
            nonlocal working
            is_working = working is not None and not working.done()
            if entry.mode == "inline" and not is_working:
                self._count_success(entry, self._runner.call_now(entry, message))
                return None
            # Demoted to a worker thread, now or a moment ago: still one call at a time, in order. One task calls them
            # all: a task for each of thousands of Messages is more than their work.
            waiting.append(message)
            if is_working:
                return None
            working = self._start_task(call_all(), f"on {message.type}")
            return working

        deliver = call_now if entry.mode == "inline" else call
        group = f"plugin.{self._plugin.id}" if shared else None
        self._subscriptions.append(self._bus.on(topic, deliver, name=name, group=group))

    def emit(self, topic: str, data: Mapping[str, Any] | None = None, *, session: Session | None = None) -> None:
        self.send(Message(topic, data or {}, session=session))

    def send(self, message: Message, *, passing_on: bool = False) -> None:
        plugin = self._plugin
        check_emittable(message.type, plugin.id)
        if passing_on:
            self._bus.post(message)
            return
        if isinstance(plugin, Transformer):
            key = stamp_key(plugin.type)
            message = message.carrying(**{key: with_stamp(message.context.get(key), plugin.id)})
        elif not isinstance(plugin, PipelinePlugin):
            other = message.context.get(SKILL_ID)
            if other is not None and other != plugin.id and message.utterance_id is not None:
                self.log.warning("%s sends %s in a turn that was dispatched to %s", plugin.id, message.type, other)
            message = message.carrying(**{SKILL_ID: plugin.id})
        self._bus.post(message)

    def speak(self, text: str, *, session: Session | None = None, lang: str | None = None) -> None:
        data = {"utterance": text} if lang is None else {"utterance": text, "lang": lang}
        self.emit(topics.UTTERANCE_SPEAK, data, session=session)

    def task(self, work: Coroutine[Any, Any, None], name: str = "") -> None:
        if self._loop is None or _running_loop() is not None:
            self._start_task(work, name)
        else:
            self._loop.call_soon_threadsafe(self._start_task, work, name)

    def _start_task(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        if self._closed and inspect.iscoroutine(work):
            work.close()
        self._check_open()
        who = f"{self._plugin.id} {name}".strip()
        task = asyncio.get_running_loop().create_task(self._runner.guard(work, who), name=who)
        self._tasks.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if inspect.iscoroutine(work):  # cancelled before it began: Python would warn that it was never awaited
                work.close()

        task.add_done_callback(ended)
        return task

    def after(self, seconds: float, call: Callable[[], object]) -> Timer:
        self._check_open()
        if seconds != seconds:  # NaN compares with nothing: it would corrupt the order of all timers
            raise ValueError("a timer needs a number of seconds")
        if self._loop is not None and _running_loop() is None:
            return _PostedTimer(self._loop, lambda: self.after(seconds, call))
        entry = Loaded(self._plugin, call, limit=60.0)

        async def run() -> None:
            await self._runner.call(entry)
            if entry.abandoned:
                self._hung.append(entry)

        def due() -> None:
            held.release()
            self._hung = [one for one in self._hung if one.abandoned]
            if len(self._hung) >= TOO_MANY_ABANDONED:
                self.log.error("%d of its timers have not returned: this one is not called", len(self._hung))
            else:
                self.task(run(), "timer")

        held = _HeldTimer(self.clock.after(seconds, due), self._timers)
        return held

    async def close(self) -> None:
        """End everything the plugin started; it can start nothing more."""
        self._closed = True
        for subscription in self._subscriptions:
            subscription.close()
        for timer in list(self._timers):
            timer.cancel()
        await cancel_all(self._tasks, self.clock)

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError(f"{self._plugin.id} has been stopped: it can start nothing more")

    def _count_success(self, entry: Loaded[Plugin], outcome: Outcome) -> None:
        if outcome.error is None and entry.failures:
            entry.succeeded()
