"""What a child process and whoever looks after it know of each other: that the other is there."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from hark.model import Clock

BEAT: Final = 0.5
"""Seconds between two signs that the event loop of a child goes round."""


class ParentWatch:
    """In a child: calls `loose` when whoever holds the other end is gone, and shows that the event loop goes round.

    Two pipes, so that it works whatever either process is busy with. A child that cannot be ended in good order
    within `grace` seconds ends without; a thread sees to that, for the event loop may be what hangs.
    """

    def __init__(self, descriptors: str, clock: Clock, loose: Callable[[], None], grace: float) -> None:
        end, pulse = (int(number) for number in descriptors.split(","))
        self._end = end
        self._pulse = pulse
        self._clock = clock
        self._loose = loose
        self._grace = grace
        self._loop = asyncio.get_running_loop()
        os.set_blocking(pulse, False)
        threading.Thread(target=self._watch, name="hark-leash", daemon=True).start()
        self._beat()

    def _beat(self) -> None:
        with suppress(OSError):  # nobody reads it: it is for them to notice, and for `_watch`
            os.write(self._pulse, b".")
        self._clock.after(BEAT, self._beat)

    def _watch(self) -> None:
        with suppress(OSError):
            os.read(self._end, 1)  # returns when the other end is closed, by hand or by death
        with suppress(RuntimeError):  # the loop is closed: the process is about to end
            self._loop.call_soon_threadsafe(self._loose)
        threading.Event().wait(self._grace)
        os._exit(1)
