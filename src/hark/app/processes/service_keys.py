"""Claims to services as keys in a bucket of NATS.

Each key expires unless its process renews it, so a process that was killed or hangs loses its services by itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec

from hark.app.processes.claims import ProcessInfo
from hark.bus.nats import KeyValue, WrongRevision
from hark.model import Clock

log = logging.getLogger("hark.app")

TTL: Final = 3.0
"""Seconds after which a key that was not renewed is gone."""
RENEW: Final = 0.75
"""Seconds between two renewals."""
_FREE: Final = b"free"
"""The value of a key that was given up: deleting it could delete the key of the next process."""
_ANSWER: Final = 2.0
"""Seconds of real time to wait for the broker where an answer is no more than useful."""


class Key(msgspec.Struct, frozen=True):
    """What a key holds: the process that has it, if it is taken."""

    info: ProcessInfo | None
    revision: int


class ServiceKeys:
    """The bucket of one assistant, with a lifetime of `TTL`. See `Members` for what it promises."""

    def __init__(self, bucket: KeyValue) -> None:
        self._bucket = bucket

    async def present(self) -> list[ProcessInfo]:
        found: dict[str, ProcessInfo] = {}
        with suppress(TimeoutError):
            async with asyncio.timeout(_ANSWER):
                names = await self._bucket.keys()
                for key in await asyncio.gather(*map(self.read, names)):
                    if key is not None and key.info is not None and not key.info.is_gone:
                        found[key.info.id] = key.info
        return list(found.values())

    async def read(self, name: str) -> Key | None:
        """A key, if it is there."""
        entry = await self._bucket.get(name)
        if entry is None:
            return None
        try:
            info = msgspec.json.decode(entry.data, type=ProcessInfo)
        except msgspec.DecodeError:
            info = None
        return Key(info, entry.sequence)

    async def write(self, name: str, info: ProcessInfo | None, revision: int) -> int | None:
        """Write a key that has this revision, or none if it is 0; the new revision, or None if it has another one."""
        try:
            return await self._bucket.set(name, msgspec.json.encode(info) if info is not None else _FREE, revision)
        except WrongRevision:
            return None


class KeyClaim:
    """Has a key for each service of a process; see `ServiceClaim`.

    `lost` is called with the other process when a key turns out to be taken: this one must end then.
    """

    def __init__(
        self, keys: ServiceKeys, info: ProcessInfo, name: str, clock: Clock, lost: Callable[[ProcessInfo], None]
    ) -> None:
        self._keys = keys
        self.info = info
        self._clock = clock
        self._lost = lost
        self._revisions: dict[str, int] = {}
        """Of the keys that are ours."""
        self._names = [f"{service}.{name or info.id}" if info.is_worker else service for service in info.services]
        self._renewing: asyncio.Task[None] | None = None

    async def take(self) -> None:
        await self._refuse_other_kind()
        self.info = msgspec.structs.replace(self.info, is_settled=True)
        for name in self._names:
            self._revisions[name] = await self._take(name)
        self._renewing = asyncio.ensure_future(self._renew())

    async def ready(self) -> None:
        self.info = msgspec.structs.replace(self.info, is_ready=True)
        await self._renew_once()

    async def leave(self) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)
        with suppress(TimeoutError):  # the broker is away; the keys expire
            async with asyncio.timeout(_ANSWER):
                for name, revision in self._revisions.items():
                    await self._keys.write(name, None, revision)

    async def _refuse_other_kind(self) -> None:
        """Workers share `understand` with each other, and with no process that wants it for itself."""
        for other in await self._keys.present():
            if other.conflicts(self.info) and other.is_worker != self.info.is_worker:
                raise other.refusal(self.info)

    async def _take(self, name: str) -> int:
        revision = 0
        while (taken := await self._keys.write(name, self.info, revision)) is None:
            key = await self._keys.read(name)
            revision = key.revision if key is not None else 0
            if key is not None and key.info is not None and not key.info.is_gone:
                if key.info.is_here:
                    raise key.info.refusal(self.info)
                await self._wait_for_end(name, key, key.info)
                revision = 0
        return taken

    async def _wait_for_end(self, name: str, key: Key, holder: ProcessInfo) -> None:
        """Return when the key has expired; raises `ServiceTaken` when it is renewed."""
        for _ in range(round(TTL / RENEW) + 1):
            await self._clock.sleep(RENEW)
            now = await self._keys.read(name)
            if now is None or now.info is None:
                return
            if now.revision != key.revision or now.info.id != holder.id:
                raise now.info.refusal(self.info)

    async def _renew(self) -> None:
        while True:
            await self._clock.sleep(RENEW)
            await self._renew_once()

    async def _renew_once(self) -> None:
        for name in self._names:
            await self._renew_key(name)

    async def _renew_key(self, name: str) -> None:
        revision = await self._keys.write(name, self.info, self._revisions[name])
        if revision is None:
            # It expired while this process or the broker was stopped, or an answer of the broker was lost.
            key = await self._keys.read(name)
            if key is not None and key.info is not None and key.info.id != self.info.id:
                log.error("the service %s is taken by %s", name, key.info)
                self._lost(key.info)
                return
            revision = await self._keys.write(name, self.info, key.revision if key is not None else 0)
        if revision is not None:
            self._revisions[name] = revision
