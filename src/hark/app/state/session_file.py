"""The default session on disk."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from hark.model import Session
from hark.model.session_merge import FOR_ONE_UTTERANCE, LARGEST_SESSION, known_fields

log = logging.getLogger("hark.app")

_NAME: Final = "session.json"


class SessionFile:
    """`session.json` in a state directory: the session as it is written on the wire, whole or not at all.

    Workers share it, for each may have to go on with what another had; each writes under a name of its own first.
    """

    def __init__(
        self, directory: Path, worker: str = "", *, private: bool = False, largest: int = LARGEST_SESSION
    ) -> None:
        self.path = directory / _NAME
        self._private = private
        self._largest = largest
        self._new = directory / (f"{_NAME}.{worker}.new" if worker else f"{_NAME}.new")

    def restore(self) -> Session | None:
        """The session as it was last written; a file that cannot be used is set aside, and the log says so."""
        try:
            return self.read()
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            self._set_aside(error)
            return None

    def read(self) -> Session:
        """The session as it was last written; raises `OSError`, `ValueError` or `RecursionError`."""
        if self.path.exists() and not self.path.is_file():
            raise ValueError("it is no file")
        if self.path.stat().st_size > self._largest:
            raise ValueError(f"it has more than {self._largest} bytes")
        return session_of(self.path.read_bytes())

    def write(self, session: Session) -> None:
        """Put `session` in place of what was written before; not yet safe from a power cut."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with open(os.open(self._new, flags, 0o600), "wb") as file:  # noqa: PTH123 - the mode from the first moment on
            file.write(msgspec.json.encode((without_words(session) if self._private else session).wire()))
        self._new.replace(self.path)

    def sync(self) -> None:
        """Make what was written last safe from a power cut."""
        for path in (self.path, self.path.parent):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _set_aside(self, error: Exception) -> None:
        broken = self.path.with_name(f"{_NAME}.broken")
        try:
            self.path.replace(broken)
            kept = f"it is kept as {broken}"
        except OSError as failure:
            kept = f"it could not be set aside: {failure.strerror}"
        log.warning("%s cannot be used: %s; %s, and the conversation starts anew", self.path, error, kept)


def without_words(session: Session) -> Session:
    """`session` without the fields that can hold what people said."""
    return known_fields(session).without("intent_context", "response_mode")


def session_of(octets: bytes) -> Session:
    """The default session that was written so; raises `ValueError`, or `RecursionError` for what is nested too deep."""
    carrier = msgspec.json.decode(octets)
    if not isinstance(carrier, dict):
        raise ValueError(f"it holds a {type(carrier).__name__} in place of a session")
    session = Session.read(carrier)
    if not session.is_default:
        raise ValueError(f"it holds the session {session.session_id!r} in place of the default one")
    return session


def session_advice(state: Path, largest: int = LARGEST_SESSION) -> Iterator[str]:
    """What is wrong with the stored session: it cannot be used, or holds what only the settings can set for good
    (ruling R16)."""
    sessions = SessionFile(state, largest=largest)
    try:
        session = sessions.read()
    except FileNotFoundError:
        return
    except (OSError, ValueError, RecursionError) as error:
        yield f"{sessions.path} cannot be used: {error}; the next start sets it aside and begins anew"
        return
    held = [name for name in FOR_ONE_UTTERANCE if name in session]
    if held:
        listed = ", ".join(held)
        yield f"{sessions.path} holds {listed} from an older version; it has no effect, and the next turn drops it"
