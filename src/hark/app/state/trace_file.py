"""The traces of the last turns on disk, for "hark why" when no assistant runs. They contain what people said."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from hark.trace import TraceRecord, TurnTrace, join_slices

log = logging.getLogger("hark.app")

KEPT: Final = 1_000
"""Turns that are kept at least; up to twice as many may be."""

_NAME: Final = "traces.jsonl"
_OLD: Final = "traces.old.jsonl"
_PARTS: Final = "traces-*.jsonl"
_WORKERS: Final = "traces-understand-"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(TraceRecord).decode


class TraceFile:
    """Two files with one turn per line: when the newer one is full, it replaces the older one.

    A process that takes part in the turns of another process keeps its slices as a `part`, in files of its own.
    """

    def __init__(self, directory: Path, part: str = "", kept: int = KEPT) -> None:
        self._path = directory / (f"traces-{part}.jsonl" if part else _NAME)
        self._old = directory / (f"traces-{part}.old.jsonl" if part else _OLD)
        self._kept = kept
        self._file: BinaryIO | None = None
        self._lines = 0

    def append(self, traces: Iterable[TurnTrace]) -> None:
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
        self._lines = _count_lines(self._file)
        return self._file


def _count_lines(file: BinaryIO) -> int:
    """The number of lines. A last line that a killed process left incomplete is ended first."""
    text = file.read()
    if text and not text.endswith(b"\n"):
        file.write(b"\n")
    return text.count(b"\n")


def find(directory: Path, prefix: str = "") -> TraceRecord | None:
    """The turn on disk with this `utterance_id`, or the last one whose id begins with it; joined from all parts."""
    names = {path.name for path in directory.glob(_PARTS)}
    newer = sorted(name for name in names if ".old." not in name)
    pairs = [(name, name.replace(".jsonl", ".old.jsonl")) for name in newer]
    # Turns are taken in by one process, or by several workers.
    intakes = [(_NAME, _OLD), *(pair for pair in pairs if pair[0].startswith(_WORKERS))]
    known = [record for pair in intakes if (record := _find(directory, pair, prefix)) is not None]
    if not known:
        return None
    found = max(known, key=lambda record: (record.utterance_id == prefix, record.wall))
    others = [pair for pair in pairs if pair not in intakes]
    parts = [_find(directory, pair, found.utterance_id) for pair in others]
    return join_slices([found, *(part for part in parts if part is not None)])


def _find(directory: Path, names: tuple[str, ...], prefix: str) -> TraceRecord | None:
    begins: TraceRecord | None = None
    for line in _newest_first(directory, names):
        if prefix.encode(errors="replace") not in line:
            continue  # faster than decoding every line
        try:
            record = _decode(line)
        except msgspec.DecodeError:
            continue  # an incomplete line of a killed process
        if record.utterance_id == prefix or not prefix:
            return record
        if begins is None and record.utterance_id.startswith(prefix):
            begins = record
    return begins


def _newest_first(directory: Path, names: tuple[str, ...]) -> Iterator[bytes]:
    for name in names:
        try:
            yield from reversed((directory / name).read_bytes().splitlines())
        except FileNotFoundError:
            continue
