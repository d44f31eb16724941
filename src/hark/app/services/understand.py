"""The service that takes utterances in and decides which handler answers."""

from __future__ import annotations

from hark.app.services.service import RuntimeContext
from hark.app.settings import Settings
from hark.understand import Orchestrator, TurnSource


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
