"""The traces of the last turns on disk, for "hark why" when no assistant runs. They contain what people said."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from hark.trace import TraceRecord, TurnTrace, join_slices

log = logging.getLogger("hark.app")

KEPT: Final = 1_000
"""Turns that are kept at least; up to twice as many may be."""
DISK_BYTES: Final = 33_554_432
DAYS: Final = 30
_DAY: Final = 86_400.0
_LOOK: Final = 3_600.0
"""Seconds between two looks for traces that are too old."""

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

    def __init__(
        self, directory: Path, part: str = "", kept: int = KEPT, *, most_bytes: int = DISK_BYTES, days: float = DAYS
    ) -> None:
        self._path = directory / (f"traces-{part}.jsonl" if part else _NAME)
        self._old = directory / (f"traces-{part}.old.jsonl" if part else _OLD)
        self._kept = kept
        self._half = most_bytes // 2
        """Bytes of each of the two files."""
        self._max_age = days * _DAY
        self._looked = 0.0
        self._file: BinaryIO | None = None
        self._lines = 0
        self._size = 0

    def append(self, traces: Iterable[TurnTrace], now: float = 0.0) -> None:
        """Write traces; `now` is the time by the wall clock, by which old ones are deleted."""
        if now - self._looked > _LOOK:
            self._looked = now
            self.forget(lambda record: record.wall < now - self._max_age)
        for trace in traces:
            try:
                line = _encode(trace.record())
            except (TypeError, ValueError, OverflowError):
                log.exception("the trace of turn %s cannot be written", trace.utterance_id)
                continue
            if len(line) >= self._half:
                log.warning("the trace of turn %s is not kept: it has %d bytes", trace.utterance_id, len(line))
                continue
            self._writable(len(line)).write(line + b"\n")
            self._lines += 1
            self._size += len(line) + 1
        if self._file is not None:
            self._file.flush()

    def forget(self, is_meant: Callable[[TraceRecord], bool]) -> list[str]:
        """Delete the traces that are meant, from both files; the ids of their turns."""
        self.close()
        return [*_forget_in(self._old, is_meant), *_forget_in(self._path, is_meant)]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _writable(self, more: int) -> BinaryIO:
        file = self._file or self._open()
        if not self._lines or (self._lines < self._kept and self._size + more < self._half):
            return file
        self.close()
        self._path.replace(self._old)
        return self._open()

    def _open(self) -> BinaryIO:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        self._file = open(os.open(self._path, flags, 0o600), "r+b")  # noqa: PTH123, SIM115 - the mode; kept open
        self._lines = _count_lines(self._file)
        self._size = self._file.tell()
        return self._file


def _count_lines(file: BinaryIO) -> int:
    """The number of lines. A last line that a killed process left incomplete is ended first."""
    text = file.read()
    if text and not text.endswith(b"\n"):
        file.write(b"\n")
    return text.count(b"\n")


def forget(directory: Path, is_meant: Callable[[TraceRecord], bool]) -> list[str]:
    """Delete the traces that are meant in a state directory that no assistant has; the ids of their turns.

    What other processes have of these turns is deleted with them.
    """
    paths = sorted({*directory.glob("traces.jsonl"), *directory.glob("traces.old.jsonl"), *directory.glob(_PARTS)})
    meant = list(dict.fromkeys(known for path in paths for known in _forget_in(path, is_meant)))
    for path in paths:
        _forget_in(path, lambda record: record.utterance_id in meant)
    return meant


def _forget_in(path: Path, is_meant: Callable[[TraceRecord], bool]) -> list[str]:
    """Write a file anew without the traces that are meant, if there are any; the ids of their turns."""
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return []
    kept, meant = [], []
    for line in lines:
        try:
            record = _decode(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            meant.append("")  # an incomplete line of a killed process may hold what was said, too
            continue
        if is_meant(record):
            meant.append(record.utterance_id)
        else:
            kept.append(line)
    if not meant:
        return []
    new = path.with_suffix(".new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with open(os.open(new, flags, 0o600), "wb") as file:  # noqa: PTH123 - the mode from the first moment on
        file.writelines(kept)
    new.replace(path)
    return [utterance_id for utterance_id in meant if utterance_id]


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
        if (directory / name).is_file():
            yield from reversed((directory / name).read_bytes().splitlines())
