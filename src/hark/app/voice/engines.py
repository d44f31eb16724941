"""The engines that [voice] names: made, loaded, and how listening and speaking are set up with them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec

from hark import hear
from hark.app.settings import Settings
from hark.app.trouble import Trouble
from hark.bus import Bus
from hark.hosting import Engines, PluginHost, Refusal, Runner
from hark.hosting.discovery import installed_entry_points, load
from hark.model.audio import Level
from hark.plugins.engines import Engine, EngineKind, WakeWord
from hark.speak.options import SpeakOptions

_USUAL: Final = WakeWord("jarvis", "hey jarvis")
"""What wakes an assistant nobody gave another phrase."""


class ChosenEngine(msgspec.Struct, frozen=True):
    """An engine that is wanted, and what it is told."""

    engine: Engine
    settings: dict[str, Any]


class EngineFactory:
    """Makes the engines that the settings name. What is not there comes back as a `Refusal`, in its place."""

    def __init__(self, settings: Settings, *, installed: bool) -> None:
        self._settings = settings
        self._installed = installed

    def of(self, kind: EngineKind, names: Iterable[str] | None = None) -> Iterator[ChosenEngine | Refusal]:
        """The engines of one kind in the order of [voice], or those of these names."""
        for name in getattr(self._settings.voice, kind) if names is None else names:
            table = dict(self._settings.engine.get(name, {}))
            engine_id = table.pop("engine", name)
            made = self._made(kind, engine_id)
            if isinstance(made, Refusal):
                yield made
                continue
            made.id = name  # type: ignore[misc]  # one class may be here under several names
            yield ChosenEngine(made, table)

    def wake_words(self) -> list[WakeWord]:
        """The phrases that open the ears."""
        return [
            WakeWord(name, one.phrase, one.model or "", one.lang, one.persona, one.threshold)
            for name, one in self._settings.wake.items()
        ] or [_USUAL]

    def _made(self, kind: EngineKind, engine_id: str) -> Engine | Refusal:
        from hark.builtin.engines import ENGINES  # only here: who does not speak aloud does not pay for it

        place = ENGINES.get((kind, engine_id))
        if place is not None:
            module, _, name = place.partition(":")
            return getattr(import_module(module), name)()  # type: ignore[no-any-return]
        group = f"hark.engine.{kind}"
        for offer in installed_entry_points((group,)) if self._installed else ():
            if isinstance(offer, Refusal):
                return offer
            if offer.name == engine_id:
                made = load(offer)
                return made if isinstance(made, Engine | Refusal) else _no_engine(kind, engine_id)
        known = ", ".join(sorted(one for of, one in ENGINES if of == kind))
        return _no_engine(kind, engine_id, f"[voice] {kind} can name: {known}; others can be installed")


def _no_engine(kind: EngineKind, engine_id: str, remedy: str = "") -> Refusal:
    return Refusal(f"{kind} engine", engine_id, f"there is no {kind} engine {engine_id!r}", remedy)


HEARING: Final[tuple[EngineKind, ...]] = ("microphone", "vad", "wakeword", "stt")
SPEAKING: Final[tuple[EngineKind, ...]] = ("tts", "player")


class NoEngine(Trouble):
    """An assistant that is to hear or speak cannot; the text says what is missing and what to do about it."""


class VoiceConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The engines a house is to use, and how; rooms that have none of it deal in text."""

    choice: EngineFactory
    hears: bool = True
    speaks: bool = True
    instead: Mapping[EngineKind, Sequence[ChosenEngine]] = {}
    """Engines in place of those the settings name: a file for the microphone, say."""
    hearing: hear.HearOptions | None = None
    """How to listen, where it is not as the settings have it."""
    earcons: bool = True
    """Whether short sounds may be heard, where the settings want them."""
    tell: Callable[[str], None] = lambda _line: None
    """Is told what takes its time."""
    on_level: Callable[[Level], None] | None = None
    """Is shown how loud it is."""

    def wanted(self, kind: EngineKind) -> Iterable[ChosenEngine | Refusal]:
        """The engines of one kind, in order of preference."""
        return self.instead[kind] if kind in self.instead else self.choice.of(kind)

    def hear_options(self, settings: Settings) -> hear.HearOptions:
        """How to listen."""
        if self.hearing is not None:
            return self.hearing
        voice = settings.voice
        return hear.HearOptions(
            lang=settings.understanding().lang,
            wake_words=tuple(self.choice.wake_words()),
            opens_by="speech" if voice.always_listening else "wake word",
            silence=voice.silence,
            no_speech=voice.no_speech,
            longest=voice.longest,
            barge_in=voice.barge_in,
            half_duplex=voice.half_duplex,
            wake_by_voice=voice.wake_by_voice,
        )

    def listening(self, usual: hear.HearOptions, **changes: Any) -> VoiceConfig:
        """The same, listening in another way."""
        return msgspec.structs.replace(self, hearing=msgspec.structs.replace(usual, **changes))

    def speak_options(self, settings: Settings) -> SpeakOptions:
        """How to speak."""
        voice = settings.voice
        return SpeakOptions(
            lang=settings.understanding().lang,
            ahead=2 if voice.sentence_by_sentence else 0,
            earcons=self.earcons and voice.earcons,
            sound_folders=tuple(Path(name).expanduser() for name in voice.sound_folders),
        )


class EngineSet:
    """The engines of one room, from their loading to their end."""

    def __init__(self, kinds: Collection[EngineKind], aloud: VoiceConfig, runner: Runner) -> None:
        self._aloud = aloud
        self.by_kind: dict[EngineKind, Engines[Any]] = {kind: Engines(kind, runner) for kind in kinds}

    async def tune(
        self, bus: Bus, runner: Runner, data_root: Path | None, langs: Collection[str], not_needed: Collection[str] = ()
    ) -> None:
        """Load them all; raises `NoEngine` when there is nobody left of a kind that is needed."""
        for kind, engines in self.by_kind.items():
            for one in self._aloud.wanted(kind):
                if isinstance(one, Refusal):
                    engines.registry.refuse(one)
                    continue
                self._aloud.tell(f"loading {kind} {one.engine.id}")
                await engines.add(
                    one.engine, one.settings, lambda engine: PluginHost(engine, bus, runner, data_root, langs)
                )
            if not len(engines.registry) and kind not in not_needed:
                raise NoEngine("\n".join(_missing(kind, engines.registry.refusals)))

    @property
    def refusals(self) -> list[Refusal]:
        """The engines that are not loaded, and why."""
        return [refusal for engines in self.by_kind.values() for refusal in engines.registry.refusals]

    async def close(self) -> None:
        """Unload them all."""
        for engines in self.by_kind.values():
            await engines.close()


def _missing(kind: EngineKind, refusals: Iterable[Refusal]) -> Iterable[str]:
    yield f"there is no {kind} engine that works here"
    for refusal in refusals:
        yield f"  {refusal.name}: {refusal.reason}" + (f"; remedy: {refusal.remedy}" if refusal.remedy else "")
