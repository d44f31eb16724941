"""Engines of spoken conversations: loaded once, used by one assistant after the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from copy import copy
from typing import Any, Final

from hark.app.house import House
from hark.app.settings import Settings
from hark.app.voice.engines import ChosenEngine, EngineFactory, NoEngine, VoiceConfig
from hark.hosting import Engines, PluginHost, Refusal, UnusableResult
from hark.model import Audio
from hark.model.resample import resample_mono
from hark.plugins.engines import SAMPLE_RATE, Engine, EngineKind, Microphone, Player, TTSEngine
from hark.testing.scripts.assistant import NotHeard
from hark.testing.scripts.device import SpokenAnswer


class ScriptMicrophone(Microphone):
    """Hears what it is given, when it is given: `await ear.hears(samples)`."""

    id = "script-microphone"

    def __init__(self) -> None:
        self._given: asyncio.Queue[bytes] = asyncio.Queue()

    async def hears(self, samples: bytes) -> None:
        """Give it some sound, and wait until whoever listens has taken that in and wants more."""
        self._given.put_nowait(samples)
        await self._given.join()

    async def blocks(self) -> AsyncIterator[bytes]:
        """As promised by `Microphone`."""
        while True:
            samples = await self._given.get()
            try:
                yield samples
            finally:
                self._given.task_done()


class ScriptLoudspeaker(Player):
    """Plays on the clock of the conversation: a sound takes the time it takes, and can be cut short."""

    id = "script-loudspeaker"

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._ends: list[float] = []
        self.timeline: list[tuple[float, float, bool]] = []
        """When each sound began and ended, and whether it was heard to its end."""
        self.saying: SpokenAnswer | None = None
        """What is being said: the sounds that are played from now on are of this."""

    @property
    def left(self) -> float | None:
        """Seconds until a sound that is heard now ends; None in silence."""
        return max(0.0, min(self._ends) - self._monotonic()) if self._ends else None

    async def play(self, audio: Audio) -> None:
        """As promised by `Player`."""
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
"""Who may lend the user a voice, the clearest first; not the one that answers."""


class VoiceSetup:
    """What conversations are played aloud with; `close` it when no more are played.

    `voice` names the engine that speaks for the user; `listen_back` has the recogniser listen to every answer.
    """

    def __init__(
        self, voice: str | None = None, *, listen_back: bool = False, tell: Callable[[str], None] = lambda _line: None
    ) -> None:
        self.listen_back = listen_back
        self._voice = voice
        self._tell = tell
        self._kept: dict[str, Engine] = {}
        self.spoken: dict[tuple[str, ...], bytes] = {}
        """What the user has said before, as sound."""

    def aloud(self, settings: Settings, ear: ScriptMicrophone, mouth: ScriptLoudspeaker) -> VoiceConfig:
        """What an assistant with these settings hears and speaks with."""
        choice = EngineFactory(settings, installed=True)
        instead: dict[EngineKind, list[ChosenEngine | Refusal]] = {
            kind: [self.lend(one) for one in choice.of(kind)] for kind in _KINDS
        }
        instead["microphone"], instead["player"] = [ChosenEngine(ear, {})], [ChosenEngine(mouth, {})]
        return VoiceConfig(factory=choice, instead=instead, earcons=False, report=self._tell)  # type: ignore[arg-type]

    def users(self, settings: Settings, answering: Engine | None) -> Iterator[ChosenEngine | Refusal]:
        """Who may speak for the user: somebody who is told from who answers."""
        names = _USERS if self._voice is None else (self._voice,)
        for one in EngineFactory(settings, installed=True).of("tts", names):
            if self._voice is not None or isinstance(one, Refusal) or type(one.engine) is not type(answering):
                yield self.lend(one)

    def close(self) -> None:
        """Unload what was loaded."""
        for engine in self._kept.values():
            type(engine).unload(engine)
        self._kept.clear()

    def lend(self, one: ChosenEngine | Refusal) -> ChosenEngine | Refusal:
        """The same engine, which is loaded only if it was not before, and stays so."""
        if isinstance(one, Refusal):
            return one
        engine = one.engine
        key = f"{engine.kind} {engine.id} {type(engine).__qualname__} {one.settings!r}"
        kept = self._kept.get(key)
        if kept is not None:
            # One house after the other sets the host of its plugins: what it gets is a copy, with the same model.
            engine = copy(kept)
            return ChosenEngine(_with(engine, load=_nothing, warm_up=_nothing, unload=_nothing), one.settings)

        def warm_up() -> None:
            type(engine).warm_up(engine)
            self._kept[key] = copy(engine)

        return ChosenEngine(_with(engine, warm_up=warm_up, unload=_nothing), one.settings)


def _nothing() -> None:
    """It is loaded, and stays so."""


def _with(engine: Engine, **methods: Any) -> Engine:
    for name, method in methods.items():
        setattr(engine, name, method)
    return engine


class UserVoice:
    """A voice beside the one that answers: `await user.find(...)`, then `await user.says("...", "en-US")`."""

    def __init__(self, by: VoiceSetup) -> None:
        self._by = by
        self._engines: Engines[TTSEngine] | None = None

    async def find(self, house: House, settings: Settings, answering: TTSEngine | None) -> None:
        """Load the first engine that can do it; raises `NoEngine` when there is none."""
        engines: Engines[TTSEngine] = Engines("tts", house.runner)
        self._engines = engines
        for one in self._by.users(settings, answering):
            if isinstance(one, Refusal):
                engines.registry.refuse(one)
                continue
            engine: TTSEngine = one.engine  # type: ignore[assignment]
            refusal = await engines.add(
                engine, one.settings, lambda engine: PluginHost(engine, house.bus, house.runner, None)
            )
            if refusal is None:
                return
        reasons = "".join(f"\n  {refusal}" for refusal in engines.registry.refusals)
        raise NoEngine(f"there is no voice for the user beside the one that answers{reasons}")

    async def says(self, text: str, lang: str) -> bytes:
        """Text as it is heard; raises `NotHeard` when it cannot be said."""
        key = text, lang
        if key not in self._by.spoken:
            engines = self._engines
            done = None if engines is None else await engines.do(text, lang, None, lang=lang, check=_sound)
            if done is None:
                raise NotHeard(
                    f"nobody can say this for the user in {lang}", "name an engine: hark test --voice ENGINE"
                )
            self._by.spoken[key] = resample_mono(done.value, SAMPLE_RATE).samples
        return self._by.spoken[key]

    async def close(self) -> None:
        """Let the voice go."""
        if self._engines is not None:
            await self._engines.close()


def _sound(value: object) -> Audio:
    if type(value) is not Audio or value.defect() is not None or not value.samples:
        raise UnusableResult("it gave no sound")
    return value
