"""A watchdog that notices a blocked event loop and names the plugin that blocks it."""

from __future__ import annotations

import asyncio
import logging
import selectors
import sys
import threading
import traceback
from typing import Final

from hark.hosting.heap import HeapTrimmer, SettledObjects
from hark.hosting.runner import Runner

log = logging.getLogger("hark.watchdog")

STALLED: Final = 1.0
"""Seconds without a callback on the event loop after which it counts as blocked."""


class Watchdog:
    """A thread that checks whether the event loop still runs callbacks, and gives back memory that is free.

    Python can neither kill a thread nor interrupt code that blocks the loop, so the watchdog names the plugin with its
    stack, in the log and in the trace of its turn.
    """

    def __init__(self, runner: Runner, stalled: float = STALLED) -> None:
        self._runner = runner
        self._stalled = stalled
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._end = threading.Event()
        self._heap = HeapTrimmer()
        self._settled = SettledObjects()
        self._last_callback = runner.clock.monotonic()
        self._pending = False
        self._reported = False
        self.stalls = 0
        """How often the event loop was blocked."""

    def start(self) -> None:
        self._settled.start()
        threading.Thread(target=self._watch, name="hark-watchdog", daemon=True).start()

    def stop(self) -> None:
        self._end.set()
        self._settled.stop()

    def check(self) -> str | None:
        """Check once; when the loop is blocked, the report that was logged, once for each stall."""
        now = self._runner.clock.monotonic()
        if not self._pending:
            self._pending = True
            self._loop.call_soon_threadsafe(self._alive)
            return None
        if now - self._last_callback < self._stalled or self._reported:
            return None
        if self._is_waiting():
            # Another thread holds the interpreter lock, loading a model say, or the machine is busy.
            log.debug("the event loop has not been scheduled for %.1f s", now - self._last_callback)
            return None
        self._reported = True
        self.stalls += 1
        return self._report(now - self._last_callback)

    def _alive(self) -> None:
        self._last_callback = self._runner.clock.monotonic()
        self._pending = False
        self._reported = False

    def _is_waiting(self) -> bool:
        """Whether the loop is waiting for events."""
        frame = sys._current_frames().get(self._loop_thread)
        return frame is not None and frame.f_code.co_filename == selectors.__file__

    def _report(self, seconds: float) -> str:
        frame = sys._current_frames().get(self._loop_thread)
        stack = "".join(traceback.format_stack(frame)[-6:]) if frame is not None else ""
        entry = self._runner.inline_now
        level = logging.ERROR
        if entry is not None:
            culprit = entry.id
            entry.stall = f"\nit blocked the event loop here:\n{stack}"
        else:
            task = asyncio.current_task(self._loop)
            culprit = task.get_name() if task is not None else "code outside any task"
            if culprit.startswith("Task-"):
                level = logging.INFO  # not work for a plugin: the main task, which starts Hark on a busy machine
        remedy = "" if entry is not None else "; what is async def has to await, what is def may block"
        report = f"the event loop was blocked for {seconds:.1f} s in {culprit}{remedy}\n{stack}"
        log.log(level, "%s", report)
        return report

    def _watch(self) -> None:
        while not self._end.wait(self._stalled / 4):
            try:
                self.check()
            except RuntimeError:
                return  # the loop is closed
            now = self._runner.clock.monotonic()
            self._heap.check(now)
            self._settled.check(now)
