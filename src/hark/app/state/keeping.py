"""A state directory in use."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from hark.app.state.directory import Lock, make_directory
from hark.app.state.session_file import SessionFile
from hark.app.state.trace_file import TraceFile
from hark.app.state.turns_file import TurnsFile, settle_session
from hark.app.state.writer import Writer
from hark.model import Clock, Session


class State:
    """What one assistant keeps, or some parts of it, from the moment it takes the directory until it lets it go."""

    def __init__(
        self, directory: Path, clock: Clock, *, traces: bool, parts: Collection[str] = (), worker: str = ""
    ) -> None:
        """Take the directory; raises `StateError`, and `PostingList` when another assistant has it, or those parts of it.

        Several workers can have the part `understand` of it, each under a name of its own that begins with it.
        """
        make_directory(directory)
        self.directory = directory
        self._worker = worker
        self._lock = Lock(directory, (worker,) if worker else parts)
        sessions = SessionFile(directory, worker)
        has_session = not parts or "understand" in parts
        if has_session:
            settle_session(directory, sessions)
        self.restored = sessions.restore() if has_session else None
        """The default session as it was after the last end marker."""
        self.turns = TurnsFile(directory) if "understand" in parts and not worker else None
        """The turns that are open, for the next process if this one dies; a worker leaves them to the broker."""
        part = worker or ("" if has_session else "-".join(parts))
        self.writer = Writer(sessions, TraceFile(directory, part) if traces else None, clock)
        self.writer.start()

    @property
    def plugin_data(self) -> Path:
        """Where plugins have directories of their own."""
        return self.directory / self._worker / "plugins"

    def save(self, session: Session) -> None:
        """Take the default session as it is from the end marker on that is about to be told."""
        if self.turns is not None:
            self.turns.session(session)
        self.writer.session(session)

    def close(self) -> None:
        """Write what is left and let the directory go."""
        self.writer.close()
        if self.turns is not None:
            self.turns.forget_session()
            self.turns.close()
        self._lock.release()
