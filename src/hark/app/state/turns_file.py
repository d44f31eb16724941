"""What a process that is killed in the middle of turns leaves to the next one: those turns, and the default session."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Final

import msgspec

from hark.app.state.session_file import SessionFile, session_of, without_words
from hark.model import MalformedMessage, Message, Session, decode, encode

log = logging.getLogger("hark.app")

_NAME: Final = "turns.log"
SMALL: Final = 65_536
"""Bytes from which on the file is emptied when no turn is open."""
LARGE: Final = 8_388_608
"""Bytes from which on it is written anew with the turns that are open."""


class TurnsFile:
    """The `Journal` of a process, as a file. A line for each event: `+` and the Message, `-` and the id of a turn;
    `=` and the default session as it is from then on.

    It is written before it is acted on, to the page cache alone: safe from the end of a process, not from a power cut.
    A session that is recorded here is newer than the one in `session.json`, which is written behind the turns.
    """

    def __init__(self, directory: Path, *, private: bool = False) -> None:
        """A `private` file holds which turns are open, and nothing of what was said in them."""
        self._private = private
        path = directory / _NAME
        known = _read(path)
        self.lost = list(known.turns.values())
        """What was open when the last process went, each turn by the last that is known of it."""
        self._session = b"" if private else known.session
        self._open: dict[str, bytes] = {utterance_id: self._line(last) for utterance_id, last in known.turns.items()}
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        self._descriptor = os.open(path, flags, 0o600)
        self._size = known.size
        if os.fstat(self._descriptor).st_size != known.size:
            os.ftruncate(self._descriptor, known.size)  # the last life ended in the middle of a line

    def forget_lost(self) -> None:
        """They were ended."""
        for last in self.lost:
            self._open.pop(last.utterance_id or "", None)
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
        if (self._size > SMALL and not self._open) or self._size > LARGE:
            self._rewrite()

    def session(self, session: Session) -> None:
        """Record the default session as it is from the next end marker on."""
        session = without_words(session) if self._private else session
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
        line = self._line(message)
        self._open[message.utterance_id or ""] = line
        self._write(line)

    def _line(self, message: Message) -> bytes:
        if self._private:
            session = message.session
            message = message.with_data({}).carrying(without_words(session) if session is not None else None)
        # What comes from others may be written over several lines; in JSON those are nothing but space.
        return b"+" + encode(message).replace(b"\n", b" ") + b"\n"

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
        lines = b"".join([self._session, *self._open.values()])
        if lines:
            self._write(lines)


def settle_session(directory: Path, sessions: SessionFile) -> None:
    """Write the session that a killed process has noted where it belongs; the next process does so first."""
    noted = _read(directory / _NAME).session
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


class _Known(msgspec.Struct):
    """What is in a file."""

    turns: dict[str, Message]
    """Those that were open, by their ids."""
    session: bytes = b""
    """The line with the last one, if there is any."""
    size: int = 0
    """Bytes in whole lines; behind the last line break, a life ended in the middle of one."""


def _read(path: Path) -> _Known:
    known = _Known({})
    try:
        *lines, _half = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return known
    for line in lines:
        known.size += len(line) + 1
        if line.startswith(b"-"):
            known.turns.pop(line[1:].decode(errors="replace"), None)
        elif line.startswith(b"="):
            known.session = line + b"\n"
        elif line.startswith(b"+"):
            try:
                message = decode(line[1:])
            except MalformedMessage:
                continue
            known.turns[message.utterance_id or ""] = message
    return known
