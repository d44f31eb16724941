"""A listener with fake engines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final

from hark.bus import Bus
from hark.chains import Chain
from hark.hear import HearOptions, Listener
from hark.hosting import Engines, PluginHost, Registry, Runner
from hark.model.audio import Level
from hark.plugins import AudioTap
from hark.plugins.engines import Engine, EngineKind, WakeWord
from hark.spec.names import DEFAULT_SESSION_ID
from hark.testing.voice.input import FakeMicrophone, FakeSTT, FakeVAD, FakeWakeWords, Scene
from hark.trace import TraceStore

JARVIS: Final = WakeWord("jarvis", "hey_jarvis")
_KINDS: Final[tuple[EngineKind, ...]] = ("microphone", "vad", "wakeword", "stt")
_PATIENCE: Final = 30.0


def is_default(session_id: str) -> bool:
    """Whether it is the device's own session."""
    return session_id == DEFAULT_SESSION_ID


class FakeListener:
    """`async with FakeListener(bus, runner, chain, traces) as ears: await ears.hears(Scene()...)`.

    Kinds of engine that are not given are fake; the wake word is "hey jarvis", unless the options name others.
    """

    def __init__(
        self,
        bus: Bus,
        runner: Runner,
        audio: Chain,
        traces: TraceStore,
        *engines: Engine,
        serves: Callable[[str], bool] = is_default,
        on_level: Callable[[Level], None] | None = None,
        taps: Registry[AudioTap] | None = None,
        **options: Any,
    ) -> None:
        self._bus = bus
        self._runner = runner
        self._given = engines
        self.microphone = FakeMicrophone()
        self.stt = FakeSTT()
        self.engines: dict[EngineKind, Engines[Any]] = {kind: Engines(kind, runner) for kind in _KINDS}
        self.listener = Listener(
            bus,
            runner,
            audio,
            traces,
            self.engines,
            options=HearOptions(**{"wake_words": (JARVIS,), **options}),
            serves=serves,
            on_level=on_level,
            taps=taps,
        )

    async def __aenter__(self) -> FakeListener:
        kinds = {engine.kind for engine in self._given}
        usual = (self.microphone, FakeVAD(), FakeWakeWords(), self.stt)
        for engine in (*self._given, *(one for one in usual if one.kind not in kinds)):
            refusal = await self.engines[engine.kind].add(engine, {}, self._host)
            assert refusal is None, refusal
            if isinstance(engine, FakeMicrophone):
                self.microphone = engine
            if isinstance(engine, FakeSTT):
                self.stt = engine
        await self.listener.start()
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.listener.close()
        for engines in self.engines.values():
            await engines.close()

    async def hears(self, scene: Scene) -> None:
        """Play a scene into the microphone, and wait until everything recorded has its outcome."""
        async with asyncio.timeout(_PATIENCE):
            await self.microphone.hears(scene)
            await self.listener.idle()

    def _host(self, engine: Engine) -> PluginHost:
        return PluginHost(engine, self._bus, self._runner, None)
