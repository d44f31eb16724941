"""The service that turns sound into utterances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hark.app.services.service import RuntimeContext
from hark.app.settings import Settings
from hark.hosting import Refusal
from hark.model import Session
from hark.model.session_merge import Denials
from hark.spec import DEFAULT_SESSION_ID

if TYPE_CHECKING:
    from hark.app.voice.aloud import Aloud, Instruments
    from hark.hear import Listener


class Hear:
    """Has the audio transformers, and listens where there is a microphone. See `Service`."""

    def __init__(self, context: RuntimeContext, aloud: Aloud | None = None) -> None:
        self.chain = context.chains["audio"]
        self.listener: Listener | None = None
        self.instruments: Instruments | None = None
        self._context = context
        self._options = context.settings.understanding()
        if aloud is not None and aloud.hears:
            # Only here: an assistant that deals in text does not import engines.
            from hark.app.voice.aloud import HEARING, Instruments
            from hark.hear import Listener

            self.instruments = Instruments(HEARING, aloud, context.runner)
            engines = self.instruments.by_kind
            options = aloud.hear_options(context.settings)
            self._not_needed = () if options.opens_by == "wake word" else ("wakeword",)
            self.listener = Listener(
                context.bus,
                context.runner,
                self.chain,
                context.traces,
                engines["microphone"],
                engines["vad"],
                engines["wakeword"],
                engines["stt"],
                options,
                lambda session_id: session_id == DEFAULT_SESSION_ID,
                self._denials_for,
                context.gate,
                aloud.on_level,
            )

    @property
    def refusals(self) -> list[Refusal]:
        """The engines and wake words that are not there, and why."""
        if self.listener is None or self.instruments is None:
            return []
        return [*self.instruments.refusals, *self.listener.refusals]

    async def start(self) -> None:
        if self.listener is not None and self.instruments is not None:
            context, langs = self._context, self._options.langs
            await self.instruments.tune(context.bus, context.runner, context.data_root, langs, self._not_needed)
            await self.listener.start()

    async def finish(self) -> None:
        if self.listener is not None:
            await self.listener.close()

    async def stop(self) -> None:
        if self.instruments is not None:
            await self.instruments.close()

    def adopt(self, settings: Settings) -> None:
        self._options = settings.understanding()

    def _denials_for(self, session: Session) -> Denials:
        return self._options.denials_for(session)
