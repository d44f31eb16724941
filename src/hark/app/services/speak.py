"""The room from which answers are heard."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hark.app.services.service import RuntimeContext
from hark.app.settings import Settings
from hark.hosting import Refusal
from hark.model import Session
from hark.model.merge import Denials
from hark.speak import Render, Speaker

if TYPE_CHECKING:
    from hark.app.voice.aloud import Aloud, Instruments
    from hark.speak.voice import AudioOutput


class Speak:
    """Takes responses through their chains and renders them. See `Service` for what it promises.

    Where there is a loudspeaker, what is said in the device's own session is heard; other sessions are elsewhere.
    """

    def __init__(
        self, ground: RuntimeContext, render: Render, serves: Callable[[str], bool], aloud: Aloud | None = None
    ) -> None:
        self._ground = ground
        self._options = ground.settings.understanding()
        self.instruments: Instruments | None = None
        output: AudioOutput | None = None
        if aloud is not None and aloud.speaks:
            # Only here: who deals in text does not pay for it.
            from hark.app.voice.aloud import SPEAKING, Instruments
            from hark.speak.voice import AudioOutput

            self.instruments = Instruments(SPEAKING, aloud, ground.runner)
            output = AudioOutput(
                ground.runner,
                ground.chains["tts"],
                self.instruments.by_kind["tts"],
                self.instruments.by_kind["player"],
                aloud.speak_options(ground.settings),
            )
        self.speaker = Speaker(
            ground.bus,
            ground.clock,
            ground.chains["dialog"],
            ground.traces,
            render,
            serves,
            self._denials_for,
            ground.passage,
            output,
        )

    @property
    def refusals(self) -> list[Refusal]:
        """The engines that are not there, and why."""
        return [] if self.instruments is None else self.instruments.refusals

    async def start(self) -> None:
        """As promised by `Service`."""
        if self.instruments is not None:
            ground = self._ground
            await self.instruments.tune(ground.bus, ground.runner, ground.data_root, self._options.langs)

    async def finish(self) -> None:
        """As promised by `Service`."""

    async def stop(self) -> None:
        """As promised by `Service`."""
        await self.speaker.close()
        if self.instruments is not None:
            await self.instruments.close()

    def adopt(self, settings: Settings) -> None:
        """As promised by `Service`."""
        self._options = settings.understanding()

    def _denials_for(self, session: Session) -> Denials:
        return self._options.denials_for(session)
