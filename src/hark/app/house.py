"""The composition root: every room of the house, joined by the bus."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from hark.act import HandlerHost
from hark.app.settings import Settings
from hark.app.settling import settled
from hark.app.stoppable import StoppableClock
from hark.bus import LocalBus
from hark.chains import Chain, ChainListing
from hark.hosting import Limits, Loaded, PluginHost, Refusal, Registry, Runner, Watchdog
from hark.model import Clock, Message, Session
from hark.plugins import PipelinePlugin, Plugin, Transformer
from hark.speak import Render, Speaker
from hark.spec import TRANSFORMER_TYPES, TransformerType, topics
from hark.trace import TraceStore, TurnTrace
from hark.understand import DefaultSession, Orchestrator

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
        self._data_root = data_root
        self._hosts: dict[int, PluginHost] = {}
        limits = settings.limits

        def allowed(seconds: float) -> Limits:
            return Limits(seconds, limits.failures, limits.retry_after)

        self.transformers: dict[TransformerType, Registry[Any]] = {
            kind: Registry(f"{kind} transformer", allowed(limits.transformer)) for kind in TRANSFORMER_TYPES
        }
        self.pipeline: Registry[PipelinePlugin] = Registry("pipeline plugin", allowed(limits.match))
        self.skills: Registry[Plugin] = Registry("skill", allowed(limits.start))
        self.chains = {
            kind: Chain(kind, registry, self.runner, bus.emit, settings.transformers.order(kind))
            for kind, registry in self.transformers.items()
        }
        for plugin in plugins:
            self._add(plugin)
        self.handlers = HandlerHost(bus, self.runner, self.traces)
        self._listing = ChainListing(bus, self.chains.values())
        options = settings.understanding()
        dialog = self.chains["dialog"]
        self.speaker = Speaker(bus, clock, dialog, self.traces, render, serves, options.denials_for)
        self.orchestrator = Orchestrator(bus, self.runner, self.chains, self.pipeline, options, self.store, self.traces)

    @property
    def refusals(self) -> list[Refusal]:
        """Everything that is not loaded, and why."""
        return [refusal for registry in self._registries() for refusal in registry.refusals]

    def ids(self) -> Iterator[str]:
        """The id of everything that is loaded."""
        return (entry.id for registry in self._registries() for entry in registry)

    async def start(self) -> None:
        """Start every plugin, then say that the house is ready."""
        for registry in self._registries():
            for entry in list(registry):
                await self._start(registry, entry)
        self.watchdog.start()
        self._listing.announce()
        self.bus.emit(Message(topics.READY))
        late = await settled(self.bus)
        if late:
            log.warning("not everybody has taken in what was announced at the start: %s", ", ".join(late))

    async def stop(self) -> None:
        """Let open turns come to their end, then stop everything: no task of ours and no timer outlives this."""
        await self.orchestrator.close()
        await self.handlers.close()
        for registry in self._registries():
            for entry in registry:
                await self._stop(entry)
        await self.speaker.close()
        self._listing.close()
        self.watchdog.stop()
        self.runner.workers.close()
        self.clock.stop()

    def _registries(self) -> tuple[Registry[Any], ...]:
        # Matchers before skills: who registers an intent is heard.
        return (*self.transformers.values(), self.pipeline, self.skills)

    def _add(self, plugin: Plugin | Refusal) -> None:
        registry = self._registry_for(plugin)
        if isinstance(plugin, Refusal):
            registry.refuse(plugin)
            return
        plugin_id = str(getattr(plugin, "id", ""))
        other = self.skills if registry is self.pipeline else self.pipeline
        if registry in (self.pipeline, self.skills) and plugin_id in other:
            reason = f"a {other.kind} has the id {plugin_id!r} already, and the two share their names"
            registry.refuse(Refusal(registry.kind, plugin_id, reason, "rename one of the two"))
            return
        limit = self.settings.limits.plugins.get(plugin_id)
        registry.add(plugin, self.settings.plugins.get(plugin_id), limit=limit)

    def _registry_for(self, plugin: Plugin | Refusal) -> Registry[Any]:
        if isinstance(plugin, Refusal):
            kind = plugin.kind.removeprefix("hark.transformer.")
        else:
            kind = getattr(plugin, "type", "metadata") if isinstance(plugin, Transformer) else ""
        named = self.transformers.get(kind)  # type: ignore[call-overload]
        if named is not None:
            return named  # type: ignore[no-any-return]
        return self.pipeline if isinstance(plugin, PipelinePlugin) or kind == "hark.pipeline" else self.skills

    async def _start(self, registry: Registry[Any], entry: Loaded[Any]) -> None:
        plugin = entry.plugin
        host = plugin.host = self._hosts[id(plugin)] = PluginHost(plugin, self.bus, self.runner, self._data_root)
        self.handlers.attach(plugin)
        begin = Loaded(plugin, plugin.begin, limit=self.settings.limits.start)
        outcome = await self.runner.call(begin)
        if outcome.error is not None:
            registry.remove(entry.id)
            registry.refuse(Refusal(registry.kind, entry.id, f"it did not start: {outcome.failure}", "", entry.origin))
            self.handlers.detach(entry.id)
            del self._hosts[id(plugin)]
            await host.close()

    async def _stop(self, entry: Loaded[Any]) -> None:
        host = self._hosts.pop(id(entry.plugin), None)
        if host is None:  # the house was closed before this one was started
            return
        self.handlers.detach(entry.id)
        await self.runner.call(Loaded(entry.plugin, entry.plugin.end, limit=self.settings.limits.start))
        await host.close()
