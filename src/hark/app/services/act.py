"""The room in which skills live."""

from __future__ import annotations

from hark.app.services.service import RuntimeContext
from hark.app.settings import Settings


class Act:
    """Runs the handlers of skills. See `Service` for what it promises."""

    def __init__(self, ground: RuntimeContext, *, waits: bool) -> None:
        self._handlers = ground.handlers
        self._grace = ground.settings.limits.grace
        self._waits = waits
        """Whether handlers are given time at the end; where turns are seen through next door, they have had it."""

    async def start(self) -> None:
        """As promised by `Service`."""

    async def finish(self) -> None:
        """As promised by `Service`."""
        if self._waits:
            await self._handlers.idle(self._grace)

    async def stop(self) -> None:
        """As promised by `Service`."""

    def adopt(self, settings: Settings) -> None:
        """As promised by `Service`."""
        self._grace = settings.limits.grace
