"""The speak service: from responses to what the user hears or reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hark.app.services.service import RuntimeContext
from hark.app.settings import Settings
from hark.hosting import Refusal
from hark.model import Session
from hark.model.session_merge import Denials
from hark.speak import Render, Speaker

if TYPE_CHECKING:
    from hark.app.voice.engines import EngineSet, VoiceConfig
    from hark.speak.synthesis import AudioOutput


class Speak:
    """Takes responses through their chains and renders them.

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
            # Here, so that text alone does not pay for it.
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
        """The engines that are not available, and why."""
        return [] if self.engines is None else self.engines.refusals

    async def start(self) -> None:
        if self.engines is not None:
            context = self._context
            await self.engines.load(context.bus, context.runner, context.data_root, self._options.langs)

    async def finish(self) -> None:
        pass

    async def stop(self) -> None:
        await self.speaker.close()
        if self.engines is not None:
            await self.engines.close()

    def adopt(self, settings: Settings) -> None:
        self._options = settings.understanding()

    def _denials_for(self, session: Session) -> Denials:
        return self._options.denials_for(session)
