"""The service that speaks answers."""

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
    from hark.app.voice.aloud import Aloud, Instruments
    from hark.speak.voice import AudioOutput


class Speak:
    """Takes responses through their chains and renders them. See `Service`.

    Where there is a loudspeaker, what is said in the device's own session is heard; other sessions are elsewhere.
    """

    def __init__(
        self, context: RuntimeContext, render: Render, serves: Callable[[str], bool], aloud: Aloud | None = None
    ) -> None:
        self._context = context
        self._options = context.settings.understanding()
        self.instruments: Instruments | None = None
        output: AudioOutput | None = None
        if aloud is not None and aloud.speaks:
            # Only here: an assistant that deals in text does not import engines.
            from hark.app.voice.aloud import SPEAKING, Instruments
            from hark.speak.voice import AudioOutput

            self.instruments = Instruments(SPEAKING, aloud, context.runner)
            output = AudioOutput(
                context.runner,
                context.chains["tts"],
                self.instruments.by_kind["tts"],
                self.instruments.by_kind["player"],
                aloud.speak_options(context.settings),
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
        return [] if self.instruments is None else self.instruments.refusals

    async def start(self) -> None:
        if self.instruments is not None:
            context = self._context
            await self.instruments.tune(context.bus, context.runner, context.data_root, self._options.langs)

    async def finish(self) -> None:
        """There is nothing to do."""

    async def stop(self) -> None:
        await self.speaker.close()
        if self.instruments is not None:
            await self.instruments.close()

    def adopt(self, settings: Settings) -> None:
        self._options = settings.understanding()

    def _denials_for(self, session: Session) -> Denials:
        return self._options.denials_for(session)
