"""Keys at the broker."""

from __future__ import annotations

from collections.abc import Callable

from hark.bus.nats.consumers import StreamReader
from hark.bus.nats.jetstream import SECOND, JetStream, StoredEntry


class KeyValue:
    """A bucket of keys, as other NATS clients see it too. Values are written against the revision they replace."""

    def __init__(self, jetstream: JetStream, bucket: str, ttl: float = 0.0, size: int = 1_048_576) -> None:
        self._jetstream = jetstream
        self._size = size
        """Bytes that it can hold."""
        self.bucket = bucket
        self._ttl = ttl
        self._stream = f"KV_{bucket}"

    async def ensure(self) -> int:
        """Create the bucket unless it is there; the last revision of any key."""
        return await self._jetstream.ensure_stream(
            {
                "name": self._stream,
                "subjects": [f"$KV.{self.bucket}.>"],
                "retention": "limits",
                "storage": self._jetstream.connection.options.storage,
                "max_msgs_per_subject": 1,
                "max_bytes": self._size,
                "max_age": int(self._ttl * SECOND),
                "duplicate_window": int(min(self._ttl or 120.0, 120.0) * SECOND),
                "discard": "new",
                "allow_direct": True,
                "allow_rollup_hdrs": True,
                "deny_delete": True,
            }
        )

    async def get(self, key: str) -> StoredEntry | None:
        """The value of a key, with its revision as `sequence`; None where there is none."""
        found = await self._jetstream.last(self._stream, f"$KV.{self.bucket}.{key}")
        return None if found is None or found.headers.get("KV-Operation") else found

    async def set(self, key: str, value: bytes, last: int) -> int:
        """Put a value in place of the one with revision `last` (0: there is none); its own. Raises `WrongRevision`."""
        return await self._jetstream.store(self._stream, f"$KV.{self.bucket}.{key}", value, last)

    async def purge(self, key: str) -> None:
        """Remove a key with all that is known of it."""
        await self._jetstream.ask(f"STREAM.PURGE.{self._stream}", {"filter": f"$KV.{self.bucket}.{key}"})

    async def keys(self) -> list[str]:
        """The keys there are."""
        prefix = f"$KV.{self.bucket}."
        found = await self._jetstream.ask(f"STREAM.INFO.{self._stream}", {"subjects_filter": f"{prefix}>"})
        return [subject.removeprefix(prefix) for subject in found.state.subjects]

    def watch(self, key: str, take: Callable[[StoredEntry], None]) -> StreamReader:
        """A reader of the values of a key (which may have wildcards), to be opened after a revision."""
        return StreamReader(self._jetstream, self._stream, f"$KV.{self.bucket}.{key}", take)
