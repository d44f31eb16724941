"""Several workers that understand, a room of skills and an onlooker, each with a bus of its own at one broker."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hark.app.house import House
from hark.app.settings import settings_from
from hark.app.state.turns_file import TurnsFile
from hark.builtin import MATCHERS
from hark.bus import RemoteBus
from hark.model import Message, Session
from hark.plugins import Plugin, Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing.clock import FakeClock, settle
from hark.testing.cut_carrier import CutCarrier
from hark.testing.memory_broker import MemoryBroker
from hark.understand import Pace, Worker

PIPELINE = [matcher.id for matcher in MATCHERS]


class Chores(Skill):
    """Short and long ones."""

    id = "chores.skill"

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()
        self.calls: Counter[str] = Counter()

    @intent("say {words}")
    async def say(self, turn: Turn) -> str:
        return turn.slots["words"]

    @intent("take your time")
    async def take(self, turn: Turn) -> None:
        self.calls["take"] += 1
        await self.go_on.wait()

    @intent("remember {word}")
    async def note(self, turn: Turn) -> None:
        turn.remember("word", turn.slots["word"])

    @intent("ask me")
    async def question(self, turn: Turn) -> str:
        answer = await turn.ask("Which one?")
        return f"so {answer}"


class Disk:
    """The notes of a worker, on a real disk, to which nothing is written any more when it is dead."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(exist_ok=True)
        self._file = TurnsFile(directory)
        self.lost, self.stood_in = self._file.lost, self._file.stood_in
        self._is_there = True

    def opened(self, entry: Message) -> None:
        if self._is_there:
            self._file.opened(entry)

    def dispatched(self, dispatch: Message) -> None:
        if self._is_there:
            self._file.dispatched(dispatch)

    def ended(self, utterance_id: str) -> None:
        if self._is_there:
            self._file.ended(utterance_id)

    def note_stood_in(self, utterance_id: str) -> None:
        if self._is_there:
            self._file.note_stood_in(utterance_id)

    def close(self) -> None:
        if self._is_there:
            self._file.close()
        self._is_there = False


class Staff:
    """The workers by name, and what an onlooker sees."""

    def __init__(self, clock: FakeClock, broker: MemoryBroker, skills: Sequence[Plugin], place: Path) -> None:
        self.clock = clock
        self.broker = broker
        self.skills = skills
        self.houses: dict[str, House] = {}
        self.workers: dict[str, Worker] = {}
        self.wires: dict[str, CutCarrier] = {}
        self.place = place
        self.disks: dict[str, Disk] = {}
        self.dead: set[str] = set()
        self.messages: list[Message] = []
        self.bus = RemoteBus(broker.carrier())
        self.said = 0

    async def hire(self, name: str, instead: str = "") -> Worker:
        """Start another worker, or the next life of one that is dead."""
        disk = self.disks[name] = Disk(self.place / (instead or name).rstrip("'"))
        wire = self.wires[name] = CutCarrier.to(self.broker, self.clock, Pace().patience)
        bus = RemoteBus(wire)
        await bus.open()
        worker = self.workers[name] = Worker(bus, self.clock, worker_id=name, journal=disk)
        self.houses[name] = await self._house(bus, [matcher() for matcher in MATCHERS], ("understand",), worker)
        return worker

    async def revive(self, name: str) -> str:
        """Start a worker that is dead again; under what name it goes on."""
        await self.hire(f"{name}'", instead=name)
        return f"{name}'"

    async def _house(self, bus: RemoteBus, plugins: Sequence[Plugin], rooms, worker=None) -> House:  # type: ignore[no-untyped-def]
        house = House(
            settings_from({"assistant": {"pipeline": PIPELINE}}), bus, self.clock, plugins,
            rooms=rooms, render=lambda _: None, serves=lambda _: True, worker=worker,
        )  # fmt: skip
        starting = asyncio.ensure_future(house.start())
        while not starting.done():
            await settle()
        await starting
        return house

    def say(self, text: str, session: str | None = None) -> str:
        """Say something; the mark by which its end is known."""
        self.said += 1
        mark = f"said-{self.said}"
        carried = None if session is None else Session(session)
        self.bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": [text]}, {"mark": mark}, carried))
        return mark

    async def pass_by(self, seconds: float) -> None:
        """Let time pass, in steps that a broker would see."""
        await self.clock.advance(seconds)

    def kill(self, name: str) -> None:
        """As by a power cut: nothing it does is seen any more."""
        self.wires[name].cut()
        self.disks[name].close()
        self.dead.add(name)

    def holders(self) -> list[str]:
        """Who takes itself for the holder of the lease."""
        return [name for name, worker in self.workers.items() if worker.lease.serving and name not in self.dead]

    def markers(self) -> Counter[str]:
        """How often each utterance was ended."""
        ends = (message for message in self.messages if message.type == topics.UTTERANCE_HANDLED)
        return Counter(str(message.context.get("mark")) for message in ends)

    def of(self, mark: str) -> list[str]:
        """What became of an utterance."""
        return [m.type for m in self.messages if m.context.get("mark") == mark and not m.type.startswith("hark.")]

    def by(self, mark: str) -> str:
        """Which worker has ended it."""
        [marker] = [m for m in self.messages if m.type == topics.UTTERANCE_HANDLED and m.context.get("mark") == mark]
        return (marker.utterance_id or "").rpartition("-")[0]


@asynccontextmanager
async def staff(*names: str, skills: Sequence[Plugin] = ()) -> AsyncIterator[Staff]:
    """These workers, of whom one holds the lease."""
    clock, broker = FakeClock(), MemoryBroker()
    place = TemporaryDirectory()
    made = Staff(clock, broker, skills, Path(place.name))
    await made.bus.open()
    made.bus.tap(made.messages.append)
    for name in names:
        await made.hire(name)
    act = RemoteBus(broker.carrier())
    await act.open()
    acting = await made._house(act, skills or [Chores()], ("act",))
    await made.pass_by(3.0)
    try:
        yield made
    finally:
        for house in (*made.houses.values(), acting):
            closing = asyncio.ensure_future(house.stop())
            while not closing.done():
                await clock.advance(1.0)
            await closing
            await house.bus.close()
        await made.bus.close()
        for disk in made.disks.values():
            disk.close()
        place.cleanup()
