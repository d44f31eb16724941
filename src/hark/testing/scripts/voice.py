"""Engines of spoken conversations: loaded once, used by one assistant after the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from copy import copy
from typing import Any, Final

from hark.app.runtime import Runtime
from hark.app.settings import Settings
from hark.app.voice.engines import ChosenEngine, EngineFactory, NoEngine, VoiceConfig
from hark.hosting import Engines, PluginHost, Refusal, UnusableResult
from hark.model import Audio
from hark.model.resample import resample_mono
from hark.plugins.engines import SAMPLE_RATE, Engine, EngineKind, Microphone, Player, TTSEngine
from hark.testing.scripts.assistant import NotHeard
from hark.testing.scripts.device import SpokenAnswer


class ScriptMicrophone(Microphone):
    """A microphone that hears what the script plays: `await microphone.hear(samples)`."""

    id = "script-microphone"

    def __init__(self) -> None:
        self._given: asyncio.Queue[bytes] = asyncio.Queue()

    async def hear(self, samples: bytes) -> None:
        """Play a sound to it, and wait until the listener has processed it."""
        self._given.put_nowait(samples)
        await self._given.join()

    async def blocks(self) -> AsyncIterator[bytes]:
        """See `Microphone`."""
        while True:
            samples = await self._given.get()
            try:
                yield samples
            finally:
                self._given.task_done()


class ScriptLoudspeaker(Player):
    """A loudspeaker on the clock of the conversation: a sound takes its length, and can be interrupted."""

    id = "script-loudspeaker"

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._ends: list[float] = []
        self.timeline: list[tuple[float, float, bool]] = []
        """For each sound, when it began and ended, and whether it was complete."""
        self.saying: SpokenAnswer | None = None
        """The speech that the next sounds belong to."""

    @property
    def left(self) -> float | None:
        """Seconds until the end of the sound that is playing; None in silence."""
        return max(0.0, min(self._ends) - self._monotonic()) if self._ends else None

    async def play(self, audio: Audio) -> None:
        """See `Player`."""
        said, began = self.saying, self._monotonic()
        end, whole = began + audio.seconds, False
        self._ends.append(end)
        if said is not None:
            said.sounds.append(audio)
        try:
            await self.host.clock.sleep(audio.seconds)
            whole = True
        finally:
            self._ends.remove(end)
            self.timeline.append((began, self._monotonic(), whole))


_KINDS: Final[tuple[EngineKind, ...]] = ("vad", "wakeword", "stt", "tts")
_USERS: Final = ("hibari", "nanotts", "piper", "espeak-ng")
"""Engines that may speak for the users, the clearest first; not the one that answers."""


class VoiceSetup:
    """The engines of spoken conversations; `close` it after the last one.

    `voice` names the engine that speaks for the user; `listen_back` has the recogniser listen to every answer.
    """

    def __init__(
        self, voice: str | None = None, *, listen_back: bool = False, report: Callable[[str], None] = lambda _line: None
    ) -> None:
        self.listen_back = listen_back
        self._voice = voice
        self._report = report
        self._kept: dict[str, Engine] = {}
        self.spoken: dict[tuple[str, ...], bytes] = {}
        """Utterances of users that were synthesised before."""

    def config(self, settings: Settings, microphone: ScriptMicrophone, loudspeaker: ScriptLoudspeaker) -> VoiceConfig:
        """The voice configuration of an assistant with these settings."""
        choice = EngineFactory(settings, installed=True)
        instead: dict[EngineKind, list[ChosenEngine | Refusal]] = {
            kind: [self.shared(one) for one in choice.of(kind)] for kind in _KINDS
        }
        instead["microphone"], instead["player"] = [ChosenEngine(microphone, {})], [ChosenEngine(loudspeaker, {})]
        return VoiceConfig(factory=choice, instead=instead, earcons=False, report=self._report)  # type: ignore[arg-type]

    def user_voices(self, settings: Settings, answering: Engine | None) -> Iterator[ChosenEngine | Refusal]:
        """Engines that may speak for the users: other ones than the one that answers."""
        names = _USERS if self._voice is None else (self._voice,)
        for one in EngineFactory(settings, installed=True).of("tts", names):
            if self._voice is not None or isinstance(one, Refusal) or type(one.engine) is not type(answering):
                yield self.shared(one)

    def close(self) -> None:
        """Unload the engines."""
        for engine in self._kept.values():
            type(engine).unload(engine)
        self._kept.clear()

    def shared(self, one: ChosenEngine | Refusal) -> ChosenEngine | Refusal:
        """The same engine, which is loaded only once, and stays loaded."""
        if isinstance(one, Refusal):
            return one
        engine = one.engine
        key = f"{engine.kind} {engine.id} {type(engine).__qualname__} {one.settings!r}"
        kept = self._kept.get(key)
        if kept is not None:
            # Each assistant sets the host of its plugins, so it gets a copy with the same model.
            engine = copy(kept)
            return ChosenEngine(_with(engine, load=_nothing, warm_up=_nothing, unload=_nothing), one.settings)

        def warm_up() -> None:
            type(engine).warm_up(engine)
            self._kept[key] = copy(engine)

        return ChosenEngine(_with(engine, warm_up=warm_up, unload=_nothing), one.settings)


def _nothing() -> None:
    """Replaces load and unload of an engine that stays loaded."""


def _with(engine: Engine, **methods: Any) -> Engine:
    for name, method in methods.items():
        setattr(engine, name, method)
    return engine


class UserVoice:
    """The voice of the users: `await voice.load(...)`, then `await voice.synthesise("...", "en-US")`."""

    def __init__(self, setup: VoiceSetup) -> None:
        self._setup = setup
        self._engines: Engines[TTSEngine] | None = None

    async def load(self, runtime: Runtime, settings: Settings, answering: TTSEngine | None) -> None:
        """Load the first engine that works; raises `NoEngine` when there is none."""
        engines: Engines[TTSEngine] = Engines("tts", runtime.runner)
        self._engines = engines
        for one in self._setup.user_voices(settings, answering):
            if isinstance(one, Refusal):
                engines.registry.refuse(one)
                continue
            engine: TTSEngine = one.engine  # type: ignore[assignment]
            refusal = await engines.add(
                engine, one.settings, lambda engine: PluginHost(engine, runtime.bus, runtime.runner, None)
            )
            if refusal is None:
                return
        reasons = "".join(f"\n  {refusal}" for refusal in engines.registry.refusals)
        raise NoEngine(f"there is no voice for the users beside the one that answers{reasons}")

    async def synthesise(self, text: str, lang: str) -> bytes:
        """The samples of a text; raises `NotHeard` when it cannot be synthesised."""
        key = text, lang
        if key not in self._setup.spoken:
            engines = self._engines
            done = None if engines is None else await engines.do(text, lang, None, lang=lang, check=_sound)
            if done is None:
                raise NotHeard(f"no engine can say this for the user in {lang}", "name an engine with --voice")
            self._setup.spoken[key] = resample_mono(done.value, SAMPLE_RATE).samples
        return self._setup.spoken[key]

    async def close(self) -> None:
        """Release the engine."""
        if self._engines is not None:
            await self._engines.close()


def _sound(value: object) -> Audio:
    if type(value) is not Audio or value.defect() is not None or not value.samples:
        raise UnusableResult("it returned no sound")
    return value
