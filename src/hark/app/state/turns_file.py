"""The turns that are open, on disk: a process that is killed in the middle of them leaves them to the next one."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Final

from hark.model import MalformedMessage, Message, decode, encode

log = logging.getLogger("hark.app")

_NAME: Final = "turns.log"
_SMALL: Final = 65_536
"""Bytes from which on the file is emptied when no turn is open."""
_STOOD_IN: Final = 1_000
"""Turns of other workers that are remembered as ended in their place."""
_LARGE: Final = 8_388_608
"""Bytes from which on it is written anew with the turns that are open."""


class TurnsFile:
    """See `WorkersJournal` for what it promises. A line for each thing that happens: `+` and the Message, `-` and the
    id, or `=` and the id of a turn of another worker.

    It is written before it is acted on, to the page cache alone: safe from the end of a process, not from a power cut.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / _NAME
        self.lost, self.stood_in = _read(self._path)
        """What was open when the last process went, each turn by the last that is known of it; and turns of others
        that were ended in their place."""
        self._open: dict[str, bytes] = {last.utterance_id or "": _line(last) for last in self.lost}
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        self._descriptor = os.open(self._path, flags, 0o600)
        self._size = os.fstat(self._descriptor).st_size
        if self._size:
            self._write(b"\n")  # the last life may have ended in the middle of a line

    def forget_lost(self) -> None:
        """They were ended."""
        for last in self.lost:
            self._open.pop(last.utterance_id or "", None)
        self.lost = []
        self._rewrite()

    def note_stood_in(self, utterance_id: str) -> None:
        """As promised by `WorkersJournal`."""
        self.stood_in[utterance_id] = None
        if len(self.stood_in) > _STOOD_IN:
            del self.stood_in[next(iter(self.stood_in))]
        self._write(_other(utterance_id))

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
        if self._open or self.stood_in:
            self._write(b"".join([*(_other(utterance_id) for utterance_id in self.stood_in), *self._open.values()]))


def _line(message: Message) -> bytes:
    # What comes from others may be written over several lines; in JSON those are nothing but space.
    return b"+" + encode(message).replace(b"\n", b" ") + b"\n"


def _other(utterance_id: str) -> bytes:
    return b"=" + utterance_id.encode() + b"\n"


def _read(path: Path) -> tuple[list[Message], dict[str, None]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return [], {}
    others: dict[str, None] = {}
    found: dict[str, Message] = {}
    for line in lines:
        if line.startswith(b"-"):
            found.pop(line[1:].decode(errors="replace"), None)
        elif line.startswith(b"="):
            others[line[1:].decode(errors="replace")] = None
        elif line.startswith(b"+"):
            try:
                message = decode(line[1:])
            except MalformedMessage:
                continue  # half a line: a life ended there, before anything was done about it
            found[message.utterance_id or ""] = message
    return list(found.values()), dict.fromkeys(list(others)[-_STOOD_IN:])
