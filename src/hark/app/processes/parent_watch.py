"""How a managed process and its supervisor know that the other is alive."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from hark.model import Clock

BEAT: Final = 0.5
"""Seconds between two pulses."""
STARTING: Final = b"s"
RUNNING: Final = b"r"


class ParentWatch:
    """In a managed process: calls `parent_ended` when the supervisor is gone, and sends it pulses from the event loop.

    Two pipes, so that it works whatever either process is busy with. A process that has not ended `grace` seconds after
    its supervisor ends at once; a thread sees to that, for the event loop may be what hangs.
    """

    def __init__(self, descriptors: str, clock: Clock, parent_ended: Callable[[], None], grace: float) -> None:
        self._lifeline, self._pulses = (int(number) for number in descriptors.split(","))
        self._clock = clock
        self._parent_ended = parent_ended
        self._grace = grace
        self._pulse = STARTING
        self._loop = asyncio.get_running_loop()
        os.set_blocking(self._pulses, False)
        threading.Thread(target=self._watch, name="hark-parent-watch", daemon=True).start()
        self._beat()

    def running(self) -> None:
        """From now on the event loop has no reason to block: the plugins are imported and started."""
        self._pulse = RUNNING
        self._send()

    def _beat(self) -> None:
        self._send()
        self._clock.after(BEAT, self._beat)

    def _send(self) -> None:
        with suppress(OSError):  # the supervisor is gone, which `_watch` notices, or was stopped and reads later
            os.write(self._pulses, self._pulse)

    def _watch(self) -> None:
        with suppress(OSError):
            os.read(self._lifeline, 1)  # returns when the supervisor closes its end, or dies
        with suppress(RuntimeError):  # the loop is closed: this process is about to end
            self._loop.call_soon_threadsafe(self._parent_ended)
        threading.Event().wait(self._grace)
        os._exit(1)
