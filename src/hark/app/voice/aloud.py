"""What lets a house hear and speak aloud."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from hark import hear
from hark.app.settings import Settings
from hark.app.trouble import Trouble
from hark.app.voice.choosing import Choice, Chosen
from hark.bus import Bus
from hark.hosting import Engines, PluginHost, Refusal, Runner
from hark.model.audio import Level
from hark.plugins.engines import EngineKind
from hark.speak.options import SpeakOptions

HEARING: Final[tuple[EngineKind, ...]] = ("microphone", "vad", "wakeword", "stt")
SPEAKING: Final[tuple[EngineKind, ...]] = ("tts", "player")


class Mute(Trouble):
    """An assistant that is to hear or speak cannot; the text says what is missing and what to do about it."""


class Aloud(msgspec.Struct, frozen=True, kw_only=True):
    """The engines a house is to use, and how; rooms that have none of it deal in text."""

    choice: Choice
    hears: bool = True
    speaks: bool = True
    instead: Mapping[EngineKind, Sequence[Chosen]] = {}
    """Engines in place of those the settings name: a file for the microphone, say."""
    hearing: hear.Options | None = None
    """How to listen, where it is not as the settings have it."""
    earcons: bool = True
    """Whether short sounds may be heard, where the settings want them."""
    tell: Callable[[str], None] = lambda _line: None
    """Is told what takes its time."""
    on_level: Callable[[Level], None] | None = None
    """Is shown how loud it is."""

    def wanted(self, kind: EngineKind) -> Iterable[Chosen | Refusal]:
        """The engines of one kind, in order of preference."""
        return self.instead[kind] if kind in self.instead else self.choice.of(kind)

    def hear_options(self, settings: Settings) -> hear.Options:
        """How to listen."""
        if self.hearing is not None:
            return self.hearing
        voice = settings.voice
        return hear.Options(
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

    def listening(self, usual: hear.Options, **changes: Any) -> Aloud:
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


class Instruments:
    """The engines of one room, from their loading to their end."""

    def __init__(self, kinds: Collection[EngineKind], aloud: Aloud, runner: Runner) -> None:
        self._aloud = aloud
        self.by_kind: dict[EngineKind, Engines[Any]] = {kind: Engines(kind, runner) for kind in kinds}

    async def tune(
        self, bus: Bus, runner: Runner, data_root: Path | None, langs: Collection[str], not_needed: Collection[str] = ()
    ) -> None:
        """Load them all; raises `Mute` when there is nobody left of a kind that is needed."""
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
                raise Mute("\n".join(_missing(kind, engines.registry.refusals)))

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
