"""The engines that [voice] names: made, loaded, and how listening and speaking are set up with them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec

from hark import hear, hints
from hark.app.settings import Settings
from hark.bus import Bus
from hark.errors import UserError
from hark.hosting import Engines, PluginHost, Refusal, Runner
from hark.hosting.discovery import installed_entry_points, load
from hark.model.audio import Level
from hark.plugins.engines import Engine, EngineKind, WakeWord
from hark.speak.options import SpeakOptions

HEARING: Final[tuple[EngineKind, ...]] = ("microphone", "vad", "wakeword", "stt")
SPEAKING: Final[tuple[EngineKind, ...]] = ("tts", "player")

_DEFAULT_WAKE_WORD: Final = WakeWord("jarvis", "hey jarvis")


class NoEngine(UserError):
    """An engine that is needed to listen or to speak is missing; the text says which, and what to do about it."""


class ChosenEngine(msgspec.Struct, frozen=True):
    """An engine that is to be loaded, and its settings."""

    engine: Engine
    settings: dict[str, Any]


class EngineFactory:
    """Makes the engines that the settings name. A missing one comes back as a `Refusal`, in its place."""

    def __init__(self, settings: Settings, *, installed: bool) -> None:
        self._settings = settings
        self._installed = installed

    def of(self, kind: EngineKind, names: Iterable[str] | None = None) -> Iterator[ChosenEngine | Refusal]:
        """The engines of one kind in the order of [voice], or those of these names."""
        for name in getattr(self._settings.voice, kind) if names is None else names:
            table = dict(self._settings.engine.get(name, {}))
            engine_id = table.pop("engine", name)
            made = self._make(kind, engine_id)
            if isinstance(made, Refusal):
                yield made
                continue
            made.id = name  # type: ignore[misc]  # one class may be here under several names
            yield ChosenEngine(made, table)

    def wake_words(self) -> list[WakeWord]:
        return [
            WakeWord(name, one.phrase, one.model or "", one.lang, one.persona, one.threshold)
            for name, one in self._settings.wake.items()
        ] or [_DEFAULT_WAKE_WORD]

    def _make(self, kind: EngineKind, engine_id: str) -> Engine | Refusal:
        from hark.builtin.engines import ENGINES  # here, so that text alone does not pay for it

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
                return made if isinstance(made, Engine | Refusal) else _unknown(kind, engine_id)
        if self._installed:
            from hark.bridges.opm.engines import engine  # only for names that Hark does not know

            bridged = engine(kind, engine_id)
            if bridged is not None:
                return bridged
        known = ", ".join(sorted(one for of, one in ENGINES if of == kind))
        return _unknown(kind, engine_id, f"[voice] {kind} can name: {known}; others can be installed")


def _unknown(kind: EngineKind, engine_id: str, remedy: str = "") -> Refusal:
    return Refusal(f"{kind} engine", engine_id, f"there is no {kind} engine {engine_id!r}", remedy)


class VoiceConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Which engines an assistant uses, and how. Without one, an assistant deals in text."""

    factory: EngineFactory
    hears: bool = True
    speaks: bool = True
    instead: Mapping[EngineKind, Sequence[ChosenEngine]] = {}
    """Engines in place of those the settings name, such as a file for the microphone."""
    hearing: hear.HearOptions | None = None
    """How to listen, in place of what the settings say."""
    earcons: bool = True
    """Whether earcons may be played, where the settings want them."""
    report: Callable[[str], None] = lambda _line: None
    """Called with what takes long."""
    on_level: Callable[[Level], None] | None = None
    """Called with the level of each block from the microphone."""

    def engines(self, kind: EngineKind) -> Iterable[ChosenEngine | Refusal]:
        """The engines of one kind, in order of preference."""
        return self.instead[kind] if kind in self.instead else self.factory.of(kind)

    def hear_options(self, settings: Settings) -> hear.HearOptions:
        if self.hearing is not None:
            return self.hearing
        voice = settings.voice
        return hear.HearOptions(
            lang=settings.understanding().lang,
            wake_words=tuple(self.factory.wake_words()),
            opens_by="speech" if voice.always_listening else "wake word",
            silence=voice.silence,
            no_speech=voice.no_speech,
            longest=voice.longest,
            barge_in=voice.barge_in,
            half_duplex=voice.half_duplex,
            wake_by_voice=voice.wake_by_voice,
        )

    def listening(self, usual: hear.HearOptions, **changes: Any) -> VoiceConfig:
        """The same, with other options for listening."""
        return msgspec.structs.replace(self, hearing=msgspec.structs.replace(usual, **changes))

    def speak_options(self, settings: Settings) -> SpeakOptions:
        voice = settings.voice
        return SpeakOptions(
            lang=settings.understanding().lang,
            ahead=2 if voice.sentence_by_sentence else 0,
            earcons=self.earcons and voice.earcons,
            sound_folders=tuple(Path(name).expanduser() for name in voice.sound_folders),
        )


class EngineSet:
    """The engines of one service, from loading to unloading."""

    def __init__(self, kinds: Collection[EngineKind], config: VoiceConfig, runner: Runner) -> None:
        self._config = config
        self.by_kind: dict[EngineKind, Engines[Any]] = {kind: Engines(kind, runner) for kind in kinds}

    async def load(
        self, bus: Bus, runner: Runner, data_root: Path | None, langs: Collection[str], not_needed: Collection[str] = ()
    ) -> None:
        """Load all engines. Raises `NoEngine` when none works of a kind that is needed."""
        for kind, engines in self.by_kind.items():
            for one in self._config.engines(kind):
                if isinstance(one, Refusal):
                    engines.registry.refuse(one)
                    continue
                self._config.report(f"loading {kind} {one.engine.id}")
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
        for engines in self.by_kind.values():
            await engines.close()


def _missing(kind: EngineKind, refusals: Iterable[Refusal]) -> Iterable[str]:
    yield f"no {kind} engine works here"
    for refusal in refusals:
        yield f"  {refusal.name}: {refusal.reason}" + (f"; remedy: {refusal.remedy}" if refusal.remedy else "")
    if any(refusal.reason.endswith(" is not installed") for refusal in refusals):
        yield f"  what all engines of the default need: {hints.install_extra('voice')}"
    if kind in ("microphone", "player"):
        listen = hints.hark("listen question.wav")
        yield f"  without a sound card, answer a recording: make listen FILE=question.wav, or {listen}"
