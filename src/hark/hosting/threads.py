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

    __slots__ = ("_began", "_busy_with", "_calls", "_finished", "_lock", "abandoned", "done", "lent", "patient", "work")

    def __init__(self, work: Callable[[Job], Any], done: asyncio.Future[Any], patient: bool = False) -> None:
        self.work = work
        self.done = done
        self.patient = patient
        """Whether it may take for ever; its thread then counts as lent."""
        self.lent = False
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


class WorkerThreads:
    """A pool that grows with what is waiting, and replaces threads that are lost to code that never returns.

    Threads that do patient work are lent, beside the number there may be: however many of them block, there are
    threads for work that is to be done in time.
    """

    def __init__(self, max_threads: int = _MAX_THREADS) -> None:
        self._max = max_threads
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0
        self._waiting = 0
        self._lent = 0
        self._closed = False

    @property
    def threads(self) -> int:
        """How many threads are in service, abandoned and lent ones not counted."""
        return self._threads

    @property
    def busy(self) -> int:
        """How many jobs are under way or waiting, abandoned ones not counted."""
        with self._lock:
            return self._threads - self._idle + self._waiting + self._lent

    def submit(self, work: Callable[[Job], Any], patient: bool = False) -> Job:
        """Have `work` done on a thread; `job.done` gets its result or exception, on the calling loop."""
        job = Job(work, asyncio.get_running_loop().create_future(), patient)
        with self._lock:
            self._waiting += 1
        self._queue.put(job)
        self._grow()
        return job

    def abandoned(self, job: Job) -> None:
        """Count out the thread of a job that was given up; another takes its place when needed."""
        with self._lock:
            if job.lent:
                self._lent -= 1
            else:
                self._threads -= 1
        self._grow()

    def close(self) -> None:
        """Let every idle thread end; busy ones end with their work or with the process."""
        with self._lock:
            self._closed = True
            threads = self._threads
        for _ in range(threads):
            self._queue.put(None)

    def _grow(self) -> None:
        """One more thread, if something waits that no idle one will take and there may be more."""
        with self._lock:
            if self._waiting <= self._idle or self._threads >= self._max:
                return
            self._threads += 1
        threading.Thread(target=self._serve, name="hark-worker", daemon=True).start()

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
                self._lend_to(job)
                self._do(job)
            if job.abandoned or not self._returned(job):
                return  # counted out already
            del job  # or the plugin it called would be kept until the next one comes
        with self._lock:
            self._threads -= 1

    def _lend_to(self, job: Job) -> None:
        if not job.patient:
            return
        with self._lock:
            # Given up at this very moment: then it is counted out as any other.
            job.lent = not job.abandoned
            if job.lent:
                self._threads -= 1
                self._lent += 1
        self._grow()

    def _returned(self, job: Job) -> bool:
        """Take a thread back that was lent; false when there is no service to come back to."""
        if job.lent:
            with self._lock:
                self._lent -= 1
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
        return  # the loop is closed: nobody waits any more
