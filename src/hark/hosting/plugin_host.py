"""The host a plugin is given: its way to bus, clock, log and disk."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hark.bus import Bus, Subscription
from hark.hosting.loaded import TOO_MANY_ABANDONED, Loaded
from hark.hosting.runner import Outcome, Runner, cancel_all
from hark.model import Clock, Message, Session, Timer
from hark.plugins import PipelinePlugin, Plugin, Transformer
from hark.spec import is_dispatch_topic, topics
from hark.spec.names import SKILL_ID, stamp_key

RUNTIME_TOPICS: Final = frozenset(
    {
        topics.UTTERANCE_HANDLED,
        topics.UTTERANCE_CANCELLED,
        topics.INTENT_MATCHED,
        topics.INTENT_UNMATCHED,
        topics.HANDLER_START,
        topics.HANDLER_COMPLETE,
        topics.HANDLER_ERROR,
        topics.HANDLER_ACCEPTED,
        topics.HANDLER_DONE,
        topics.HANDLER_WAITING,
        topics.HOST_ALIVE,
        topics.SPEECH_RENDERED,
    }
)
"""Topics that say how a turn goes. Whoever could emit them could end somebody else's."""


def plugins_may_emit(topic: str) -> bool:
    """Whether a plugin may emit `topic`: not what the frame says about turns, and no dispatch, which is a claim's."""
    return topic not in RUNTIME_TOPICS and not is_dispatch_topic(topic)


def check_emittable(topic: str, plugin_id: str) -> None:
    """Raise `PermissionError` when `topic` is the frame's to emit."""
    if not plugins_may_emit(topic):
        raise PermissionError(f"{plugin_id} may not emit {topic}: only Hark says how a turn goes")


def with_stamp(stamps: Any, transformer_id: str) -> tuple[str, ...]:
    """Who worked on a Message, with one more; what came from outside and is no list of names counts for nothing."""
    return (*stamps, transformer_id) if type(stamps) is tuple else (transformer_id,)


class PluginHost:
    """See `hark.plugins.Host` for what it promises."""

    def __init__(
        self, plugin: Plugin, bus: Bus, runner: Runner, data_root: Path | None, langs: Collection[str] = ("en-US",)
    ) -> None:
        self.langs = langs
        self._plugin = plugin
        self._bus = bus
        self._runner = runner
        self._data_root = data_root
        self._subscriptions: list[Subscription] = []
        self._timers: set[Timer] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._hung: list[Loaded[Plugin]] = []
        """Timers whose call was given up and still runs."""
        self._closed = False
        self.log = logging.getLogger(f"hark.plugin.{plugin.id}")

    @property
    def clock(self) -> Clock:
        """As promised by `Host`."""
        return self._runner.clock

    @property
    def data_dir(self) -> Path:
        """As promised by `Host`."""
        if self._data_root is None:
            raise RuntimeError(f"{self._plugin.id}: this assistant keeps no state on disk")
        directory = self._data_root / self._plugin.id
        for folder in (self._data_root, directory):  # what people do at home is nobody else's business
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return directory

    @property
    def has_data(self) -> bool:
        """As promised by `Host`."""
        return self._data_root is not None and (self._data_root / self._plugin.id).is_dir()

    def on(
        self,
        topic: str | Sequence[str],
        listener: Callable[[Message], Awaitable[None] | None],
        *,
        shared: bool = False,
    ) -> None:
        """As promised by `Host`."""
        name = f"{self._plugin.id} on {topic if isinstance(topic, str) else ', '.join(topic)}"
        self._check_open()
        entry = Loaded(self._plugin, listener, limit=60.0)
        in_turn = asyncio.Lock()

        async def call(message: Message) -> None:
            async with in_turn:
                if not entry.unloaded:  # the thread it hung in last time is the last one it gets
                    self._judge(entry, await self._runner.call(entry, message))

        def call_now(message: Message) -> asyncio.Task[None] | None:
            if entry.mode == "inline":
                self._judge(entry, self._runner.call_now(entry, message))
                return None
            # Demoted: it keeps one at a time, in order.
            return self._begin(call(message), f"on {message.type}")

        heard = call_now if entry.mode == "inline" else call
        group = f"plugin.{self._plugin.id}" if shared else None
        self._subscriptions.append(self._bus.on(topic, heard, name=name, group=group))

    def emit(self, topic: str, data: Mapping[str, Any] | None = None, *, session: Session | None = None) -> None:
        """As promised by `Host`."""
        self.send(Message(topic, data or {}, session=session))

    def send(self, message: Message, *, passing_on: bool = False) -> None:
        """As promised by `Host`."""
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
                self.log.warning("%s sends %s out of a turn that was dispatched to %s", plugin.id, message.type, other)
            message = message.carrying(**{SKILL_ID: plugin.id})
        self._bus.post(message)

    def speak(self, text: str, *, session: Session | None = None, lang: str | None = None) -> None:
        """As promised by `Host`."""
        data = {"utterance": text} if lang is None else {"utterance": text, "lang": lang}
        self.emit(topics.UTTERANCE_SPEAK, data, session=session)

    def task(self, work: Coroutine[Any, Any, None], name: str = "") -> None:
        """As promised by `Host`."""
        self._begin(work, name)

    def _begin(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        if self._closed and inspect.iscoroutine(work):
            work.close()
        self._check_open()
        who = f"{self._plugin.id} {name}".strip()
        task = asyncio.get_running_loop().create_task(self._runner.guard(work, who), name=who)
        self._tasks.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if inspect.iscoroutine(work):  # cancelled before it began: Python would complain that nobody awaited it
                work.close()

        task.add_done_callback(ended)
        return task

    def after(self, seconds: float, call: Callable[[], object]) -> Timer:
        """As promised by `Host`."""
        self._check_open()
        if seconds != seconds:  # NaN is neither before nor after anything: it would upset every timer there is
            raise ValueError("a timer needs a number of seconds")
        entry = Loaded(self._plugin, call, limit=60.0)

        async def run() -> None:
            await self._runner.call(entry)
            if entry.abandoned:
                self._hung.append(entry)

        def due() -> None:
            self._timers.discard(timer)
            self._hung = [one for one in self._hung if one.abandoned]
            if len(self._hung) >= TOO_MANY_ABANDONED:
                self.log.error("%d of its timers have not come back: this one is not called", len(self._hung))
            else:
                self.task(run(), "timer")

        timer = self.clock.after(seconds, due)
        self._timers.add(timer)
        return timer

    async def close(self) -> None:
        """End everything the plugin started, and let it start nothing more."""
        self._closed = True
        for subscription in self._subscriptions:
            subscription.close()
        for timer in self._timers:
            timer.cancel()
        await cancel_all(self._tasks, self.clock)

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError(f"{self._plugin.id} has been stopped: it can start nothing any more")

    def _judge(self, entry: Loaded[Plugin], outcome: Outcome) -> None:
        if outcome.error is None and entry.failures:
            entry.succeeded()
