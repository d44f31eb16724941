"""The room that takes utterances in and decides who answers."""

from __future__ import annotations

from hark.app.services.service import RuntimeContext
from hark.app.settings import Settings
from hark.understand import DefaultSession, Journal, Orchestrator, Worker


class Understand:
    """Owns the default session and every turn from its utterance to its end marker. See `Service`."""

    def __init__(
        self,
        ground: RuntimeContext,
        store: DefaultSession,
        journal: Journal | None = None,
        worker: Worker | None = None,
    ) -> None:
        self.store = store
        self._worker = worker
        self.orchestrator = Orchestrator(
            ground.bus,
            ground.runner,
            ground.chains,
            ground.residents.pipeline,
            ground.settings.understanding(),
            store,
            ground.traces,
            ground.passage,
            journal,
            worker,
        )

    async def start(self) -> None:
        """As promised by `Service`."""
        if self._worker is not None:
            self._worker.start()

    async def finish(self) -> None:
        """As promised by `Service`."""
        await self.orchestrator.close()

    async def stop(self) -> None:
        """As promised by `Service`."""

    def adopt(self, settings: Settings) -> None:
        """As promised by `Service`."""
        self.orchestrator.adopt(settings.understanding())
