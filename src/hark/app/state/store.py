"""The state of an assistant: what it keeps in its state directory while it runs."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from hark.app.runtime import Storage
from hark.app.settings import Settings
from hark.app.state.directory import Lock, check_writable, make_directory
from hark.app.state.session_file import SessionFile
from hark.app.state.trace_file import TraceFile
from hark.app.state.turns_file import TurnsFile, settle_session
from hark.model import Clock, Session
from hark.trace import TraceRecord, TurnTrace

log = logging.getLogger("hark.app")

BATCH: Final = 0.25
"""Seconds for which traces are collected; speech that follows the end of a turn still gets into its trace."""
SYNC: Final = 1.0
"""Seconds between two fsyncs of the session file."""
RETRY: Final = 5.0
"""Seconds until a failed write is tried again."""
BACKLOG: Final = 1_000
"""Traces that are kept while writes fail, at most."""
DEFAULTS: Final = Settings()
PATIENCE: Final = 5.0
"""Seconds for which the end of the process waits for the disk."""


class _Deletion:
    """A request to delete traces, and what came of it."""

    def __init__(self, is_meant: Callable[[TraceRecord], bool]) -> None:
        self.is_meant = is_meant
        self.ids: list[str] = []
        self.done = threading.Event()


class Writer:
    """Writes the session file and the trace file on a thread of its own.

    A session is written as soon as the thread is free, so that a killed process loses very little; of several sessions
    that came meanwhile only the last is written.
    """

    def __init__(self, sessions: SessionFile, traces: TraceFile | None, clock: Clock) -> None:
        self._sessions = sessions
        self._file = traces
        self._clock = clock
        self._session: Session | None = None
        self._written: Session | None = None
        self._synced: Session | None = None
        self._synced_at = clock.monotonic() - SYNC
        self._traces: deque[TurnTrace] = deque(maxlen=BACKLOG)
        self._traces_due: float | None = None
        self._refused = ""
        self._not_before = clock.monotonic()
        self._wakeups: SimpleQueue[None] = SimpleQueue()
        self._is_woken = False
        self._closing = False
        self._deletions: SimpleQueue[_Deletion] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="hark-writer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def session(self, session: Session) -> None:
        """Have the default session written, as it is after an end marker."""
        self._session = session
        self._wake()

    def trace(self, trace: TurnTrace) -> None:
        """Have the trace of an ended turn written."""
        if self._file is not None:
            self._traces.append(trace)
            if len(self._traces) == 1:  # else the thread has been woken for this batch already
                self._wake()

    def close(self) -> None:
        """Write and fsync what is left, unless the disk takes too long."""
        self._closing = True
        self._wakeups.put(None)
        self._thread.join(PATIENCE)
        if self._thread.is_alive():
            log.error("the state was not written: the disk did not respond in time")

    def step(self, closing: bool = False) -> float | None:
        """Write what is due; the seconds until the next write is due, None when nothing waits."""
        now = self._clock.monotonic()
        if now < self._not_before and not closing:
            return self._not_before - now
        try:
            self._step_deletions()
            waits = [self._step_session(now, closing), self._step_traces(now, closing)]
        except OSError as error:
            self._not_before = now + RETRY
            if self._refused != str(error):  # logged once, not at every attempt
                self._refused = str(error)
                log.error("the state cannot be written: %s; trying again", error)
            return RETRY
        if self._refused:
            self._refused = ""
            log.warning("the state can be written again")
        return min((wait for wait in waits if wait is not None), default=None)

    def _step_session(self, now: float, closing: bool) -> float | None:
        session = self._session
        if session is not self._written and session is not None:
            self._sessions.write(session)
            self._written = session
        if self._synced is self._written:
            return None
        wait = self._synced_at + SYNC - now
        if wait > 0 and not closing:
            return wait
        self._sessions.sync()
        self._synced, self._synced_at = self._written, now
        return None

    def _step_traces(self, now: float, closing: bool) -> float | None:
        if self._file is None or not self._traces:
            return None
        if self._traces_due is None:
            self._traces_due = now + BATCH
        if now < self._traces_due and not closing:
            return self._traces_due - now
        self._traces_due = None
        # By popping, not by swapping: the loop may be appending at this moment.
        batch = []
        while self._traces:
            batch.append(self._traces.popleft())
        self._file.append(batch, self._clock.wall())
        return None

    def forget(self, is_meant: Callable[[TraceRecord], bool]) -> list[str]:
        """Delete traces on disk, and those that wait to be written; the ids of their turns. Blocks: not for the loop.

        Raises `TimeoutError` where the disk does not respond.
        """
        request = _Deletion(is_meant)
        self._deletions.put(request)
        self._wake()
        if not request.done.wait(PATIENCE):
            raise TimeoutError("the disk did not respond in time")
        return request.ids

    def _step_deletions(self) -> None:
        while not self._deletions.empty():
            request = self._deletions.get()
            waiting = [self._traces.popleft() for _ in range(len(self._traces))]
            for trace in waiting:
                record = trace.record()
                if request.is_meant(record):
                    request.ids.append(record.utterance_id)
                else:
                    self._traces.append(trace)
            if self._file is not None:
                request.ids += self._file.forget(request.is_meant)
            request.done.set()

    def _wake(self) -> None:
        if not self._is_woken:
            self._is_woken = True
            self._wakeups.put(None)

    def _run(self) -> None:
        wait: float | None = None
        while not self._closing:
            with suppress(Empty):
                self._wakeups.get(timeout=wait)
            # Reset before the work: a later request wakes the thread again.
            self._is_woken = False
            wait = self._safe_step()
        self._safe_step(closing=True)
        if self._file is not None:
            self._file.close()

    def _safe_step(self, closing: bool = False) -> float | None:
        try:
            return self.step(closing)
        except Exception:
            log.exception("the state could not be written")
            return RETRY


class State:
    """A locked state directory, or some parts of it, with what was restored from it and its writer."""

    def __init__(
        self,
        directory: Path,
        clock: Clock,
        *,
        traces: bool,
        parts: Collection[str] = (),
        worker: str = "",
        settings: Settings = DEFAULTS,
        private: bool = False,
    ) -> None:
        """Lock the directory; raises `StateError`, and `Locked` when another process has it, or one of these parts.

        Several workers can have the part `understand`, each under a name of its own that begins with it. Nothing of
        what people say is written to a `private` one.
        """
        make_directory(directory)
        self.directory = directory
        self._worker = worker
        self.lock = Lock(directory, (worker,) if worker else parts)
        try:
            check_writable(directory)
            sessions = SessionFile(directory, worker, private=private, largest=settings.limits.session)
            has_session = not parts or "understand" in parts
            if has_session:
                settle_session(directory, sessions)
            self.restored = sessions.restore() if has_session else None
            """The default session as it was after the last end marker."""
            self.turns = TurnsFile(directory, private=private) if "understand" in parts and not worker else None
            """The turns that are open, for the next process if this one dies; a worker leaves them to the broker."""
        except BaseException:
            self.lock.release()
            raise
        part = worker or ("" if has_session else "-".join(parts))
        limits = settings.trace
        file = TraceFile(directory, part, most_bytes=limits.disk_bytes, days=limits.days) if traces else None
        self.writer = Writer(sessions, file, clock)
        self.writer.start()

    @classmethod
    def under(
        cls, settings: Settings, directory: Path, clock: Clock, parts: Collection[str] = (), worker: str = ""
    ) -> State:
        """The state as the settings want it kept."""
        on_disk = settings.trace.disk
        return cls(directory, clock, traces=on_disk, parts=parts, worker=worker, settings=settings, private=not on_disk)

    @property
    def storage(self) -> Storage:
        schedules = self.directory / "schedules.jsonl"
        return Storage(self.restored, self.save, self.turns, self.writer.trace, self.plugin_data, schedules)

    @property
    def plugin_data(self) -> Path:
        """The folder with the directories of plugins."""
        return self.directory / self._worker / "plugins"

    def save(self, session: Session) -> None:
        """Keep the default session as of the end marker that is about to be emitted."""
        if self.turns is not None:
            self.turns.session(session)
        self.writer.session(session)

    def close(self) -> None:
        """Write what is left and release the directory."""
        self.writer.close()
        if self.turns is not None:
            self.turns.forget_session()
            self.turns.close()
        self.lock.release()
