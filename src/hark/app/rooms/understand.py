"""The room that takes utterances in and decides who answers."""

from __future__ import annotations

from hark.app.rooms.room import Ground
from hark.app.settings import Settings
from hark.understand import Orchestrator, TurnSource


class Understand:
    """Owns the default session and every turn from its utterance to its end marker. See `Room` for what it promises."""

    def __init__(self, ground: Ground, source: TurnSource, group: str | None = None) -> None:
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
        """As promised by `Room`."""
        await self._source.start()

    async def finish(self) -> None:
        """As promised by `Room`."""
        await self.orchestrator.close()

    async def stop(self) -> None:
        """As promised by `Room`."""

    def adopt(self, settings: Settings) -> None:
        """As promised by `Room`."""
        self.orchestrator.adopt(settings.understanding())
