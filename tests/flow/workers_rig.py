"""Workers that understand, a host of skills and an onlooker at a real broker, each with a network link of its own."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from hark.app.runtime import Runtime
from hark.app.service_names import ServiceName
from hark.app.settings import settings_from
from hark.builtin import MATCHERS
from hark.bus import RemoteBus
from hark.bus.nats import NatsCarrier, NatsOptions, TurnStreams
from hark.model import Clock, Message, Session, SystemClock
from hark.plugins import Plugin, Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing.clock import FakeClock
from hark.testing.nats_server import NatsServer
from hark.testing.network_link import NetworkLink
from hark.testing.quiet import QuietCarrier

PIPELINE = [matcher.id for matcher in MATCHERS]


class Chores(Skill):
    """Short and long ones."""

    id = "chores.skill"

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()
        self.calls: Counter[str] = Counter()
        self.ended: dict[str, asyncio.Event] = {}

    async def start(self) -> None:
        await super().start()
        self.host.on(topics.UTTERANCE_HANDLED, self._handled)

    def _handled(self, message: Message) -> None:
        self.ended.setdefault(message.session_id, asyncio.Event()).set()

    @intent("say {words}")
    async def say(self, turn: Turn) -> str:
        self.calls["say"] += 1
        return turn.slots["words"]

    @intent("take your time")
    async def take(self, turn: Turn) -> str:
        self.calls["take"] += 1
        await self.go_on.wait()
        return "at last"

    @intent("remember {word}")
    async def note(self, turn: Turn) -> None:
        self.calls["note"] += 1
        turn.remember("word", turn.slots["word"])

    @intent("ask me")
    async def question(self, turn: Turn) -> str:
        self.calls["question"] += 1
        answer = await turn.ask("Which one?", timeout=3_600.0)
        return f"so {answer}"

    @intent("begin another")
    async def nested(self, turn: Turn) -> str:
        self.calls["nested"] += 1
        inner = self.ended["inner"] = asyncio.Event()
        session = turn.session.replace(session_id="inner")
        self.host.emit(topics.UTTERANCE_HANDLE, {"utterances": ["take your time"]}, session=session)
        await inner.wait()
        return "both done"


class Workers:
    """What runs at one broker, by name, and what an onlooker sees of it."""

    def __init__(self, server: NatsServer, prefix: str, clock: Clock, stack: AsyncExitStack) -> None:
        self.server = server
        self.clock = clock
        self.messages: list[Message] = []
        self.before: list[str] = []
        """Entries of the pipeline before the usual ones."""
        self.links: dict[str, NetworkLink] = {}
        self.houses: dict[str, Runtime] = {}
        self.carriers: dict[str, NatsCarrier] = {}
        self._prefix = prefix
        self._stack = stack
        self.bus: RemoteBus

    async def connect(self, name: str) -> RemoteBus:
        link = self.links[name] = await self._stack.enter_async_context(NetworkLink(self.server.port))
        options = NatsOptions((f"nats://127.0.0.1:{link.port}",), prefix=self._prefix, retry=0.05, regroup=0.0)
        carrier = self.carriers[name] = NatsCarrier(options)
        bus = RemoteBus(QuietCarrier(carrier) if isinstance(self.clock, FakeClock) else carrier)
        await bus.open()
        return bus

    @property
    def streams(self) -> TurnStreams:
        """As the onlooker has them."""
        return self.carriers["onlooker"].streams

    async def worker(self, name: str, *matchers: Plugin) -> Runtime:
        """Start a process that understands, with these matchers before the usual ones."""
        return await self._house(name, [*matchers, *(matcher() for matcher in MATCHERS)], "understand")

    async def host(self, name: str, *skills: Plugin) -> Runtime:
        """Start a process that has skills."""
        return await self._house(name, skills, "act")

    async def _house(self, name: str, plugins: list[Plugin] | tuple[Plugin, ...], service: ServiceName) -> Runtime:
        bus = await self.connect(name)
        house = self.houses[name] = Runtime(
            settings_from({"assistant": {"pipeline": [*self.before, *PIPELINE]}}),
            bus,
            self.clock,
            plugins,
            services=(service,),
            render=lambda _spoken: None,
            serves=lambda _id: False,
            settled=self._settled,
            streams=self.carriers[name].streams,
        )
        await house.start()
        return house

    async def _settled(self) -> list[str]:
        """Twice: what one does with what it was told may be something to be told to others."""
        buses = [house.bus for name, house in self.houses.items() if self.carriers[name].connected]
        return [late for _ in range(2) for bus in buses for late in await bus.settled(1.0)]

    async def kill(self, name: str) -> None:
        """Cut a process off for good: nothing comes from it any more."""
        self.links[name].cut()
        await self.until(lambda: not self.carriers[name].connected)

    async def kill_broker(self) -> None:
        """Kill the server, which has to be one of this test's own."""
        self.server.kill()
        for link in self.links.values():
            link.cut()
        await self.until(lambda: not any(carrier.connected for carrier in self.carriers.values()))

    async def start_broker(self) -> None:
        """Start it again."""
        self.server.start()
        for link in self.links.values():
            await link.restore()

    async def stop(self, name: str) -> None:
        """Stop a process as SIGTERM does."""
        house = self.houses.pop(name)
        stopping = asyncio.ensure_future(house.stop())
        while isinstance(self.clock, FakeClock) and not stopping.done():
            await self.clock.advance(1.0)
        await stopping
        await house.bus.close()

    def say(self, text: str, session: Session | None = None, mark: str = "") -> None:
        self.bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": [text]}, {"mark": mark}, session))

    def of(self, topic: str) -> list[Message]:
        return [message for message in self.messages if message.type == topic]

    @property
    def markers(self) -> Counter[str]:
        """How many end markers each utterance has, by the mark it was said with."""
        return Counter(message.context["mark"] for message in self.of(topics.UTTERANCE_HANDLED))

    @property
    def errors(self) -> list[str]:
        return [message.data["exception"] for message in self.of(topics.HANDLER_ERROR)]

    @property
    def spoken(self) -> list[str]:
        return [message.data["utterance"] for message in self.of(topics.UTTERANCE_SPEAK)]

    async def until(self, is_so: Callable[[], bool], within: float = 10.0) -> None:
        """Wait for something that comes over the network, in real time."""
        async with asyncio.timeout(within):
            while not is_so():  # noqa: ASYNC110 - of many things, some of them at the broker
                await asyncio.sleep(0.01)

    def holder(self) -> str:
        """Which worker holds the default session."""
        held = [name for name, house in self.houses.items() if house.turns.store.owned and name.startswith("w")]
        return held[0] if held else ""


@asynccontextmanager
async def workers(server: NatsServer, prefix: str, clock: Clock | None = None) -> AsyncIterator[Workers]:
    """A broker with an onlooker; everything that was started at it is stopped at the end."""
    async with AsyncExitStack() as stack:
        made = Workers(server, prefix, clock or SystemClock(), stack)
        made.bus = await made.connect("onlooker")
        made.bus.tap(made.messages.append)
        try:
            yield made
        finally:
            for link in made.links.values():
                await link.restore()
                link.flow()
            for name in list(made.houses):
                await made.stop(name)
            await made.streams.delete()
            await made.bus.close()
