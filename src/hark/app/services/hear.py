"""The room in which sound becomes utterances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hark.app.services.service import RuntimeContext
from hark.app.settings import Settings
from hark.hosting import Refusal
from hark.model import Session
from hark.model.merge import Denials
from hark.spec import DEFAULT_SESSION_ID

if TYPE_CHECKING:
    from hark.app.voice.aloud import Aloud, Instruments
    from hark.hear import Listener


class Hear:
    """Has the audio transformers, and listens where there is a microphone. See `Service` for what it promises."""

    def __init__(self, ground: RuntimeContext, aloud: Aloud | None = None) -> None:
        self.chain = ground.chains["audio"]
        self.listener: Listener | None = None
        self.instruments: Instruments | None = None
        self._ground = ground
        self._options = ground.settings.understanding()
        if aloud is not None and aloud.hears:
            # Only here: who deals in text does not pay for it.
            from hark.app.voice.aloud import HEARING, Instruments
            from hark.hear import Listener

            self.instruments = Instruments(HEARING, aloud, ground.runner)
            engines = self.instruments.by_kind
            options = aloud.hear_options(ground.settings)
            self._not_needed = () if options.opens_by == "wake word" else ("wakeword",)
            self.listener = Listener(
                ground.bus,
                ground.runner,
                self.chain,
                ground.traces,
                engines["microphone"],
                engines["vad"],
                engines["wakeword"],
                engines["stt"],
                options,
                lambda session_id: session_id == DEFAULT_SESSION_ID,
                self._denials_for,
                ground.passage,
                aloud.on_level,
            )

    @property
    def refusals(self) -> list[Refusal]:
        """The engines and wake words that are not there, and why."""
        if self.listener is None or self.instruments is None:
            return []
        return [*self.instruments.refusals, *self.listener.refusals]

    async def start(self) -> None:
        """As promised by `Service`."""
        if self.listener is not None and self.instruments is not None:
            ground, langs = self._ground, self._options.langs
            await self.instruments.tune(ground.bus, ground.runner, ground.data_root, langs, self._not_needed)
            await self.listener.start()

    async def finish(self) -> None:
        """As promised by `Service`."""
        if self.listener is not None:
            await self.listener.close()

    async def stop(self) -> None:
        """As promised by `Service`."""
        if self.instruments is not None:
            await self.instruments.close()

    def adopt(self, settings: Settings) -> None:
        """As promised by `Service`."""
        self._options = settings.understanding()

    def _denials_for(self, session: Session) -> Denials:
        return self._options.denials_for(session)
