"""The room that takes utterances in and decides who answers."""

from __future__ import annotations

from hark.app.services.service import RuntimeContext
from hark.app.settings import Settings
from hark.understand import Orchestrator, TurnSource


class Understand:
    """Owns the default session and every turn from its utterance to its end marker. See `Service`."""

    def __init__(self, ground: RuntimeContext, source: TurnSource, group: str | None = None) -> None:
        self._source = source
        self.orchestrator = Orchestrator(
            ground.bus,
            ground.runner,
            ground.chains,
            ground.residents.pipeline,
            ground.settings.understanding(),
            source,
            ground.traces,
            ground.passage,
            group,
        )

    async def start(self) -> None:
        """As promised by `Service`."""
        await self._source.start()

    async def finish(self) -> None:
        """As promised by `Service`."""
        await self.orchestrator.close()

    async def stop(self) -> None:
        """As promised by `Service`."""

    def adopt(self, settings: Settings) -> None:
        """As promised by `Service`."""
        self.orchestrator.adopt(settings.understanding())
