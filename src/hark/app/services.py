"""The services of an assistant, as one process runs them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from hark.act import HandlerHost
from hark.app.plugin_set import PluginSet
from hark.app.settings import Settings
from hark.bus import Bus
from hark.chains import Chain
from hark.hosting import Gate, Refusal, Runner
from hark.model import Clock, Session
from hark.model.session_merge import Denials
from hark.schedule import ScheduleOptions, Scheduler, ScheduleStore
from hark.speak import Render, Speaker, SpokenResponse
from hark.spec import DEFAULT_SESSION_ID, TransformerType
from hark.trace import TraceStore
from hark.understand import Orchestrator, TurnSource

if TYPE_CHECKING:
    from hark.app.voice.engines import EngineSet, VoiceConfig
    from hark.hear import Listener
    from hark.speak.synthesis import AudioOutput


def discard(_spoken: SpokenResponse) -> None:
    """Show a response to no one."""


def serves_all(_session_id: str) -> bool:
    return True


class RuntimeContext(msgspec.Struct, frozen=True):
    """What the services of one process share."""

    settings: Settings
    """As they were at the start; `adopt` brings later ones."""
    bus: Bus
    clock: Clock
    runner: Runner
    traces: TraceStore
    handlers: HandlerHost
    plugin_set: PluginSet
    chains: Mapping[TransformerType, Chain]
    """The chains whose transformers run in one of the services."""
    gate: Gate
    """Turns and responses pass it while they use plugins."""
    data_root: Path | None = None
    """Where plugins keep their data."""


class Service(Protocol):
    """A part of an assistant that meets the others on the bus only."""

    async def start(self) -> None:
        """Begin; the plugins have started."""

    async def finish(self) -> None:
        """Take nothing more on and see what is under way to its end; the plugins still serve."""

    async def stop(self) -> None:
        """Leave nothing behind; the plugins have stopped."""

    def adopt(self, settings: Settings) -> None:
        """Go by other settings from now on."""


class Hear:
    """Has the audio transformers, and listens where there is a microphone. See `Service`."""

    def __init__(self, context: RuntimeContext, voice: VoiceConfig | None = None) -> None:
        self.chain = context.chains["audio"]
        self.listener: Listener | None = None
        self.engines: EngineSet | None = None
        self._context = context
        self._options = context.settings.understanding()
        if voice is not None and voice.hears:
            # Only here: an assistant that deals in text does not import engines.
            from hark.app.voice.engines import HEARING, EngineSet
            from hark.hear import Listener

            self.engines = EngineSet(HEARING, voice, context.runner)
            options = voice.hear_options(context.settings)
            self._not_needed = () if options.opens_by == "wake word" else ("wakeword",)
            self.listener = Listener(
                context.bus,
                context.runner,
                self.chain,
                context.traces,
                self.engines.by_kind,
                options,
                lambda session_id: session_id == DEFAULT_SESSION_ID,
                self._denials_for,
                context.gate,
                voice.on_level,
                context.plugin_set.taps,
            )

    @property
    def refusals(self) -> list[Refusal]:
        """The engines and wake words that are not there, and why."""
        if self.listener is None or self.engines is None:
            return []
        return [*self.engines.refusals, *self.listener.refusals]

    async def start(self) -> None:
        if self.listener is not None and self.engines is not None:
            context, langs = self._context, self._options.langs
            await self.engines.load(context.bus, context.runner, context.data_root, langs, self._not_needed)
            await self.listener.start()

    async def finish(self) -> None:
        if self.listener is not None:
            await self.listener.close()

    async def stop(self) -> None:
        if self.engines is not None:
            await self.engines.close()

    def adopt(self, settings: Settings) -> None:
        self._options = settings.understanding()

    def _denials_for(self, session: Session) -> Denials:
        return self._options.denials_for(session)


class Understand:
    """Owns the default session and every turn from its utterance to its end marker. See `Service`."""

    def __init__(self, context: RuntimeContext, source: TurnSource, group: str | None = None) -> None:
        self._source = source
        self.orchestrator = Orchestrator(
            context.bus,
            context.runner,
            context.chains,
            context.plugin_set.pipeline,
            context.settings.understanding(),
            source,
            context.traces,
            context.gate,
            group,
        )

    async def start(self) -> None:
        await self._source.start()

    async def finish(self) -> None:
        await self.orchestrator.close()

    async def stop(self) -> None:
        """There is nothing to do."""

    def adopt(self, settings: Settings) -> None:
        self.orchestrator.adopt(settings.understanding())


class Act:
    """Runs the handlers of skills. See `Service`."""

    def __init__(self, context: RuntimeContext, *, waits: bool) -> None:
        self._handlers = context.handlers
        self._grace = context.settings.limits.grace
        self._waits = waits
        """Whether handlers are given time at the end; where `understand` is in the same process, they have had it."""

    async def start(self) -> None:
        """There is nothing to do."""

    async def finish(self) -> None:
        if self._waits:
            await self._handlers.idle(self._grace)

    async def stop(self) -> None:
        """There is nothing to do."""

    def adopt(self, settings: Settings) -> None:
        self._grace = settings.limits.grace


class Speak:
    """Takes responses through their chains and renders them. See `Service`.

    Where there is a loudspeaker, responses in the device's own session are heard; other sessions are elsewhere.
    """

    def __init__(
        self, context: RuntimeContext, render: Render, serves: Callable[[str], bool], voice: VoiceConfig | None = None
    ) -> None:
        self._context = context
        self._options = context.settings.understanding()
        self.engines: EngineSet | None = None
        output: AudioOutput | None = None
        if voice is not None and voice.speaks:
            # Only here: an assistant that deals in text does not import engines.
            from hark.app.voice.engines import SPEAKING, EngineSet
            from hark.speak.synthesis import AudioOutput

            self.engines = EngineSet(SPEAKING, voice, context.runner)
            output = AudioOutput(
                context.runner,
                context.chains["tts"],
                self.engines.by_kind["tts"],
                self.engines.by_kind["player"],
                voice.speak_options(context.settings),
            )
        self.speaker = Speaker(
            context.bus,
            context.clock,
            context.chains["dialog"],
            context.traces,
            render,
            serves,
            self._denials_for,
            context.gate,
            output,
        )

    @property
    def refusals(self) -> list[Refusal]:
        """The engines that are not there, and why."""
        return [] if self.engines is None else self.engines.refusals

    async def start(self) -> None:
        if self.engines is not None:
            context = self._context
            await self.engines.load(context.bus, context.runner, context.data_root, self._options.langs)

    async def finish(self) -> None:
        """There is nothing to do."""

    async def stop(self) -> None:
        await self.speaker.close()
        if self.engines is not None:
            await self.engines.close()

    def adopt(self, settings: Settings) -> None:
        self._options = settings.understanding()

    def _denials_for(self, session: Session) -> Denials:
        return self._options.denials_for(session)


class ScheduleService:
    """Fires the events of schedules. It starts when all else has, so that late ones find their handlers.

    See `Service`.
    """

    def __init__(
        self, context: RuntimeContext, store: ScheduleStore, is_ready: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        table = context.settings.schedule
        options = ScheduleOptions(table.wait_for or "", table.delay, table.grants)
        self.scheduler = Scheduler(context.bus, context.clock, store, options, is_ready=is_ready)

    async def start(self) -> None:
        await self.scheduler.start()

    async def finish(self) -> None:
        await self.scheduler.close()

    async def stop(self) -> None:
        """There is nothing to do."""

    def adopt(self, settings: Settings) -> None:
        """What it waits for is of its start alone."""
