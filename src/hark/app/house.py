"""The composition root: every room of the house, joined by the bus."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hark.act import HandlerHost
from hark.app.residents import Residents
from hark.app.settings import Settings
from hark.app.settling import settled
from hark.app.stoppable import StoppableClock
from hark.bus import LocalBus
from hark.chains import Chain, ChainListing
from hark.hosting import Passage, Refusal, Runner, Watchdog
from hark.model import Clock, Message, Session
from hark.model.merge import Denials
from hark.plugins import Plugin
from hark.speak import Render, Speaker
from hark.spec import topics
from hark.trace import TraceStore, TurnTrace
from hark.understand import DefaultSession, Orchestrator

if TYPE_CHECKING:
    from hark.app.dev.changes import Refused, Reloaded

log = logging.getLogger("hark.app")


class House:
    """An assistant in one process. Plugins that cannot be loaded or started are left out, with their reasons kept."""

    def __init__(
        self,
        settings: Settings,
        bus: LocalBus,
        clock: Clock,
        plugins: Iterable[Plugin | Refusal],
        *,
        render: Render,
        serves: Callable[[str], bool],
        restored: Session | None = None,
        save: Callable[[Session], None] | None = None,
        on_trace: Callable[[TurnTrace], None] | None = None,
        data_root: Path | None = None,
    ) -> None:
        self.settings = settings
        self.bus = bus
        self.clock = clock = StoppableClock(clock)
        self.runner = Runner(clock)
        self.traces = TraceStore(clock, settings.trace.size, on_trace)
        self.store = DefaultSession(restored, save)
        self.watchdog = Watchdog(self.runner)
        self.handlers = HandlerHost(bus, self.runner, self.traces)
        self.residents = Residents(settings, bus, self.runner, self.handlers, data_root)
        self.transformers = self.residents.transformers
        self.pipeline = self.residents.pipeline
        self.skills = self.residents.skills
        self.chains = {
            kind: Chain(kind, registry, self.runner, bus.emit, settings.transformers.order(kind))
            for kind, registry in self.transformers.items()
        }
        for plugin in plugins:
            self.residents.add(plugin)
        self._listing = ChainListing(bus, self.chains.values())
        self._passage = Passage()
        self.importing = asyncio.Lock()
        """Held while the code of plugins is imported again: one at a time."""
        self._options = options = settings.understanding()
        dialog = self.chains["dialog"]
        self.speaker = Speaker(bus, clock, dialog, self.traces, render, serves, self._denials_for, self._passage)
        self.orchestrator = Orchestrator(
            bus, self.runner, self.chains, self.pipeline, options, self.store, self.traces, self._passage
        )

    @property
    def refusals(self) -> list[Refusal]:
        """Everything that is not loaded, and why."""
        return [refusal for registry in self.residents.registries() for refusal in registry.refusals]

    def ids(self) -> Iterator[str]:
        """The id of everything that is loaded."""
        return (entry.id for entry in self.residents)

    async def start(self) -> None:
        """Start every plugin, then say that the house is ready."""
        for entry in list(self.residents):
            refusal = await self.residents.move_in(entry)
            if refusal is not None:
                self.residents.registry_for(entry.plugin).refuse(refusal)
        self.watchdog.start()
        # Matchers moved in before skills, so what these announced when they began was heard.
        await self.announce(heard=[entry.id for entry in self.skills])

    async def announce(
        self, *, transformers: bool = True, to_matchers: bool = True, heard: Collection[str] = ()
    ) -> None:
        """Say which transformers are loaded, have skills say it to new matchers, and wait until it was heard.

        Skills that were `heard` already need not say it again.
        """
        if transformers:
            self._listing.announce()
        if to_matchers:
            self.bus.emit(Message(topics.READY, {"heard": list(heard)} if heard else {}))
        late = await settled(self.bus)
        if late:
            log.warning("not everybody has taken in what was announced: %s", ", ".join(late))

    async def stop(self) -> None:
        """Let open turns come to their end, then stop everything: no task of ours and no timer outlives this."""
        await self.orchestrator.close()
        await self.handlers.close()
        for entry in list(self.residents):
            await self.residents.stop(entry)
        await self.speaker.close()
        self._listing.close()
        self.watchdog.stop()
        self.runner.workers.close()
        self.clock.stop()

    async def reload(self, plugin_id: str) -> Reloaded | Refused:
        """Import the code of a plugin again and put what it has become in its place, between two turns.

        When the new version is broken, or does not start, the old one stays in service.
        """
        # Only here: most houses never do it.
        from hark.app.dev.reloading import Reloader

        return await Reloader(self).reload_one(plugin_id)

    def adopt(self, settings: Settings) -> None:
        """Go by other settings, from the next turn on; those of single plugins hold when these are made again."""
        self.settings = settings
        self._options = settings.understanding()
        self.orchestrator.adopt(self._options)
        for kind, chain in self.chains.items():
            chain.composition.reorder(settings.transformers.order(kind))
        self.residents.adopt(settings)

    @asynccontextmanager
    async def standstill(self, plugin_ids: Collection[str]) -> AsyncIterator[None]:
        """A moment in which no turn uses plugins, and none is left that was dispatched to one of these.

        Turns that come meanwhile wait. Before that, as long as those that were dispatched take, others go on.
        """
        while True:
            await self.orchestrator.idle(plugin_ids)
            async with self._passage.shut():
                if self.orchestrator.serving(plugin_ids):
                    continue  # one was just being dispatched
                yield
                return

    @property
    def standing_still(self) -> bool:
        """Whether turns that come have to wait for a moment."""
        return self._passage.is_shut

    def _denials_for(self, session: Session) -> Denials:
        return self._options.denials_for(session)
