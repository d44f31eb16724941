"""The room in which skills live."""

from __future__ import annotations

from hark.app.services.service import RuntimeContext
from hark.app.settings import Settings
from hark.bus import Subscription
from hark.spec import topics


class Act:
    """Runs the handlers of skills. See `Service` for what it promises."""

    def __init__(self, ground: RuntimeContext, *, waits: bool) -> None:
        self._bus = ground.bus
        self._handlers = ground.handlers
        self._again: Subscription | None = None
        self._grace = ground.settings.limits.grace
        self._waits = waits
        """Whether handlers are given time at the end; where turns are seen through next door, they have had it."""

    async def start(self) -> None:
        """As promised by `Service`."""
        self._handlers.began()
        # Calls may have been lost with the bus as well.
        self._again = self._bus.on(topics.BUS_AGAIN, lambda _message: self._handlers.began(), name="act: again")

    async def finish(self) -> None:
        """As promised by `Service`."""
        if self._waits:
            await self._handlers.idle(self._grace)

    async def stop(self) -> None:
        """As promised by `Service`."""
        if self._again is not None:
            self._again.close()

    def adopt(self, settings: Settings) -> None:
        """As promised by `Service`."""
        self._grace = settings.limits.grace
