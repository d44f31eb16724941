"""Noticing that the event loop stands still, and saying whose fault it is."""

from __future__ import annotations

import asyncio
import logging
import selectors
import sys
import threading
import traceback
from typing import Final

from hark.hosting.runner import Runner

log = logging.getLogger("hark.watchdog")

STALLED: Final = 1.0
"""Seconds without a sign of life from the loop before somebody is named."""


class Watchdog:
    """A thread that looks at the event loop from outside.

    Python can neither kill a thread nor interrupt code that blocks the loop. What can be done is done: the plugin
    is named with its stack, in the log and in the trace of its turn.
    """

    def __init__(self, runner: Runner, stalled: float = STALLED) -> None:
        self._runner = runner
        self._stalled = stalled
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._end = threading.Event()
        self._beat = runner.clock.monotonic()
        self._asked = False
        self._reported = False
        self.stalls = 0
        """How often the loop stood still."""

    def start(self) -> None:
        """Begin to watch."""
        threading.Thread(target=self._watch, name="hark-watchdog", daemon=True).start()

    def stop(self) -> None:
        """Watch no longer."""
        self._end.set()

    def look(self) -> str | None:
        """Look once; when the loop has stood still too long, the culprit and its stack, once for each stall."""
        now = self._runner.clock.monotonic()
        if not self._asked:
            self._asked = True
            self._loop.call_soon_threadsafe(self._alive)
            return None
        if now - self._beat < self._stalled or self._reported:
            return None
        if self._is_waiting():
            # Not its own fault: another thread, loading a model say, keeps Python to itself, or the machine is busy.
            log.debug("the event loop has not been given any time for %.1f s", now - self._beat)
            return None
        self._reported = True
        self.stalls += 1
        return self._report(now - self._beat)

    def _alive(self) -> None:
        self._beat = self._runner.clock.monotonic()
        self._asked = False
        self._reported = False

    def _is_waiting(self) -> bool:
        """Whether the loop has nothing to do but to wait for something to happen."""
        frame = sys._current_frames().get(self._loop_thread)
        return frame is not None and frame.f_code.co_filename == selectors.__file__

    def _report(self, seconds: float) -> str:
        frame = sys._current_frames().get(self._loop_thread)
        stack = "".join(traceback.format_stack(frame)[-6:]) if frame is not None else ""
        entry = self._runner.inline_now
        if entry is not None:
            culprit = entry.id
            entry.stall = f"\nit blocked the event loop here:\n{stack}"
        else:
            task = asyncio.current_task(self._loop)
            culprit = task.get_name() if task is not None else "something outside any task"
        report = f"the event loop was blocked for {seconds:.1f} s in {culprit}\n{stack}"
        log.error("%s", report)
        return report

    def _watch(self) -> None:
        while not self._end.wait(self._stalled / 4):
            try:
                self.look()
            except RuntimeError:
                return  # the loop is closed
