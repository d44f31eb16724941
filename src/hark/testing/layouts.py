"""An assistant whose services are apart, in one test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Final, Literal

from hark.app.runtime import Runtime, Storage
from hark.app.service_names import ALL_SERVICES, ServiceName
from hark.app.settings import Settings
from hark.bus import Carrier, LocalBus, RemoteBus
from hark.bus.nats import NatsCarrier
from hark.hosting import Refusal
from hark.model import Clock, Message
from hark.plugins import Plugin
from hark.speak import Render
from hark.spec import TransformerType
from hark.testing.clock import also_wait_for, settle
from hark.testing.joined import JoinedOrchestrators, JoinedTraces, WorkerBus
from hark.testing.memory_broker import MemoryBroker
from hark.testing.quiet import QuietCarrier, QuietStreams
from hark.trace import TraceStore
from hark.understand import Orchestrator

Layout = Literal["one process", "services"]

_STARTS: Final[tuple[ServiceName, ...]] = ("act", "hear", "speak", "schedule", "understand")
"""Skills before the matchers: what they announce is heard all the same."""
_WHERE: Final[dict[str, ServiceName]] = {
    "skills": "act",
    "handlers": "act",
    "plugin_set": "act",
    "speaker": "speak",
    "scheduler": "schedule",
}


class SplitRuntime:
    """A runtime for each service, each with a bus of its own. It can be asked for what a `Runtime` can, and knows
    in which of them it is. At NATS there are two workers that understand.
    """

    def __init__(self, bus: LocalBus, runtimes: dict[ServiceName, Runtime]) -> None:
        self.bus = bus
        """One more bus at the same broker, for an observer."""
        self.runtimes = runtimes
        self.second: Runtime | None = None
        """Another worker beside the one that understands."""
        self._order: dict[str, int] = {}
        """The turns of both, in the order in which they were first seen."""
        self._nats: list[NatsCarrier] = []
        self._is_last = False
        """Whether all have started but one: then it is waited for what they have announced."""
        self._end_waiting: Callable[[], None] | None = None

    @classmethod
    async def build(
        cls,
        settings: Settings,
        clock: Clock,
        plugins: Sequence[Plugin],
        watch: Callable[[Message], None],
        render: Render,
        data_root: Path | None = None,
        carrier: Callable[[], Carrier] | None = None,
    ) -> SplitRuntime:
        """Build all of them at one broker, in memory unless there are other ways to one."""
        carrier = carrier or MemoryBroker().carrier
        onlooker = await _bus(carrier())
        runtimes: dict[ServiceName, Runtime] = {}
        made = cls(onlooker, runtimes)
        onlooker.tap(made._note_order)
        onlooker.tap(watch)
        made._keep(onlooker)

        async def settled() -> list[str]:
            if not made._is_last:
                return []
            # Twice: what one does with a Message may be a Message for others.
            members = [*runtimes.values(), *([] if made.second is None else [made.second])]
            return [late for _ in range(2) for one in members for late in await one.bus.settled()]

        async def runtime(service: ServiceName, plugins: Sequence[Plugin], worker: int = 0) -> Runtime:
            own = await _bus(carrier(), worker)
            nats = made._keep(own)
            return Runtime(
                settings,
                own,
                clock,
                plugins,
                services=(service,),
                render=render,
                settled=settled,
                streams=nats.streams if nats is not None else None,
                hands_over=False,
                storage=Storage(data_root=data_root),
            )

        for service in _STARTS:
            runtimes[service] = await runtime(service, plugins, 1 if made._nats and service == "understand" else 0)
        if made._nats:
            made.second = await runtime("understand", [_twin(plugin) for plugin in plugins], 2)
            workers = [runtimes["understand"].turns, made.second.turns]
            made._end_waiting = also_wait_for(QuietStreams(made._nats, workers).arrive)
        return made

    async def start(self) -> None:
        """Start all of them."""
        runtimes = [*self.runtimes.values(), *([] if self.second is None else [self.second])]
        for runtime in runtimes:
            self._is_last = runtime is runtimes[-1]
            await runtime.start()
        await settle()  # the last of what was announced has reached the onlooker

    async def stop(self) -> None:
        """Stop all of them, in the order in which turns come to their end; workers at the same time."""
        for service in ALL_SERVICES:
            here = [self.runtimes[service]]
            if service == "understand" and self.second is not None:
                here.append(self.second)
            await asyncio.gather(*(runtime.stop() for runtime in here))
            if service != "understand":  # until the markers of both were read
                for runtime in here:
                    await runtime.bus.close()
        if self._end_waiting is not None:
            self._end_waiting()
            await self._nats[0].streams.delete()
        await self.runtimes["understand"].bus.close()
        if self.second is not None:
            await self.second.bus.close()

    def _note_order(self, message: Message) -> None:
        if message.utterance_id is not None:
            self._order.setdefault(message.utterance_id, len(self._order))

    def _keep(self, bus: RemoteBus) -> NatsCarrier | None:
        inner = bus.carrier.inner if isinstance(bus.carrier, QuietCarrier) else bus.carrier
        if not isinstance(inner, NatsCarrier):
            return None
        self._nats.append(inner)
        return inner

    @property
    def refusals(self) -> list[Refusal]:
        """As of `Runtime`."""
        return [refusal for runtime in self.runtimes.values() for refusal in runtime.refusals]

    def ids(self) -> Iterator[str]:
        """As of `Runtime`."""
        return (plugin_id for service in ("understand", "act", "speak") for plugin_id in self.runtimes[service].ids())

    @property
    def chains(self) -> dict[TransformerType, Any]:
        """As of `Runtime`."""
        return {kind: chain for runtime in self.runtimes.values() for kind, chain in runtime.chains.items()}

    @property
    def transformers(self) -> dict[TransformerType, Any]:
        """As of `Runtime`."""
        return {kind: registry for runtime in self.runtimes.values() for kind, registry in runtime.transformers.items()}

    @property
    def traces(self) -> JoinedTraces:
        """As of `Runtime`."""
        stores: dict[str, TraceStore] = {service: runtime.traces for service, runtime in self.runtimes.items()}
        return JoinedTraces(stores, self.second.traces if self.second is not None else None, self._order)

    @property
    def orchestrator(self) -> Orchestrator | JoinedOrchestrators:
        """As of `Runtime`."""
        first = self.runtimes["understand"].orchestrator
        return first if self.second is None else JoinedOrchestrators((first, self.second.orchestrator))

    @property
    def store(self) -> Any:
        """The default session, where it is held."""
        first = self.runtimes["understand"].turns.store
        return first if self.second is None or first.owned else self.second.turns.store

    def __getattr__(self, name: str) -> Any:
        # What belongs to one service is in its runtime.
        service = _WHERE.get(name, "understand")
        return getattr(self.runtimes[service], name)


async def _bus(carrier: Carrier, worker: int = 0) -> RemoteBus:
    made = WorkerBus(carrier, worker) if worker else RemoteBus(carrier)
    await made.open()
    return made


def _twin(plugin: Plugin) -> Plugin:
    """The same plugin for another worker. What a test's own plugin writes down is in one place, for the test to see."""
    return type(plugin)() if type(plugin).__module__.startswith("hark.builtin") else copy(plugin)
