"""The last turns on disk, for "hark why" when no assistant runs. They hold what people said."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from hark.trace import TraceRecord, TurnTrace

log = logging.getLogger("hark.app")

KEPT: Final = 1_000
"""Turns that are certainly kept; up to twice as many may be."""

_NAME: Final = "traces.jsonl"
_OLD: Final = "traces.old.jsonl"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(TraceRecord).decode


class TraceFile:
    """Two files, a turn a line: when the newer one is full it takes the place of the older one."""

    def __init__(self, directory: Path, kept: int = KEPT) -> None:
        self._path = directory / _NAME
        self._old = directory / _OLD
        self._kept = kept
        self._file: BinaryIO | None = None
        self._lines = 0

    def append(self, traces: Iterable[TurnTrace]) -> None:
        """Write turns down."""
        for trace in traces:
            try:
                line = _encode(trace.record())
            except (TypeError, ValueError, OverflowError):
                log.exception("the trace of turn %s cannot be written", trace.utterance_id)
                continue
            self._writable().write(line + b"\n")
            self._lines += 1
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Write no more."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _writable(self) -> BinaryIO:
        file = self._file or self._open()
        if self._lines < self._kept:
            return file
        self.close()
        self._path.replace(self._old)
        return self._open()

    def _open(self) -> BinaryIO:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        self._file = open(os.open(self._path, flags, 0o600), "r+b")  # noqa: PTH123, SIM115 - the mode; kept open
        self._lines = _mend(self._file)
        return self._file


def _mend(file: BinaryIO) -> int:
    """How many lines there are, once the last one is ended: a life may have ended in the middle of it."""
    text = file.read()
    if text and not text.endswith(b"\n"):
        file.write(b"\n")
    return text.count(b"\n")


def find(directory: Path, prefix: str = "") -> TraceRecord | None:
    """The turn on disk with this `utterance_id`, or the last one whose id begins so."""
    begins: TraceRecord | None = None
    for line in _newest_first(directory):
        if prefix.encode(errors="replace") not in line:
            continue  # faster than to decode them all
        try:
            record = _decode(line)
        except msgspec.DecodeError:
            continue  # half a line: a life ended there
        if record.utterance_id == prefix or not prefix:
            return record
        if begins is None and record.utterance_id.startswith(prefix):
            begins = record
    return begins


def _newest_first(directory: Path) -> Iterator[bytes]:
    for name in (_NAME, _OLD):
        try:
            yield from reversed((directory / name).read_bytes().splitlines())
        except FileNotFoundError:
            continue
