"""A speaker with fake engines, and everything on its bus."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any

from flow.chain_rig import Rig
from hark.bus import LocalBus
from hark.model import Message, Session
from hark.plugins import Transformer
from hark.plugins.engines import Engine
from hark.speak import Speaker, SpokenResponse
from hark.speak.options import SpeakOptions
from hark.spec import topics
from hark.testing import FakeClock, settle
from hark.testing.voice.output import FakePlayer, FakeTTS, audio_output, close_output
from hark.trace import TraceStore, TurnTrace

STARTED, ENDED, LISTEN = topics.AUDIO_OUTPUT_STARTED, topics.AUDIO_OUTPUT_ENDED, topics.MIC_LISTEN
SIGNALS = (STARTED, ENDED, LISTEN, topics.AUDIO_SPEECH, topics.UTTERANCE_CANCELLED)


class Sounding:
    """`async with Sounding(bus) as room: room.say("hello"); await settle()`."""

    def __init__(
        self,
        bus: LocalBus,
        *engines: Engine,
        dialog: tuple[Transformer, ...] = (),
        tts: tuple[Any, ...] = (),
        hears: Any = None,
        serves: Any = None,
        player: FakePlayer | None = None,
        **options: Any,
    ) -> None:
        self.bus = bus
        self.clock = FakeClock()
        self.player = player or FakePlayer()
        self.tts = next((engine for engine in engines if isinstance(engine, FakeTTS)), FakeTTS())
        self.engines = [*(engines or (self.tts,)), self.player]
        self._dialog, self._tts, self._options = dialog, tts, SpeakOptions(**options)
        self._hears = hears or (lambda session_id: session_id in ("default", "kitchen"))
        self._serves = serves or self._hears
        self.traces = TraceStore(self.clock)
        self.shown: list[SpokenResponse] = []
        self.messages: list[Message] = []

    async def __aenter__(self) -> Sounding:
        rig = Rig("dialog", *self._dialog, clock=self.clock, emit=self.bus.emit)
        self.output = await audio_output(
            self.bus,
            self.clock,
            *self.engines,
            tts=self._tts,
            options=self._options,
            runner=rig.runner,
            hears=self._hears,
        )
        self.speaker = Speaker(
            self.bus, self.clock, rig.chain, self.traces, self.shown.append, self._serves, output=self.output
        )
        self.bus.tap(self.messages.append)
        self._tasks_before = asyncio.all_tasks()
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.speaker.close()
        await settle()  # that a task is over is known a moment later
        assert not self._is_busy()
        await close_output(self.output)

    def say(
        self, text: Any, session: str | Session | None = None, topic: str = topics.UTTERANCE_SPEAK, **data: Any
    ) -> None:
        """Emit a speak Message."""
        context = {"utterance_id": "u1", "skill_id": "some.skill", **data.pop("context", {})}
        self.emit(topic, session, context, utterance=text, **data)

    def emit(
        self, topic: str, session: str | Session | None = None, context: dict[str, Any] | None = None, **data: Any
    ) -> None:
        """Emit any Message."""
        where = Session(session) if isinstance(session, str) else session
        self.bus.emit(Message(topic, data, context or {}, where))

    def of(self, topic: str, session_id: str | None = None) -> list[Message]:
        """The Messages on one topic."""
        found = [message for message in self.messages if message.type == topic]
        return found if session_id is None else [message for message in found if message.session_id == session_id]

    def signals(self, session_id: str = "default") -> list[str]:
        """The signals of a session, in order."""
        return [m.type for m in self.messages if m.type in SIGNALS and m.session_id == session_id]

    @property
    def outcomes(self) -> list[str]:
        """How it went with the responses, in the order they were over."""
        return [message.data["outcome"] for message in self.of(topics.SPEECH_RENDERED)]

    def trace(self) -> TurnTrace:
        """The trace of the turn that what is said belongs to."""
        return self.traces.begin("u1", "default", ())

    async def heard(self, count: int) -> None:
        """Wait until so many sounds were heard; some come by way of a thread."""
        async with asyncio.timeout(20):
            while len(self.player.sounds) < count:
                await asyncio.to_thread(lambda: None)
                await settle()

    async def quiet(self) -> None:
        """Wait until nothing is under way, also on threads."""
        await settle()
        async with asyncio.timeout(20):
            while self._is_busy():
                await asyncio.to_thread(lambda: None)
                await settle()

    def _is_busy(self) -> bool:
        own = asyncio.all_tasks() - self._tasks_before - {asyncio.current_task()}
        return bool(own) or self.speaker.pending > 0

    async def pass_by(self, seconds: float) -> None:
        """Let time pass."""
        await self.clock.advance(seconds)
        await settle()
