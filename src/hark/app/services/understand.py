"""The room that takes utterances in and decides who answers."""

from __future__ import annotations

from hark.app.services.service import RuntimeContext
from hark.app.settings import Settings
from hark.understand import DefaultSession, Orchestrator, TurnSource


class Understand:
    """Owns the default session and every turn from its utterance to its end marker. See `Service`."""

    def __init__(self, ground: RuntimeContext, store: DefaultSession, source: TurnSource) -> None:
        self.store = store
        self.orchestrator = Orchestrator(
            ground.bus,
            ground.runner,
            ground.chains,
            ground.residents.pipeline,
            ground.settings.understanding(),
            store,
            ground.traces,
            ground.passage,
            source,
        )

    async def start(self) -> None:
        """As promised by `Service`."""

    async def finish(self) -> None:
        """As promised by `Service`."""
        await self.orchestrator.close()

    async def stop(self) -> None:
        """As promised by `Service`."""

    def adopt(self, settings: Settings) -> None:
        """As promised by `Service`."""
        self.orchestrator.adopt(settings.understanding())
