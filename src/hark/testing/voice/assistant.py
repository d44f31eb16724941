"""A whole assistant that hears and speaks, in a test."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from hark.app.runtime import Runtime, makes_remarks
from hark.app.settings import Settings, settings_from
from hark.app.voice.engines import ChosenEngine, EngineFactory, VoiceConfig
from hark.app.voice.follower import VoiceFollower
from hark.app.voice.sound_files import CollectingPlayer
from hark.builtin import MATCHERS
from hark.bus import LocalBus
from hark.model import Audio, Clock, Message, SystemClock
from hark.model.resample import resample_mono
from hark.plugins import AudioTap, PipelinePlugin, Plugin
from hark.plugins.engines import SAMPLE_RATE, Engine, EngineKind
from hark.speak import SpokenResponse
from hark.spec import DEFAULT_SESSION_ID
from hark.testing.clock import FakeClock
from hark.testing.voice.input import FakeMicrophone, FakeSTT, FakeVAD, FakeWakeWords, Scene
from hark.testing.voice.output import FakeTTS
from hark.trace import render

_PATIENCE = 60.0
_SILENCE = bytes(2 * SAMPLE_RATE)
"""One second, which ends a command."""
_STEP = 2 * SAMPLE_RATE // 10
"""Bytes of sound that audio taps hear before there is more."""


class VoiceAssistant:
    """`async with VoiceAssistant(MySkill(), engines=[MySTT()]) as assistant: await assistant.hears(audio)`.

    `engines` are used in order of preference, a fake one for each kind that is missing. Whatever is said is a command,
    unless `wakes`. The player keeps what it plays and takes no time. `matchers` are loaded in addition to the plugins.
    """

    def __init__(
        self,
        *plugins: Plugin,
        engines: Sequence[Engine] = (),
        settings: Settings | Mapping[str, Any] | None = None,
        clock: Clock | None = None,
        wakes: bool = False,
        matchers: Sequence[type[PipelinePlugin]] = MATCHERS,
        **listening: Any,
    ) -> None:
        self.clock: Any = clock or SystemClock()
        self.bus = LocalBus()
        self.microphone = FakeMicrophone()
        self.player = CollectingPlayer()
        self.messages: list[Message] = []
        """Every Message on the bus, in order."""
        self.shown: list[str] = []
        """The texts of the responses."""
        self.bus.tap(self.messages.append)
        settings = settings if isinstance(settings, Settings) else settings_from(settings or {})
        fakes = (self.microphone, FakeVAD(), FakeWakeWords(), FakeSTT(), FakeTTS(), self.player)
        given = {engine.kind for engine in engines}
        chosen = (*engines, *(fake for fake in fakes if fake.kind not in given))
        kinds: set[EngineKind] = {engine.kind for engine in chosen}
        tables = settings.engine
        instead = {
            kind: [ChosenEngine(one, dict(tables.get(one.id, {}))) for one in chosen if one.kind == kind]
            for kind in kinds
        }
        config = VoiceConfig(factory=EngineFactory(settings, installed=False), instead=instead, earcons=False)
        if not wakes:
            listening = {"opens_by": "speech", "wake_words": (), **listening}
        self.runtime = Runtime(
            settings,
            self.bus,
            self.clock,
            [*(matcher() for matcher in matchers), *plugins],
            render=self._rendered,
            serves=lambda session_id: session_id == DEFAULT_SESSION_ID,
            voice=config.listening(config.hear_options(settings), **listening),
        )
        self._has_taps = any(isinstance(plugin, AudioTap) for plugin in plugins)
        self.following = VoiceFollower(self.bus, remarks=makes_remarks(self.runtime))

    async def __aenter__(self) -> VoiceAssistant:
        try:
            await self.runtime.start()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._close()

    async def hears(self, *sounds: Audio | Scene) -> list[Audio]:
        """Play sounds into the microphone, then silence; what was played in answer, once every turn has ended."""
        before = len(self.player.sounds)
        await self.takes_in(*sounds)
        await self.settled()
        return self.player.sounds[before:]

    async def settled(self) -> None:
        """Wait until everything recorded has its outcome, and every answer was played."""
        async with asyncio.timeout(_PATIENCE):
            await self.runtime.listener.idle()
            await self.following.quiet()

    async def takes_in(self, *sounds: Audio | Scene) -> None:
        """As `hears`, without waiting for the turns."""
        for sound in sounds:
            await self._give(sound.samples if isinstance(sound, Scene) else resample_mono(sound, SAMPLE_RATE).samples)
        await self._give(_SILENCE)
        async with asyncio.timeout(_PATIENCE):
            await self.microphone.heard()

    def of(self, topic: str) -> list[Message]:
        """The Messages on one topic."""
        return [message for message in self.messages if message.type == topic]

    def why(self, utterance_id: str = "") -> str:
        """The trace of a turn, or of a command that became none; by default the last."""
        trace = self.runtime.traces.find(utterance_id)
        if trace is None:
            raise LookupError("there is no trace")
        return render(trace.record())

    async def _give(self, samples: bytes) -> None:
        """Give some sound; where there are audio taps, as slowly as they hear it."""
        if not self._has_taps:
            self.microphone.give(samples)
            return
        async with asyncio.timeout(_PATIENCE):
            for at in range(0, len(samples), _STEP):
                self.microphone.give(samples[at : at + _STEP])
                await self.microphone.heard()
                await self.runtime.listener.tapped()

    def _rendered(self, spoken: SpokenResponse) -> None:
        self.shown.append(spoken.text)

    async def _close(self) -> None:
        self.following.close()
        closing = asyncio.create_task(self.runtime.stop(), name="closing the assistant")
        while not closing.done():
            if isinstance(self.clock, FakeClock):
                await self.clock.advance(1.0)  # for its grace periods
            else:
                await asyncio.wait({closing}, timeout=0.05)
        await closing
        await self.bus.close()
