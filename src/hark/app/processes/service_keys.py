"""Claims to services as keys in a bucket of NATS. Needs the extra `nats`.

Each key expires unless its process renews it, so a process that was killed or hangs loses its services by itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

import msgspec
import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.js.api import StorageType
from nats.js.kv import KeyValue

from hark.app.processes.claims import ProcessInfo
from hark.app.trouble import Trouble
from hark.model import Clock

log = logging.getLogger("hark.app")

TTL: Final = 3.0
"""Seconds after which a key that was not renewed is gone."""
RENEW: Final = 0.75
"""Seconds between two renewals."""
_FREE: Final = b"free"
"""The value of a key that was given up: deleting it could delete the key of the next process."""
_SIZE: Final = 1024 * 1024
_REFUSED: Final = 400
"""The code of an error when a key has another revision than expected; the client does not always name it further."""


class Key(msgspec.Struct, frozen=True):
    """What a key holds: the process that has it, if it is taken."""

    info: ProcessInfo | None
    revision: int


class ServiceKeys:
    """The bucket of one assistant: `await ServiceKeys.open(...)`. See `Members` for what it promises."""

    def __init__(self, client: Client, values: KeyValue, stream: str) -> None:
        self._client = client
        self._values = values
        self._stream = stream

    @classmethod
    async def open(cls, client: Client, prefix: str) -> ServiceKeys:
        """Make the bucket, or find it; raises `Trouble` when the server has no JetStream."""
        bucket = f"{prefix.strip('.').replace('.', '_')}_services"
        context = client.jetstream(timeout=2.0)
        try:
            values = await context.create_key_value(
                bucket=bucket, ttl=TTL, history=1, storage=StorageType.FILE, max_bytes=_SIZE
            )
        except nats.js.errors.ServiceUnavailableError:
            raise Trouble("the NATS server has no JetStream: set jetstream in its configuration") from None
        except nats.js.errors.BadRequestError:  # another version of Hark made it, with other limits
            values = await context.key_value(bucket)
        except nats.errors.NoRespondersError:
            raise Trouble("the NATS server has no JetStream: set jetstream in its configuration") from None
        return cls(client, values, f"KV_{bucket}")

    async def present(self) -> list[ProcessInfo]:
        found: dict[str, ProcessInfo] = {}
        try:
            names = await self.names()
            for key in await asyncio.gather(*map(self.read, names)):
                if key is not None and key.info is not None and not key.info.is_gone:
                    found[key.info.id] = key.info
        except (nats.errors.Error, OSError) as error:
            log.debug("the services cannot be listed: %s", error)
        return list(found.values())

    async def names(self) -> list[str]:
        """The keys there are."""
        info = await self._client.jetstream(timeout=2.0).stream_info(self._stream, subjects_filter=">")
        return [subject.split(".", 2)[2] for subject in info.state.subjects or {}]

    async def read(self, name: str) -> Key | None:
        """A key, if it is there."""
        try:
            entry = await self._values.get(name)
        except nats.js.errors.KeyNotFoundError:
            return None
        try:
            info = msgspec.json.decode(entry.value or b"", type=ProcessInfo)
        except msgspec.DecodeError:
            info = None
        return Key(info, entry.revision or 0)

    async def write(self, name: str, info: ProcessInfo | None, revision: int) -> int | None:
        """Write a key that has this revision, or none if it is 0; the new revision, or None if it has another one."""
        value = msgspec.json.encode(info) if info is not None else _FREE
        try:
            return await self._values.update(name, value, last=revision)
        except nats.js.errors.KeyWrongLastSequenceError:
            return None
        except nats.js.errors.APIError as error:
            if error.code == _REFUSED:
                return None
            raise


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
        try:
            await self._refuse_other_kind()
            self.info = msgspec.structs.replace(self.info, is_settled=True)
            for name in self._names:
                self._revisions[name] = await self._take(name)
        except (nats.errors.Error, OSError) as error:
            raise Trouble(f"the services cannot be claimed: {error or type(error).__name__}") from None
        self._renewing = asyncio.ensure_future(self._renew())

    async def ready(self) -> None:
        self.info = msgspec.structs.replace(self.info, is_ready=True)
        await self._renew_once()

    async def leave(self) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)
        for name, revision in self._revisions.items():
            try:
                await self._keys.write(name, None, revision)
            except (nats.errors.Error, OSError) as error:
                log.debug("the claim to %s expires by itself: %s", name, error)

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
                if key.info.host == self.info.host:
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
            try:
                await self._renew_key(name)
            except (nats.errors.Error, OSError) as error:  # the broker is away: when it is back, the key may be gone
                log.debug("the claim to %s is not renewed: %s", name, error)

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
