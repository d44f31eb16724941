"""The composition root: the services of one process, joined by a bus."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from hark.act import HandlerHost
from hark.app.plugin_set import PluginSet
from hark.app.service_names import ALL_SERVICES, ServiceName
from hark.app.services import (
    Act,
    Hear,
    RuntimeContext,
    ScheduleService,
    Service,
    Speak,
    Understand,
    discard,
    serves_all,
)
from hark.app.settings import Settings
from hark.bus import LocalBus
from hark.chains import Chain, ChainListing
from hark.hosting import Gate, Loaded, Refusal, Runner, Watchdog, cancel_all
from hark.hosting.heap import without_collection
from hark.model import Clock, Message, Session, Timer
from hark.plugins import PipelinePlugin, Plugin
from hark.schedule import FileStore, MemoryStore, Scheduler, ScheduleStore
from hark.speak import Render, Speaker
from hark.spec import topics
from hark.trace import SliceStore, TraceStore, TurnTrace
from hark.understand import DefaultSession, Journal, LocalTurns, Orchestrator, TurnSource

if TYPE_CHECKING:
    from hark.app.reload.changes import Reloaded, ReloadRefused
    from hark.app.voice.engines import VoiceConfig
    from hark.bus.nats import TurnStreams
    from hark.hear import Listener
    from hark.understand.jetstream_turns import JetStreamTurns


def makes_remarks(runtime: Runtime) -> bool:
    """Whether the assistant says something about turns that end without an answer."""
    return runtime.skills.get(_REMARKS) is not None


_REMARKS: Final = "remarks"
"""The id of the plugin that does."""
_PREPARATION: Final = 30.0
"""Seconds that utterances wait for a matcher to do what it put off during the start."""


class StoppableClock(Clock):
    """Another clock whose timers are all cancelled by `stop`: none fires in a runtime that has stopped."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timers: set[_Timer] = set()
        self._stopped = False
        # Every step of a turn asks for the time: the methods of the inner clock are called directly.
        self.wall = clock.wall  # type: ignore[method-assign]
        self.monotonic = clock.monotonic  # type: ignore[method-assign]

    def wall(self) -> float:
        return self._clock.wall()

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def after(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """As `Clock.after`; once stopped, `callback` is never called."""
        timer = _Timer(callback, self._timers)
        if not self._stopped:
            self._timers.add(timer)
            timer.inner = self._clock.after(seconds, timer.due)
        return timer

    def stop(self) -> None:
        """Cancel all timers, and set no new ones."""
        self._stopped = True
        for timer in list(self._timers):
            timer.cancel()


class _Timer:
    __slots__ = ("_callback", "_open", "inner")

    def __init__(self, callback: Callable[[], object], open_timers: set[_Timer]) -> None:
        self._callback = callback
        self._open = open_timers
        self.inner: Timer | None = None

    def due(self) -> None:
        self._open.discard(self)
        self._callback()

    def cancel(self) -> None:
        self._open.discard(self)
        if self.inner is not None:
            self.inner.cancel()


log = logging.getLogger("hark.app")


class Storage(NamedTuple):
    """What a runtime keeps beyond its life: nothing, unless a `State` provides it."""

    restored: Session | None = None
    """The default session as it was last saved."""
    save: Callable[[Session], None] | None = None
    journal: Journal | None = None
    on_trace: Callable[[TurnTrace], None] | None = None
    data_root: Path | None = None
    """The folder with the directories of plugins."""
    schedules: Path | ScheduleStore | None = None
    """The file with the schedules, or what keeps them otherwise."""


NOTHING_STORED: Final = Storage()


class Runtime:
    """An assistant in one process, or some of its services. Plugins that cannot be loaded or started are left out; the
    reasons are kept as `refusals`.
    """

    def __init__(
        self,
        settings: Settings,
        bus: LocalBus,
        clock: Clock,
        plugins: Iterable[Plugin | Refusal],
        *,
        render: Render = discard,
        serves: Callable[[str], bool] = serves_all,
        services: Collection[ServiceName] = ALL_SERVICES,
        settled: Callable[[], Awaitable[list[str]]] | None = None,
        storage: Storage = NOTHING_STORED,
        streams: TurnStreams | None = None,
        hands_over: bool = True,
        voice: VoiceConfig | None = None,
        skills_ready: Callable[[], Awaitable[None]] | None = None,
        handlers_ready: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.settings = settings
        self.bus = bus
        self.clock = clock = StoppableClock(clock)
        self.runner = Runner(clock)
        self.is_whole = set(services) == set(ALL_SERVICES)
        # A process without understand takes in no turns: it keeps slices of the turns of another process.
        traces = TraceStore if "understand" in services else SliceStore
        self.traces = traces(
            clock,
            settings.trace.size,
            storage.on_trace,
            most_bytes=settings.trace.memory,
            max_age=settings.trace.days * 86_400.0,
        )
        self.watchdog = Watchdog(self.runner)
        largest = settings.limits.session
        store = DefaultSession(storage.restored, storage.save, largest)
        self.turns: TurnSource = LocalTurns(bus, store, storage.journal)
        """Where utterances come from."""
        shared: JetStreamTurns | None = None
        if streams is not None and "understand" in services:
            # Only here: an assistant in one process does not pay for it.
            from hark.understand.jetstream_turns import JetStreamTurns

            self.turns = shared = JetStreamTurns(streams, bus, storage.restored, hands_over=hands_over, largest=largest)
        self._shared = shared
        self.handlers = HandlerHost(
            bus,
            self.runner,
            self.traces,
            notes=streams,
            opens=shared.opens if shared is not None else None,
            is_shared=lambda plugin_id: shared is not None and self.pipeline.get(plugin_id) is not None,
        )
        self.plugin_set = PluginSet(settings, bus, self.runner, self.handlers, storage.data_root, services)
        self.transformers = self.plugin_set.transformers
        self.pipeline = self.plugin_set.pipeline
        self.skills = self.plugin_set.skills
        self.chains = {
            kind: Chain(kind, registry, self.runner, bus.emit) for kind, registry in self.transformers.items()
        }
        for plugin in plugins:
            self.plugin_set.add(plugin)
        self._set_up_chains()
        self._listing = ChainListing(bus, self.chains.values(), None if shared is None else "understand")
        self._gate = Gate()
        self._preparing: asyncio.Task[None] | None = None
        self._handlers_ready = handlers_ready
        """Where skills are in another process: returns when they are registered, or need not be waited for."""
        self._opening: asyncio.Task[None] | None = None
        self._settled = settled or bus.settled
        """Waits until subscribers in all processes have handled what was announced; returns the late ones."""
        self.importing = asyncio.Lock()
        """Held while plugin code is imported again: one import at a time."""
        context = RuntimeContext(
            settings,
            bus,
            clock,
            self.runner,
            self.traces,
            self.handlers,
            self.plugin_set,
            self.chains,
            self._gate,
            storage.data_root,
        )
        make: dict[ServiceName, Callable[[], Service]] = {
            "hear": lambda: Hear(context, voice),
            "understand": lambda: Understand(context, self.turns, None if shared is None else "understand"),
            "act": lambda: Act(context, waits="understand" not in services),
            "speak": lambda: Speak(context, render, serves, voice),
            "schedule": lambda: ScheduleService(context, _schedule_store(storage, streams), skills_ready),
        }
        self.services: dict[ServiceName, Service] = {name: make[name]() for name in ALL_SERVICES if name in services}

    @property
    def store(self) -> DefaultSession:
        """The default session."""
        return self.turns.store

    @property
    def orchestrator(self) -> Orchestrator:
        """Of the service understand; raises `LookupError` where this process does not have it."""
        service = self.services.get("understand")
        if not isinstance(service, Understand):
            raise LookupError("this process has no service understand")
        return service.orchestrator

    @property
    def speaker(self) -> Speaker:
        """Of the service speak; raises `LookupError` where this process does not have it."""
        service = self.services.get("speak")
        if not isinstance(service, Speak):
            raise LookupError("this process has no service speak")
        return service.speaker

    @property
    def scheduler(self) -> Scheduler:
        """Of the service schedule; raises `LookupError` where this process does not have it."""
        service = self.services.get("schedule")
        if not isinstance(service, ScheduleService):
            raise LookupError("this process has no service schedule")
        return service.scheduler

    @property
    def listener(self) -> Listener:
        """Of the service hear; raises `LookupError` where this process has none, or no microphone."""
        service = self.services.get("hear")
        if not isinstance(service, Hear) or service.listener is None:
            raise LookupError("this process does not listen")
        return service.listener

    @property
    def refusals(self) -> list[Refusal]:
        """The plugins and engines that are not loaded, with the reasons."""
        refusals = [refusal for registry in self.plugin_set.registries() for refusal in registry.refusals]
        for service in self.services.values():
            if isinstance(service, (Hear, Speak)):
                refusals += service.refusals
        return refusals

    def ids(self) -> Iterator[str]:
        """The ids of all loaded plugins."""
        return (entry.id for entry in self.plugin_set)

    async def start(self) -> None:
        """Start every plugin and service, then announce that this process is ready.

        With only some of the services, turns of other processes may come at any moment: they wait until it is ready.
        """
        with without_collection():
            if self.is_whole:
                await self._start()
            else:
                async with AsyncExitStack() as closing:
                    await closing.enter_async_context(self._gate.closed())
                    await self._start()
                    if self._handlers_ready is not None:
                        waiting = self._open_later(closing.pop_all(), self._handlers_ready)
                        self._opening = asyncio.create_task(waiting, name="wait for skills")

    async def _open_later(self, closed: AsyncExitStack, handlers_ready: Callable[[], Awaitable[None]]) -> None:
        """Let turns in once those that answer them are there."""
        async with closed:
            await handlers_ready()

    async def _start(self) -> None:
        for entry in list(self.plugin_set):
            refusal = await self.plugin_set.load(entry)
            if refusal is not None:
                self.plugin_set.registry_for(entry.plugin).refuse(refusal)
        self.watchdog.start()
        for service in self.services.values():
            if not isinstance(service, ScheduleService):
                await service.start()
        # Matchers were started before skills, so they have received what the skills registered.
        await self.announce(to_matchers="understand" in self.services, heard=[entry.id for entry in self.skills])
        if "schedule" in self.services:
            await self.services["schedule"].start()

    async def announce(
        self, *, transformers: bool = True, to_matchers: bool = True, heard: Collection[str] = ()
    ) -> None:
        """Announce the loaded transformers, have skills register with new matchers, and wait until that is handled.

        Skills whose registrations were `heard` already need not repeat them.
        """
        if transformers:
            self._listing.announce()
        if to_matchers:
            self.bus.emit(Message(topics.READY, {"heard": list(heard)} if heard else {}))
            self.bus.emit(Message(topics.INTENTS_READY))
        late = await self._settled()
        if late:
            log.warning("these have not handled the announcements in time: %s", ", ".join(late))
        if to_matchers:
            await self._prepare()

    async def prepared(self) -> None:
        """Wait until matchers have done what they put off during the start; utterances wait for that as well."""
        if self._preparing is not None and not self._preparing.done():
            await asyncio.wait((self._preparing,))

    async def _prepare(self) -> None:
        """Let matchers do what they put off during the start: what takes longer, in a task while turns wait."""
        unprepared = [entry for entry in self.pipeline if await self._is_unprepared(entry)]
        if unprepared and (self._preparing is None or self._preparing.done()):
            self._preparing = asyncio.create_task(self._prepare_rest(unprepared), name="prepare matchers")

    async def _prepare_rest(self, unprepared: Sequence[Loaded[PipelinePlugin]]) -> None:
        async with self._gate.closed():
            with without_collection():
                for entry in unprepared:
                    until = self.clock.monotonic() + _PREPARATION
                    while await self._is_unprepared(entry):
                        if self.clock.monotonic() > until:
                            log.error(
                                "%s still prepares after %g s; utterances do not wait for it", entry.id, _PREPARATION
                            )
                            break
                        await asyncio.sleep(0)

    async def _is_unprepared(self, entry: Loaded[PipelinePlugin]) -> bool:
        async def prepare() -> bool:
            return entry.plugin.prepare()

        return bool(await self.runner.guard(prepare(), entry.id))

    def keep_turns(self) -> None:
        """Where workers share the turns: see those that are open here to their end at `stop`, for no other can."""
        if self._shared is not None:
            self._shared.hands_over = False

    async def stop(self) -> None:
        """Wait for open turns to end, then stop everything: no task and no timer is left."""
        await cancel_all([task for task in (self._preparing, self._opening) if task is not None], self.clock)
        for service in self.services.values():
            await service.finish()
        await self.handlers.close()
        for entry in list(self.plugin_set):
            await self.plugin_set.stop(entry)
        self.plugin_set.close()
        for service in self.services.values():
            await service.stop()
        self._listing.close()
        self.watchdog.stop()
        self.runner.threads.close()
        self.clock.stop()

    async def reload(self, plugin_id: str) -> Reloaded | ReloadRefused:
        """Import the code of a plugin again and replace the plugin between two turns, with the others of its package.

        When the new version is broken, or does not start, the old one stays in service.
        """
        # Imported only here: most processes never reload.
        from hark.app.reload.reloader import Reloader

        return await Reloader(self).reload_one(plugin_id)

    def adopt(self, settings: Settings) -> None:
        """Apply other settings from the next turn on; those of a single plugin take effect when it is made again."""
        self.settings = settings
        for service in self.services.values():
            service.adopt(settings)
        self.plugin_set.adopt(settings)
        self._set_up_chains()

    def _set_up_chains(self) -> None:
        for kind, chain in self.chains.items():
            chain.reorder(self.settings.transformers.order(kind))
            chain.require(self.settings.essential(kind))
            chain.context_topics = self.settings.assistant.context_topics

    @asynccontextmanager
    async def quiesce(self, plugin_ids: Collection[str]) -> AsyncIterator[None]:
        """While the block runs, no turn uses plugins, and no turn is open that was dispatched to one of these.

        New turns wait for the end of the block. Until the dispatched turns have ended, other turns go on.
        """
        while True:
            await self.orchestrator.idle(plugin_ids)
            async with self._gate.closed():
                if self.orchestrator.serving(plugin_ids):
                    continue  # a turn was just being dispatched to one of them
                yield
                return

    @property
    def is_quiesced(self) -> bool:
        """Whether new turns have to wait at the moment."""
        return self._gate.is_closed


def _schedule_store(storage: Storage, streams: TurnStreams | None) -> ScheduleStore:
    if streams is not None:
        # Only here: an assistant in one process does not pay for it.
        from hark.schedule.jetstream_store import JetStreamStore

        return JetStreamStore(streams.schedules, storage.schedules if isinstance(storage.schedules, Path) else None)
    if isinstance(storage.schedules, Path):
        return FileStore(storage.schedules)
    return storage.schedules or MemoryStore()
