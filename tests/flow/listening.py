"""A listener with fake engines, and everything on its bus."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from flow.chain_rig import Rig
from hark.bus import LocalBus
from hark.hear import Listener
from hark.hosting import Engines, Registry
from hark.model import Audio, Message, Session
from hark.model.audio import Level
from hark.plugins import AudioTap, Transformer
from hark.plugins.engines import Engine, EngineKind, Transcript
from hark.spec import topics
from hark.testing import Assistant, FakeClock, settle
from hark.testing.voice.input import FakeMicrophone, FakeSTT, Scene
from hark.testing.voice.listener import JARVIS as JARVIS
from hark.testing.voice.listener import FakeListener, is_default
from hark.trace import TraceStore

OUTCOMES = (topics.UTTERANCE_HANDLE, topics.STT_FAILED, topics.UTTERANCE_CANCELLED)


class SlowSTT(FakeSTT):
    """Takes two seconds."""

    id = "slow-stt"
    quick = False

    async def transcribe(self, audio: Audio, lang: str) -> Transcript:  # type: ignore[override]
        await self.host.clock.sleep(2.0)
        return super().transcribe(audio, lang)


class Listening:
    """`async with Listening(bus) as stage: await stage.hears(Scene()...)`."""

    def __init__(
        self,
        bus: LocalBus,
        *engines: Engine,
        chain: Iterable[Transformer] = (),
        serves: Any = is_default,
        on_level: Callable[[Level], None] | None = None,
        taps: Registry[AudioTap] | None = None,
        **options: Any,
    ) -> None:
        self.bus = bus
        rig = Rig("audio", *chain, emit=bus.emit)
        self.registry, self.chain = rig.registry, rig.chain
        self.clock: FakeClock = rig.clock
        self.runner = rig.runner
        self.traces = TraceStore(self.clock)
        self.levels: list[Level] = []
        self.ears = FakeListener(
            bus,
            self.runner,
            rig.chain,
            self.traces,
            *engines,
            serves=serves,
            on_level=on_level or self.levels.append,
            taps=taps,
            **options,
        )
        self.messages: list[Message] = []
        bus.tap(self.messages.append)

    @property
    def listener(self) -> Listener:
        return self.ears.listener

    @property
    def microphone(self) -> FakeMicrophone:
        return self.ears.microphone

    @property
    def stt(self) -> FakeSTT:
        return self.ears.stt

    @property
    def engines(self) -> dict[EngineKind, Engines[Any]]:
        return self.ears.engines

    async def __aenter__(self) -> Listening:
        await self.ears.__aenter__()
        await settle()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.ears.__aexit__(kind, error, trace)
        self.runner.threads.close()

    async def hears(self, scene: Scene) -> None:
        """Let it hear something, and let everything happen that follows from it."""
        await settle()  # what it was told before may be on its way
        await self.ears.hears(scene)
        await settle()

    async def told(self, topic: str, session: Session | None = None, **context: Any) -> None:
        """Emit a Message to it."""
        self.bus.emit(Message(topic, {}, context, session))
        await settle()

    def topics(self) -> list[str]:
        """What it said, its private signals apart."""
        return [message.type for message in self.messages if not message.type.startswith("hark.")]

    def of(self, topic: str) -> list[Message]:
        """What it said on one topic."""
        return [message for message in self.messages if message.type == topic]

    def states(self) -> list[str]:
        """The states it went through."""
        return [message.data["state"] for message in self.of(topics.LISTENER_STATE)]

    def said(self) -> list[str]:
        """The first candidate of each utterance."""
        return [message.data["utterances"][0] for message in self.of(topics.UTTERANCE_HANDLE)]

    def outcomes(self) -> list[str]:
        """What became of the recordings."""
        return [message.type for message in self.messages if message.type in OUTCOMES]


def ears_of(assistant: Assistant, **options: Any) -> FakeListener:
    """A listener on the bus of an assistant."""
    house = assistant.runtime
    return FakeListener(house.bus, house.runner, house.chains["audio"], house.traces, **options)


async def ended(assistant: Assistant, turns: int) -> None:
    """Wait until so many turns have ended."""
    done = asyncio.Event()

    def look(_message: Message | None = None) -> None:
        if len(assistant.of(topics.UTTERANCE_HANDLED)) >= turns:
            done.set()

    subscription = assistant.bus.on(topics.UTTERANCE_HANDLED, look)
    look()
    async with asyncio.timeout(20):
        await done.wait()
    subscription.close()
    await settle()


def command(text: str = "what time is it", pause: float = 0.5) -> Scene:
    """The wake word, a pause, a command, and silence that ends it."""
    return Scene().silence(0.5).says("hey jarvis").silence(pause).says(text).silence(1.0)
