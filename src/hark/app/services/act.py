"""The service that hosts skills."""

from __future__ import annotations

from hark.app.services.service import RuntimeContext
from hark.app.settings import Settings


class Act:
    """Runs the handlers of skills. See `Service`."""

    def __init__(self, context: RuntimeContext, *, waits: bool) -> None:
        self._handlers = context.handlers
        self._grace = context.settings.limits.grace
        self._waits = waits
        """Whether handlers are given time at the end; where `understand` is in the same process, they have had it."""

    async def start(self) -> None:
        """There is nothing to do."""

    async def finish(self) -> None:
        if self._waits:
            await self._handlers.idle(self._grace)

    async def stop(self) -> None:
        """There is nothing to do."""

    def adopt(self, settings: Settings) -> None:
        self._grace = settings.limits.grace
