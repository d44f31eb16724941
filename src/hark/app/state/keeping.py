"""A state directory in use."""

from __future__ import annotations

from pathlib import Path

from hark.app.state.directory import Lock, make_directory
from hark.app.state.session_file import SessionFile
from hark.app.state.trace_file import TraceFile
from hark.app.state.writer import Writer
from hark.model import Clock


class State:
    """What one assistant keeps, from the moment it takes the directory until it lets it go."""

    def __init__(self, directory: Path, clock: Clock, *, traces: bool) -> None:
        """Take the directory; raises `StateError`, and `Held` when another assistant has it."""
        make_directory(directory)
        self.directory = directory
        self._lock = Lock(directory)
        sessions = SessionFile(directory)
        self.restored = sessions.restore()
        """The default session as it was after the last end marker."""
        self.writer = Writer(sessions, TraceFile(directory) if traces else None, clock)
        self.writer.start()

    @property
    def plugin_data(self) -> Path:
        """Where plugins have directories of their own."""
        return self.directory / "plugins"

    def close(self) -> None:
        """Write what is left and let the directory go."""
        self.writer.close()
        self._lock.release()
