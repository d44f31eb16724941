"""The hear service: from sound to utterances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hark.app.services.service import RuntimeContext
from hark.app.settings import Settings
from hark.hosting import Refusal
from hark.model import Session
from hark.model.session_merge import Denials
from hark.spec import DEFAULT_SESSION_ID

if TYPE_CHECKING:
    from hark.app.voice.engines import EngineSet, VoiceConfig
    from hark.hear import Listener


class Hear:
    """Has the audio transformers, and listens where there is a microphone."""

    def __init__(self, context: RuntimeContext, voice: VoiceConfig | None = None) -> None:
        self.chain = context.chains["audio"]
        self.listener: Listener | None = None
        self.engines: EngineSet | None = None
        self._context = context
        self._options = context.settings.understanding()
        if voice is not None and voice.hears:
            # Here, so that text alone does not pay for it.
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
            )

    @property
    def refusals(self) -> list[Refusal]:
        """The engines and wake words that are not available, and why."""
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
