"""Daemon threads for plugin code that may block. Not an executor: that would wait for them at exit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final

_MAX_THREADS: Final = 256
_SPARE: Final = 8
"""Threads that wait for work; further ones end, for each keeps memory that it once used."""


class Job:
    """Work for one thread, which may call several plugins in turn.

    The event loop may abandon it at any moment. From then on none of its results count, so the work accepts them
    inside `keep`, which refuses once the job is abandoned.
    """

    __slots__ = (
        "_began",
        "_calls",
        "_finished",
        "_lock",
        "_plugin",
        "abandoned",
        "detached",
        "done",
        "unlimited",
        "work",
    )

    def __init__(self, work: Callable[[Job], Any], done: asyncio.Future[Any], unlimited: bool = False) -> None:
        self.work = work
        self.done = done
        self.unlimited = unlimited
        """Whether it has no time limit; its thread is then detached from the pool."""
        self.detached = False
        self.abandoned = False
        self._plugin: Any = None
        self._began = 0.0
        self._calls = 0
        self._lock = threading.Lock()
        self._finished = False

    def enter(self, plugin: Any, now: float) -> None:
        """Record that `plugin` is about to be called."""
        with self._lock:
            self._plugin, self._began = plugin, now
            self._calls += 1

    def current(self) -> tuple[Any, float, int]:
        """The plugin that is being called, since when, and the number of the call; None between calls."""
        with self._lock:
            return self._plugin, self._began, self._calls

    def keep(self, accept: Callable[[], None]) -> bool:
        """The plugin returned: call `accept` unless the job was abandoned; true when it was called."""
        with self._lock:
            if self.abandoned:
                return False
            self._plugin = None
            accept()
            return True

    def abandon(self, call: int | None = None) -> bool:
        """Abandon the job; false when its work, or the call with this number, is over already."""
        with self._lock:
            over = call is not None and (self._plugin is None or self._calls != call)
            if self._finished or self.abandoned or over:
                return False
            self.abandoned = True
            return True

    def finish(self) -> bool:
        """Record that the work is finished; false when the job was abandoned meanwhile."""
        with self._lock:
            self._finished = True
            return not self.abandoned


class WorkerThreads:
    """A pool that grows with the queue, and replaces threads that are lost to code that never returns.

    Threads that are not needed any more end, but for a few. A thread that takes a job without a time limit is
    detached: it does not count against the most threads there may be, so that however many such jobs block, there are
    threads for the others.
    """

    def __init__(self, max_threads: int = _MAX_THREADS) -> None:
        self._max = max_threads
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0
        self._waiting = 0
        self._detached = 0
        self._closed = False
        self.submitted = 0
        """How many jobs there have been."""

    @property
    def count(self) -> int:
        """How many threads are in service; abandoned and detached ones do not count."""
        return self._threads

    @property
    def busy(self) -> int:
        """How many jobs are running or waiting; abandoned ones do not count."""
        with self._lock:
            return self._threads - self._idle + self._waiting + self._detached

    def submit(self, work: Callable[[Job], Any], unlimited: bool = False) -> Job:
        """Run `work` on a thread; `job.done` gets its result or exception, on the calling event loop."""
        job = Job(work, asyncio.get_running_loop().create_future(), unlimited)
        with self._lock:
            self._waiting += 1
            self.submitted += 1
        self._queue.put(job)
        self._grow()
        return job

    def abandoned(self, job: Job) -> None:
        """Write off the thread of an abandoned job; another is started when needed."""
        with self._lock:
            if job.detached:
                self._detached -= 1
            else:
                self._threads -= 1
        self._grow()

    def close(self) -> None:
        """End every idle thread; busy ones end with their work or with the process."""
        with self._lock:
            self._closed = True
            threads = self._threads
        for _ in range(threads):
            self._queue.put(None)

    def _grow(self) -> None:
        """Start one more thread, if a job waits that no idle thread will take and the limit allows it."""
        with self._lock:
            if self._waiting <= self._idle or self._threads >= self._max:
                return
            self._threads += 1
        threading.Thread(target=self._serve, name="hark-worker", daemon=True).start()

    def _serve(self) -> None:
        while True:
            with self._lock:
                if self._idle >= _SPARE + self._waiting:
                    self._threads -= 1
                    return
                self._idle += 1
            job = self._queue.get()
            with self._lock:
                self._idle -= 1
                if job is not None:
                    self._waiting -= 1
            if job is None:
                break
            if not job.abandoned:
                self._detach_for(job)
                self._do(job)
            if job.abandoned or not self._reattached(job):
                return  # this thread does not count any more
            del job  # else it would keep its plugin alive until the next job
        with self._lock:
            self._threads -= 1

    def _detach_for(self, job: Job) -> None:
        if not job.unlimited:
            return
        with self._lock:
            # A job that was abandoned at this moment has been written off as an ordinary one.
            job.detached = not job.abandoned
            if job.detached:
                self._threads -= 1
                self._detached += 1
        self._grow()

    def _reattached(self, job: Job) -> bool:
        """Return a detached thread to the pool; false when the pool is closed."""
        if job.detached:
            with self._lock:
                self._detached -= 1
                if self._closed:
                    return False
                self._threads += 1
        return True

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
        return  # the loop is closed
