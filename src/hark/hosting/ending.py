"""Ending tasks that run plugin code, also those that do not want to end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, Final

from hark.model import Clock

log = logging.getLogger("hark.hosting")

PATIENCE: Final = 2.0
"""Seconds a task is given to clean up after itself."""


async def end_all(tasks: Iterable[asyncio.Task[Any]], clock: Clock, patience: float = PATIENCE) -> None:
    """Cancel `tasks` and wait for their end, but not for ever: a task can refuse, and nothing can force it."""
    ending = [task for task in tasks if not task.done()]
    for task in ending:
        task.cancel()
    if not ending:
        return
    try:
        async with clock.timeout(patience):
            await asyncio.wait(ending)
    except TimeoutError:
        for task in ending:
            if not task.done():
                log.error("%s would not end and is left behind", task.get_name())
