"""Where schedules are kept: in memory, or in a file that survives the process and a power cut."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, Protocol

import msgspec

from hark.schedule.record import Schedule, ScheduleState

log = logging.getLogger("hark.schedule")

Key = tuple[str, str]
"""`skill_id` and `id`."""

_SMALL: Final = 65_536
"""Bytes from which on the file is written anew when most of it is out of date."""
_SPARSE: Final = 4
"""How many times what is needed the file may be."""


class StoredSchedule(msgspec.Struct, omit_defaults=True):
    """A schedule as it is kept: the record as it was accepted, with its context, and what became of it."""

    wall: float
    """When this was written, in Unix seconds."""
    skill_id: str
    id: str
    record: dict[str, Any] | None = None
    """None: it was removed."""
    state: ScheduleState | None = None

    @property
    def key(self) -> Key:
        return self.skill_id, self.id


_decode = msgspec.json.Decoder(StoredSchedule).decode
_encode = msgspec.json.Encoder().encode


def entry_of(schedule: Schedule, wall: float) -> StoredSchedule:
    """What is kept of a schedule."""
    return StoredSchedule(wall, schedule.skill_id, schedule.id, dict(schedule.record), schedule.state)


def decode_entry(octets: bytes) -> StoredSchedule:
    """What `encode_entry` wrote; raises `msgspec.DecodeError`."""
    return _decode(octets)


def encode_entry(entry: StoredSchedule) -> bytes:
    return _encode(entry)


class StoredSchedules(msgspec.Struct):
    """Everything that was kept."""

    entries: list[StoredSchedule]
    written: float | None
    """When the store was last written; None where it never was."""


class ScheduleStore(Protocol):
    """Keeps schedules. What it returns from is done: a crash afterwards changes nothing, one before leaves what was."""

    async def load(self) -> StoredSchedules:
        """What is kept."""

    async def put(self, entry: StoredSchedule) -> None:
        """Keep a schedule in the place of the one with the same key; raises `OSError`."""

    async def remove(self, key: Key, wall: float) -> None:
        """Keep a schedule no more; raises `OSError`."""

    async def close(self) -> None:
        """Nothing more is kept."""


class MemoryStore:
    """Keeps schedules as long as it exists itself. See `ScheduleStore`."""

    def __init__(self) -> None:
        self.frames: dict[Key, bytes] = {}
        self.written: float | None = None

    async def load(self) -> StoredSchedules:
        return StoredSchedules([_decode(frame) for frame in self.frames.values()], self.written)

    async def put(self, entry: StoredSchedule) -> None:
        self.frames[entry.key] = _encode(entry)
        self.written = entry.wall

    async def remove(self, key: Key, wall: float) -> None:
        self.frames.pop(key, None)
        self.written = wall

    async def close(self) -> None:
        """There is nothing to do."""


class FileStore:
    """A file with one JSON object on each line, the last of a key being valid. See `ScheduleStore`.

    A line is appended and synced before the call returns, on a thread of its own. What a crash leaves of a line is
    ignored. A file that has grown is written anew beside the old one, and then replaces it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: dict[Key, bytes] = {}
        self._needed = 0
        """Bytes of the lines that are valid."""
        self._size = 0
        self._descriptor: int | None = None
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._pending: set[asyncio.Future[Any]] = set()

    async def load(self) -> StoredSchedules:
        found: StoredSchedules = await self._run(self._read)
        return found

    async def put(self, entry: StoredSchedule) -> None:
        await self._run(lambda: self._append(entry))

    async def remove(self, key: Key, wall: float) -> None:
        await self._run(lambda: self._append(StoredSchedule(wall, *key)))

    async def close(self) -> None:
        if self._thread is not None:
            await self._run(self._close)
            self._work.put(None)
            self._thread = None

    async def quiet(self) -> bool:
        """Wait for what is being written; whether there was anything."""
        pending: Collection[asyncio.Future[Any]] = list(self._pending)
        if pending:
            await asyncio.wait(pending)
        return bool(pending)

    async def _run(self, work: Callable[[], Any]) -> Any:
        if self._thread is None:
            # A daemon: a disk that is gone must not keep the process from ending.
            self._thread = threading.Thread(target=self._serve, name="hark-schedules", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()

        def finish(result: Any, error: BaseException | None) -> None:
            if done.done():
                return
            if error is not None:
                done.set_exception(error)
            else:
                done.set_result(result)

        def job() -> None:
            result, error = None, None
            try:
                result = work()
            except BaseException as raised:  # noqa: BLE001 - it is raised where the work was asked for
                error = raised
            try:
                loop.call_soon_threadsafe(finish, result, error)
            except RuntimeError:  # the loop has ended
                log.debug("a store was closed while it was written")

        self._pending.add(done)
        done.add_done_callback(self._pending.discard)
        self._work.put(job)
        return await done

    def _serve(self) -> None:
        while (job := self._work.get()) is not None:
            job()

    # On the thread.

    def _read(self) -> StoredSchedules:
        entries: dict[Key, StoredSchedule] = {}
        written: float | None = None
        try:
            *lines, _half = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            lines = []
        self._lines, self._size = {}, 0
        for line in lines:
            self._size += len(line) + 1
            try:
                entry = _decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                log.error("a line of %s cannot be read and is left out: %s", self.path, error)
                continue
            written = entry.wall
            self._take(entry, line + b"\n")
            entries.pop(entry.key, None)
            if entry.record is not None:
                entries[entry.key] = entry
        return StoredSchedules(list(entries.values()), written)

    def _append(self, entry: StoredSchedule) -> None:
        line = _encode(entry) + b"\n"
        descriptor = self._opened()
        try:
            os.write(descriptor, line)
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, self._size)  # half a line would swallow the next one
            raise
        self._size += len(line)
        self._take(entry, line)
        if self._size > _SMALL and self._size > _SPARSE * self._needed:
            self._rewrite(line)

    def _take(self, entry: StoredSchedule, line: bytes) -> None:
        self._needed -= len(self._lines.pop(entry.key, b""))
        if entry.record is not None:
            self._lines[entry.key] = line
            self._needed += len(line)

    def _opened(self) -> int:
        if self._descriptor is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            self._descriptor = os.open(self.path, flags, 0o600)
            os.ftruncate(self._descriptor, self._size)  # without what a crash has left of a line
            _sync_folder(self.path.parent)
        return self._descriptor

    def _rewrite(self, last: bytes) -> None:
        """Write the valid lines to a new file. The last one is among them, or tells when the store was written."""
        new = self.path.with_name(f"{self.path.name}.new")
        lines = list(self._lines.values())
        if last not in lines:
            lines.append(last)
        octets = b"".join(lines)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with open(os.open(new, flags, 0o600), "wb") as file:  # noqa: PTH123 - the mode from the first moment on
            file.write(octets)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self.path)
        _sync_folder(self.path.parent)
        self._close()
        self._size = len(octets)

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
