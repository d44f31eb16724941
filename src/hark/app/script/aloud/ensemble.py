"""The engines of conversations that are played aloud: loaded once, lent to one assistant after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, Final

from hark.app.script.aloud.sounds import Ear, Mouth
from hark.app.settings import Settings
from hark.app.voice.engines import ChosenEngine, EngineFactory, VoiceConfig
from hark.hosting import Refusal
from hark.plugins.engines import Engine, EngineKind

_KINDS: Final[tuple[EngineKind, ...]] = ("vad", "wakeword", "stt", "tts")
_USERS: Final = ("hibari", "nanotts", "piper", "espeak-ng")
"""Who may lend the user a voice, the clearest first; not the one that answers."""


class Ensemble:
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

    def aloud(self, settings: Settings, ear: Ear, mouth: Mouth) -> VoiceConfig:
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
