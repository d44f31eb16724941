"""What a process that is killed in the middle of turns leaves to the next one: those turns, and the default session."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Final

import msgspec

from hark.app.state.session_file import SessionFile, session_of
from hark.model import MalformedMessage, Message, Session, decode, encode

log = logging.getLogger("hark.app")

_NAME: Final = "turns.log"
_SMALL: Final = 65_536
"""Bytes from which on the file is emptied when no turn is open."""
_LARGE: Final = 8_388_608
"""Bytes from which on it is written anew with the turns that are open."""


class TurnsFile:
    """See `Journal` for what it promises. A line for each thing that happens: `+` and the Message, or `-` and the id;
    `=` and the default session as it is from then on.

    It is written before it is acted on, to the page cache alone: safe from the end of a process, not from a power cut.
    A session that is noted here is newer than the one in `session.json`, which is written behind the turns.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / _NAME
        self.lost, self._session = _read(self._path)
        """What was open when the last process went, each turn by the last that is known of it."""
        self._open: dict[str, bytes] = {}
        self._size = 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        self._descriptor = os.open(self._path, flags, 0o600)

    def forget_lost(self) -> None:
        """They were ended."""
        self.lost = []
        self._rewrite()

    def opened(self, entry: Message) -> None:
        """As promised by `Journal`."""
        self._note(entry)

    def dispatched(self, dispatch: Message) -> None:
        """As promised by `Journal`."""
        self._note(dispatch)

    def ended(self, utterance_id: str) -> None:
        """As promised by `Journal`."""
        self._open.pop(utterance_id, None)
        self._write(b"-" + utterance_id.encode() + b"\n")
        if (self._size > _SMALL and not self._open) or self._size > _LARGE:
            self._rewrite()

    def session(self, session: Session) -> None:
        """This is the default session, from the end marker on that is about to be told."""
        self._session = b"=" + msgspec.json.encode(session.wire()) + b"\n"
        self._write(self._session)

    def forget_session(self) -> None:
        """It was written where it belongs."""
        self._session = b""
        self._rewrite()

    def close(self) -> None:
        """Note nothing more."""
        os.close(self._descriptor)

    def _note(self, message: Message) -> None:
        line = _line(message)
        self._open[message.utterance_id or ""] = line
        self._write(line)

    def _write(self, line: bytes) -> None:
        try:
            os.write(self._descriptor, line)
            self._size += len(line)
        except OSError as error:
            log.error("an open turn cannot be noted: %s", error)

    def _rewrite(self) -> None:
        try:
            os.ftruncate(self._descriptor, 0)
        except OSError as error:
            log.error("the notes of open turns cannot be cleared: %s", error)
            return
        self._size = 0
        lines = (self._session, *map(_line, self.lost), *self._open.values())
        if any(lines):
            self._write(b"".join(lines))


def _line(message: Message) -> bytes:
    # What comes from others may be written over several lines; in JSON those are nothing but space.
    return b"+" + encode(message).replace(b"\n", b" ") + b"\n"


def settle_session(directory: Path, sessions: SessionFile) -> None:
    """Write the session that a killed process has noted where it belongs. Whoever takes the directory does so first."""
    _, noted = _read(directory / _NAME)
    if not noted:
        return
    try:
        sessions.write(session_of(noted[1:]))
    except (OSError, ValueError, RecursionError) as error:
        log.error("the session that was noted in %s cannot be used: %s", directory / _NAME, error)
        return
    file = TurnsFile(directory)
    file.forget_session()
    file.close()


def _read(path: Path) -> tuple[list[Message], bytes]:
    """The turns that were open, and the line with the last session, if there is one."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return [], b""
    found: dict[str, Message] = {}
    session = b""
    for line in lines[:-1]:  # what no line break follows is half a line: a life ended there
        if line.startswith(b"-"):
            found.pop(line[1:].decode(errors="replace"), None)
        elif line.startswith(b"="):
            session = line + b"\n"
        elif line.startswith(b"+"):
            try:
                message = decode(line[1:])
            except MalformedMessage:
                continue
            found[message.utterance_id or ""] = message
    return list(found.values()), session
