"""An assistant whose rooms are apart, in one test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from hark.app.house import House
from hark.app.rooms import ALL_ROOMS, RoomName
from hark.app.settings import Settings
from hark.bus import Carrier, LocalBus, RemoteBus
from hark.hosting import Refusal
from hark.model import Clock, Message
from hark.plugins import Plugin
from hark.speak import Render
from hark.spec import TransformerType
from hark.testing.clock import settle
from hark.testing.memory_broker import MemoryBroker
from hark.trace import TraceStore, TurnTrace
from hark.understand import Worker

Layout = Literal["one process", "rooms", "workers"]

_STARTS: Final[tuple[RoomName, ...]] = ("act", "hear", "speak", "understand")
"""Skills before those who match them: what they announce is heard all the same."""
_WHERE: Final[dict[str, RoomName]] = {"skills": "act", "handlers": "act", "residents": "act", "speaker": "speak"}


class SplitHouse:
    """A house for each room, and a bus of its own for each house. It can be asked for what a `House` can, and knows
    in which of them it is.
    """

    def __init__(self, bus: LocalBus, houses: dict[RoomName, House]) -> None:
        self.bus = bus
        """One more bus at the same broker, for whoever looks on."""
        self.houses = houses
        self.second: House | None = None
        """Another worker beside the one that understands."""

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
        workers: bool = False,
    ) -> SplitHouse:
        """Build all of them at one broker, in memory unless there are other ways to one; with a second worker that
        understands, if workers are to share that.
        """
        carrier = carrier or MemoryBroker().carrier

        async def bus() -> RemoteBus:
            made = RemoteBus(carrier())
            await made.open()
            return made

        onlooker = await bus()
        onlooker.tap(watch)
        houses: dict[RoomName, House] = {}

        async def settled() -> list[str]:
            # Twice: what one does with what it was told may be something to be told to others.
            return [late for _ in range(2) for one in houses.values() for late in await one.bus.settled()]

        async def house(room: RoomName, plugins: Sequence[Plugin]) -> House:
            own = await bus()
            return House(
                settings,
                own,
                clock,
                plugins,
                rooms=(room,),
                render=render,
                serves=lambda _id: True,
                settled=settled,
                worker=Worker(own, clock) if workers and room == "understand" else None,
                data_root=data_root,
            )

        for room in _STARTS:
            houses[room] = await house(room, plugins)
        made = cls(onlooker, houses)
        if workers:
            made.second = await house("understand", [copy(plugin) for plugin in plugins])
        return made

    async def start(self) -> None:
        """Start all of them."""
        for house in (*self.houses.values(), self.second):
            if house is not None:
                await house.start()
        if self.second is not None:
            # Here and now, for time stands still: else one of them would claim it after a while.
            worker = self.houses["understand"].orchestrator.worker
            if worker is not None:
                worker.lease.take_at_once()
            await settle()

    async def stop(self) -> None:
        """Stop all of them, in the order in which turns come to their end."""
        for room in ALL_ROOMS:
            for house in (self.houses[room], self.second if room == "understand" else None):
                if house is not None:
                    await house.stop()
                    await house.bus.close()

    @property
    def refusals(self) -> list[Refusal]:
        """As of `House`."""
        return [refusal for house in self.houses.values() for refusal in house.refusals]

    def ids(self) -> Iterator[str]:
        """As of `House`."""
        return (plugin_id for room in ("understand", *ALL_ROOMS[2:]) for plugin_id in self.houses[room].ids())

    @property
    def chains(self) -> dict[TransformerType, Any]:
        """As of `House`."""
        return {kind: chain for house in self.houses.values() for kind, chain in house.chains.items()}

    @property
    def transformers(self) -> dict[TransformerType, Any]:
        """As of `House`."""
        return {kind: registry for house in self.houses.values() for kind, registry in house.transformers.items()}

    @property
    def traces(self) -> JoinedTraces:
        """As of `House`."""
        stores: dict[str, TraceStore] = {room: house.traces for room, house in self.houses.items()}
        return JoinedTraces(stores, self.second.traces if self.second is not None else None)

    def __getattr__(self, name: str) -> Any:
        # What belongs to one room is in its house.
        room = _WHERE.get(name, "understand")
        return getattr(self.houses[room], name)


class JoinedTraces:
    """The traces of several houses, each turn in one piece."""

    def __init__(self, stores: dict[str, TraceStore], second: TraceStore | None = None) -> None:
        self._stores = stores
        self._taken_in = stores["understand"]
        self._second = second

    def find(self, prefix: str = "") -> TurnTrace | None:
        """As of `TraceStore`; the last one is the last of whichever worker."""
        found = [store.find(prefix) for store in (self._taken_in, self._second) if store is not None]
        latest = max((trace for trace in found if trace is not None), key=lambda trace: trace.wall, default=None)
        return None if latest is None else self._whole(latest)

    def __iter__(self) -> Iterator[TurnTrace]:
        taken_in = [*self._taken_in, *(self._second or ())]
        return (self._whole(trace) for trace in sorted(taken_in, key=lambda trace: trace.wall))

    def __len__(self) -> int:
        return len(self._taken_in) + len(self._second or ())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._taken_in, name)

    def _whole(self, trace: TurnTrace) -> TurnTrace:
        whole = copy(trace)
        whole.steps = list(trace.steps)
        for store in self._stores.values():
            part = {one.utterance_id: one for one in store}.get(trace.utterance_id)
            if part is not None and part is not trace:
                late = part.wall - trace.wall
                whole.steps += [msgspec.structs.replace(step, at=step.at + late) for step in part.steps]
        whole.steps.sort(key=lambda step: step.at)
        return whole
