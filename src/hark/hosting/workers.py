"""Threads for plugin code that may block. Ours, and daemons: an executor would wait for them at exit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final

_MAX_THREADS: Final = 256


class Job:
    """A piece of work on its way through a worker.

    The loop may give it up at any moment. From then on nothing it does counts: whoever wants to keep a result
    does so inside `keep`, which tells the truth about that.
    """

    __slots__ = ("_began", "_busy_with", "_calls", "_finished", "_lock", "abandoned", "done", "work")

    def __init__(self, work: Callable[[Job], Any], done: asyncio.Future[Any]) -> None:
        self.work = work
        self.done = done
        self.abandoned = False
        self._busy_with: Any = None
        self._began = 0.0
        self._calls = 0
        self._lock = threading.Lock()
        self._finished = False

    def enter(self, plugin: Any, now: float) -> None:
        """Say that `plugin` is about to be called."""
        with self._lock:
            self._busy_with, self._began = plugin, now
            self._calls += 1

    def current(self) -> tuple[Any, float, int]:
        """The plugin that runs now, since when, and which call that is; None between plugins or before the first."""
        with self._lock:
            return self._busy_with, self._began, self._calls

    def keep(self, accept: Callable[[], None]) -> bool:
        """Say that the plugin returned, and call `accept` unless the job was given up; true when it was called."""
        with self._lock:
            if self.abandoned:
                return False
            self._busy_with = None
            accept()
            return True

    def abandon(self, call: int | None = None) -> bool:
        """Give the job up; false when that is too late: its work, or the call that was looked at, is over."""
        with self._lock:
            over = call is not None and (self._busy_with is None or self._calls != call)
            if self._finished or self.abandoned or over:
                return False
            self.abandoned = True
            return True

    def finish(self) -> bool:
        """Say that the work is finished; false when the job was given up meanwhile."""
        with self._lock:
            self._finished = True
            return not self.abandoned


class Workers:
    """A pool that grows with what is waiting, and replaces threads that are lost to code that never returns."""

    def __init__(self, max_threads: int = _MAX_THREADS) -> None:
        self._max = max_threads
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0
        self._waiting = 0

    @property
    def threads(self) -> int:
        """How many threads are in service, abandoned ones not counted."""
        return self._threads

    @property
    def busy(self) -> int:
        """How many jobs are under way or waiting, abandoned ones not counted."""
        with self._lock:
            return self._threads - self._idle + self._waiting

    def submit(self, work: Callable[[Job], Any]) -> Job:
        """Have `work` done on a thread; `job.done` gets its result or exception, on the calling loop."""
        job = Job(work, asyncio.get_running_loop().create_future())
        with self._lock:
            self._waiting += 1
            grow = self._waiting > self._idle and self._threads < self._max
            if grow:
                self._threads += 1
        if grow:
            threading.Thread(target=self._serve, name="hark-worker", daemon=True).start()
        self._queue.put(job)
        return job

    def abandoned(self) -> None:
        """Count out a thread that is lost; another takes its place when needed."""
        with self._lock:
            self._threads -= 1

    def close(self) -> None:
        """Let every idle thread end; busy ones end with their work or with the process."""
        for _ in range(self._threads):
            self._queue.put(None)

    def _serve(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            job = self._queue.get()
            with self._lock:
                self._idle -= 1
                if job is not None:
                    self._waiting -= 1
            if job is None:
                break
            if not job.abandoned:
                self._do(job)
            if job.abandoned:
                return  # counted out when it was given up
        with self._lock:
            self._threads -= 1

    def _do(self, job: Job) -> None:
        result: Any = None
        error: BaseException | None = None
        try:
            result = job.work(job)
        except BaseException as raised:  # also SystemExit: a plugin must not end a worker
            error = raised
        if job.finish():
            _post(job, result, error)


def _post(job: Job, result: Any, error: BaseException | None) -> None:
    def settle() -> None:
        if job.done.done():
            return
        if error is None:
            job.done.set_result(result)
        else:
            job.done.set_exception(error)

    try:
        job.done.get_loop().call_soon_threadsafe(settle)
    except RuntimeError:
        return  # the loop is closed: nobody waits any more
