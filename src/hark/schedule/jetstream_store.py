"""Schedules at the broker, where the scheduler of any machine finds them (extra `nats`)."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from pathlib import Path

import msgspec

from hark.bus.nats import KeyValue, StoredEntry, WrongRevision
from hark.schedule.store import FileStore, Key, StoredSchedule, StoredSchedules, decode_entry, encode_entry

log = logging.getLogger("hark.schedule")


class JetStreamStore:
    """A key for each schedule, written against its revision, so that two schedulers cannot both believe they own it.

    The schedules in the `file` of an assistant that was in one process move to the broker. See `ScheduleStore`.
    """

    def __init__(self, bucket: KeyValue, file: Path | None = None) -> None:
        self._bucket = bucket
        self._file = file
        self._revisions: dict[str, int] = {}
        self._removed: set[str] = set()
        """Keys whose last value says that the schedule is gone: one is left, to tell when the store was written."""

    async def load(self) -> StoredSchedules:
        await self._bucket.ensure()
        names = await self._bucket.keys()
        found = [one for one in await asyncio.gather(*map(self._bucket.get, names)) if one is not None]
        written: float | None = None
        entries: list[StoredSchedule] = []
        for stored in sorted(found, key=lambda one: one.sequence):
            entry = self._read(stored)
            if entry is None:
                continue
            written = entry.wall
            if entry.record is not None:
                entries.append(entry)
        entries += await self._moved({entry.key for entry in entries})
        return StoredSchedules(entries, written)

    async def put(self, entry: StoredSchedule) -> None:
        await self._set(entry)

    async def remove(self, key: Key, wall: float) -> None:
        await self._set(StoredSchedule(wall, *key))

    async def close(self) -> None:
        """The broker keeps them."""

    def _read(self, stored: StoredEntry) -> StoredSchedule | None:
        name = stored.subject.rpartition(".")[2]
        self._revisions[name] = stored.sequence
        try:
            entry = decode_entry(stored.data)
        except msgspec.DecodeError as error:
            log.error("a schedule at the broker cannot be read and is left out: %s", error)
            return None
        if entry.record is None:
            self._removed.add(name)
        return entry

    async def _moved(self, known: set[Key]) -> list[StoredSchedule]:
        """The schedules of the file, which are at the broker from now on."""
        if self._file is None or not self._file.exists():
            return []
        file = FileStore(self._file)
        stored = await file.load()
        await file.close()
        moved = [entry for entry in stored.entries if entry.key not in known]
        for entry in moved:
            await self._set(entry)
        self._file.unlink()
        return moved

    async def _set(self, entry: StoredSchedule) -> None:
        name = _name(entry.key)
        value = encode_entry(entry)
        try:
            self._revisions[name] = await self._bucket.set(name, value, self._revisions.get(name, 0))
        except WrongRevision:
            found = await self._bucket.get(name)
            if found is not None:
                raise OSError(f"another scheduler has changed {entry.id!r} of {entry.skill_id}") from None
            # The broker has lost what it had stored.
            self._revisions[name] = await self._bucket.set(name, value, 0)
        gone, self._removed = self._removed - {name}, {name} if entry.record is None else set()
        for other in gone:
            self._revisions.pop(other, None)
            await self._bucket.purge(other)


def _name(key: Key) -> str:
    """The names of schedules are chosen by their owners: not each of them can be a key."""
    return hashlib.sha256("\0".join(key).encode(errors="surrogatepass")).hexdigest()[:40]
