"""The default session as a key at the broker, which every worker can read and write."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from hark.bus.nats import KeyValue, StoredEntry, WrongRevision
from hark.model import Session
from hark.model.session_merge import LARGEST_SESSION, three_way_merge
from hark.understand.turn_state import DefaultSession

KEY: Final = "default"
"""The key of the default session, and of its lease."""
_APPLIED: Final = 256
"""Turns that are remembered as applied to the default session."""


class _Value(msgspec.Struct):
    """What is stored of the default session."""

    session: msgspec.Raw
    applied: list[str] = []
    """The keys of turns that have changed it, the latest last."""
    by: str = ""
    """The worker that has written it."""


_decode_value = msgspec.json.Decoder(_Value).decode


class StoredSession(DefaultSession):
    """The default session as a key at the broker, written against its revision. Every worker reads what it becomes."""

    owned = False

    def __init__(
        self,
        bucket: KeyValue,
        worker: str,
        restored: Session | None,
        holds_lease: Callable[[], Awaitable[bool]],
        largest: int = LARGEST_SESSION,
    ) -> None:
        super().__init__(restored, largest=largest)
        self._holds_lease = holds_lease
        self._bucket = bucket
        self._worker = worker
        self._base = self.current
        """As it is at the broker, as far as is known."""
        self._revision = 0
        self._applied: deque[str] = deque(maxlen=_APPLIED)
        self._changes = 0
        self._stored = 0
        """How many of the changes are stored."""
        self._writing: asyncio.Task[None] | None = None
        self._reader = bucket.watch(KEY, self._became)
        self._is_read = False

    @property
    def is_dirty(self) -> bool:
        """Whether there are changes to be stored."""
        return self._stored < self._changes

    @property
    def is_writing(self) -> bool:
        """Whether changes are being stored."""
        return self._writing is not None and not self._writing.done()

    def open(self, carrier: Session) -> Session:
        before = self.current
        working = super().open(carrier)
        self._note(before)
        return working

    def bring(self, base: Session, now: Session) -> Session:
        before = self.current
        working = super().bring(base, now)
        self._note(before)
        return working

    def reset(self) -> None:
        self._changes += 1
        super().reset()

    def saved(self) -> None:
        if self.is_dirty:
            self._write_soon()

    def has_applied(self, utterance_id: str) -> bool:
        return utterance_id in self._applied

    def apply(self, utterance_id: str) -> None:
        """What comes of a turn is in the session from now on."""
        self._applied.append(utterance_id)
        self._changes += 1
        self._write_soon()

    async def written(self) -> None:
        """Wait until the changes so far are stored."""
        while self.is_dirty:
            self._write_soon()
            if self._writing is not None:
                await asyncio.wait([self._writing])

    async def load(self) -> None:
        """Take the session as it is at the broker in place of what is known here."""
        found = await self._bucket.get(KEY)
        if found is not None:
            self._take(found)
            self.current = self._base
            self._stored = self._changes
        if not self._is_read:
            self._is_read = True
            await self._reader.open(self._revision)

    async def is_current(self) -> bool:
        """Whether no other worker has written it since it was written here."""
        found = await self._bucket.get(KEY)
        return found is None or found.sequence == self._revision

    async def own(self) -> None:
        """Write it as the worker that holds the lease."""
        self.owned = True
        self._changes += 1
        await self.written()

    def close(self) -> None:
        """Read and write no more."""
        self._reader.close()
        if self._writing is not None:
            self._writing.cancel()

    def _note(self, before: Session) -> None:
        if before is not self.current and before != self.current:
            self._changes += 1

    def _write_soon(self) -> None:
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        while self.is_dirty:
            changes, current = self._changes, self.current
            value = _Value(msgspec.Raw(msgspec.json.encode(current.wire())), list(self._applied), self._worker)
            try:
                self._revision = await self._bucket.set(KEY, msgspec.json.encode(value), self._revision)
            except WrongRevision:
                if self.owned and not await self._holds_lease():
                    self.owned = False  # what is not stored is for the next holder, which has these turns now
                    self._changes = self._stored
                    return
                found = await self._bucket.get(KEY)
                if found is None:
                    self._revision = 0
                elif found.sequence != self._revision:
                    self._merge(found)
                continue
            self._base, self._stored = current, changes

    def _became(self, entry: StoredEntry) -> None:
        """It was written, perhaps by another worker."""
        if entry.sequence <= self._revision:
            return
        if _decode_value(entry.data).by != self._worker:
            self._merge(entry)

    def _merge(self, entry: StoredEntry) -> None:
        """Bring what was changed here and is not stored to what another worker has stored."""
        base, here = self._base, self.current
        self._take(entry)
        self.current = three_way_merge(self._base, base, here)

    def _take(self, entry: StoredEntry) -> None:
        value = _decode_value(entry.data)
        self._base = self.cleaned(Session.read(msgspec.json.decode(value.session)))
        self._revision = entry.sequence
        self._applied = deque([*value.applied], maxlen=_APPLIED)
