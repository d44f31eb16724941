"""What Hark uses of JetStream: streams, consumers and keys, over the one ordered connection of a process.

Not `nats-py`'s own context: there every reply and every delivery has a queue of its own, so that a stored entry could
overtake a Message which its author sent before it.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from hark.bus.nats.connection import Interest, NatsConnection, Reply, status_in

log = logging.getLogger("hark.bus")

WITHIN: Final = 1.0
"""Seconds, of real time, in which the broker has to answer before it is asked again."""
_PAUSE: Final = 0.1
"""Seconds between two attempts where the broker refuses for a reason that may pass."""
_WRONG_LAST: Final = 10071
"""The broker's code where the last entry is not the expected one. Some versions leave it out."""
_NO_MESSAGE: Final = 10037
_NONCE: Final = "Hark-Nonce"
_SECOND: Final = 1_000_000_000
"""The API counts in nanoseconds."""


class JetStreamError(Exception):
    """The broker refused a request; the text is its own."""

    def __init__(self, description: str, code: int = 0) -> None:
        super().__init__(description)
        self.code = code


class WrongRevision(JetStreamError):
    """The last entry under a subject is not the one that was expected."""


class StoredEntry(NamedTuple):
    """What is stored under a subject."""

    subject: str
    sequence: int
    """In a bucket of keys: the revision."""
    data: bytes
    headers: Mapping[str, str]


class Delivery(NamedTuple):
    """An entry on its way to one of those who share a consumer."""

    key: str
    """Its message id."""
    data: bytes
    reply: str
    """Where it is acknowledged."""
    number: int
    """How often it was delivered, this time included."""


class _Error(msgspec.Struct):
    description: str = ""
    err_code: int = 0


class _State(msgspec.Struct, frozen=True):
    last_seq: int = 0
    subjects: dict[str, int] = {}


class _Stored(msgspec.Struct):
    subject: str
    seq: int
    data: str = ""
    hdrs: str = ""


class _Answer(msgspec.Struct):
    """The parts that are used of what the API answers."""

    error: _Error | None = None
    seq: int = 0
    name: str = ""
    state: _State = _State()
    message: _Stored | None = None


_decode = msgspec.json.Decoder(_Answer).decode
_encode = msgspec.json.encode


def headers_of(**fields: str) -> bytes:
    """Headers as they are on the wire; an underscore stands for a dash."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return f"NATS/1.0\r\n{lines}\r\n".encode()


def _parsed(headers: bytes) -> dict[str, str]:
    lines = (line.partition(b":") for line in headers.split(b"\r\n")[1:] if b":" in line)
    return {name.decode(errors="replace"): value.strip().decode(errors="replace") for name, _, value in lines}


class JetStream:
    """Requests to the broker's API, each repeated until it is answered."""

    def __init__(self, connection: NatsConnection) -> None:
        self.connection = connection
        self.storing = 0
        """Entries that the broker has not acknowledged yet."""

    async def ensure_stream(self, config: Mapping[str, Any]) -> int:
        """Create a stream, or leave one that is there as it is; the sequence of its last entry."""
        try:
            made = await self.ask(f"STREAM.CREATE.{config['name']}", config)
        except JetStreamError as error:
            log.debug("nats: %s is there, in a form of its own: %s", config["name"], error)
            made = await self.ask(f"STREAM.INFO.{config['name']}", {})
        return made.state.last_seq

    async def ensure_consumer(self, stream: str, config: Mapping[str, Any]) -> None:
        """Create a durable consumer, or bring it to this configuration."""
        durable = config["durable_name"]
        await self.ask(f"CONSUMER.DURABLE.CREATE.{stream}.{durable}", {"stream_name": stream, "config": config})

    async def ask(self, what: str, payload: object) -> _Answer:
        """Ask the API until it answers; raises `JetStreamError` when it refuses."""
        body = _encode(payload)
        while True:
            try:
                return checked(await self.connection.request(f"$JS.API.{what}", body, within=WITHIN))
            except TimeoutError:
                log.debug("nats: no answer to %s", what)

    async def last(self, stream: str, subject: str) -> StoredEntry | None:
        """The last entry under a subject, which may have wildcards."""
        try:
            answer = await self.ask(f"STREAM.MSG.GET.{stream}", {"last_by_subj": subject})
        except JetStreamError as error:
            if error.code == _NO_MESSAGE or "no message found" in str(error):
                return None
            raise
        found = answer.message
        if found is None:
            return None
        headers = _parsed(base64.b64decode(found.hdrs)) if found.hdrs else {}
        return StoredEntry(found.subject, found.seq, base64.b64decode(found.data), headers)

    async def store(self, stream: str, subject: str, data: bytes, last: int, among: str = "") -> int:
        """Store an entry if the last one under `subject` (or `among` several) is that with sequence `last`; its own.

        Repeated until the broker has answered. Raises `WrongRevision` where the last one is another.
        """
        nonce = os.urandom(8).hex()
        fields = {_NONCE: nonce, "Nats-Expected-Last-Subject-Sequence": str(last)}
        if among:
            fields["Nats-Expected-Last-Subject-Sequence-Subject"] = among
        self.storing += 1
        try:
            return await self._store(stream, subject, data, headers_of(**fields), nonce)
        finally:
            self.storing -= 1

    async def _store(self, stream: str, subject: str, data: bytes, headers: bytes, nonce: str) -> int:
        is_repeated = False
        while True:
            try:
                return checked(await self.connection.request(subject, data, headers, WITHIN)).seq
            except TimeoutError:
                is_repeated = True
            except WrongRevision:
                # It may be one's own entry that is in the way: the answer to it was lost.
                found = await self.last(stream, subject) if is_repeated else None
                if found is None or found.headers.get(_NONCE) != nonce:
                    raise
                return found.sequence
            except JetStreamError as error:
                log.error("nats: %s could not be stored: %s", subject, error)
                await asyncio.sleep(_PAUSE)


def checked(reply: Reply) -> _Answer:
    """What the broker answered; raises `JetStreamError` where it refused."""
    if reply.status == 503:
        raise JetStreamError("the NATS server does not offer JetStream (start it with -js)", 503)
    try:
        answer = _decode(reply.data)
    except msgspec.DecodeError as error:
        raise JetStreamError(f"an answer that cannot be read: {error}") from None
    if answer.error is not None:
        told = answer.error
        is_wrong_last = told.err_code == _WRONG_LAST or told.description.startswith("wrong last sequence")
        raise (WrongRevision if is_wrong_last else JetStreamError)(told.description, told.err_code)
    return answer


def _numbers_in(reply: str) -> tuple[int, int]:
    """How often an entry was delivered, and its sequence: both are in the subject where it is acknowledged.

    `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>...`; the longer form has a domain and an account before those.
    """
    words = reply.split(".")
    first = 4 if len(words) < 11 else 6
    return int(words[first]), int(words[first + 1])


class WorkQueue:
    """One's share of the entries of a durable consumer, by one standing request that is renewed."""

    def __init__(self, jetstream: JetStream, stream: str, consumer: str, take: Callable[[Delivery], None]) -> None:
        self._jetstream = jetstream
        self._connection = jetstream.connection
        self._next = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"
        self._take = take
        self._inbox = ""
        self._interest: Interest | None = None
        self._left = 0
        """Entries that the standing request may still bring."""
        self._asked_at = 0.0
        self._watching: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    @property
    def is_open(self) -> bool:
        """Whether entries are taken."""
        return self._interest is not None

    def open(self) -> None:
        """Take entries from now on."""
        if self._interest is None:
            self._inbox = self._connection.new_inbox()
            self._interest = self._connection.subscribe(self._inbox, self._arrived)
            self._connection.on_back.append(self._ask)
            self._ask()
            self._watch()

    def close(self) -> None:
        """Take no more; what was delivered and not acknowledged goes to others."""
        if self._interest is not None:
            self._connection.unsubscribe(self._interest)
            self._connection.on_back.remove(self._ask)
            self._interest = None
            if self._watching is not None:
                self._watching.cancel()

    def _ask(self) -> None:
        self._left = _BATCH
        self._asked_at = self._loop.time()
        request = {"batch": _BATCH, "expires": int(_STANDS * _SECOND)}
        self._connection.publish(self._next, _encode(request), reply=self._inbox)

    def _watch(self) -> None:
        """The broker says when a request has expired; where it does not, it knows nothing of the request any more."""
        if self._connection.connected and self._loop.time() - self._asked_at > 2 * _STANDS:
            self._ask()
        self._watching = self._loop.call_later(_STANDS / 2, self._watch)

    def _arrived(self, _subject: str, reply: str, headers: bytes, data: bytes) -> None:
        if self._interest is None:
            return
        if status_in(headers):  # the request has expired, or the consumer is not to be had at this moment
            self._loop.call_soon(self._ask) if status_in(headers) == 408 else self._loop.call_later(_PAUSE, self._again)
            return
        self._left -= 1
        if self._left <= 0:
            self._ask()
        number, _ = _numbers_in(reply)
        self._take(Delivery(_parsed(headers).get("Nats-Msg-Id", ""), data, reply, number))

    def _again(self) -> None:
        if self._interest is not None:
            self._ask()


_BATCH: Final = 16
_STANDS: Final = 1.0
"""Seconds for which a request for entries stands."""


class StreamReader:
    """Reads the entries under a subject, each once and in order, from a certain one on.

    Its consumer at the broker is made anew after every break, from the first entry on that was not read.
    """

    def __init__(self, jetstream: JetStream, stream: str, subject: str, take: Callable[[StoredEntry], None]) -> None:
        self._jetstream = jetstream
        self._connection = jetstream.connection
        self._stream = stream
        self._filter = subject
        self._take = take
        self.last = 0
        """The sequence of the last entry that was read, or passed over."""
        self._inbox = ""
        self._consumer = ""
        self._left = 0
        self._heard_at = 0.0
        self._interest: Interest | None = None
        self._making: asyncio.Task[None] | None = None
        self._watching: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    async def open(self, after: int) -> None:
        """Read what is stored after the entry with this sequence."""
        self.last = after
        self._inbox = self._connection.new_inbox()
        self._interest = self._connection.subscribe(self._inbox, self._arrived)
        self._connection.on_back.append(self._make_later)
        await self._make()
        self._watch()

    def close(self) -> None:
        """Read no more."""
        if self._interest is not None:
            self._connection.unsubscribe(self._interest)
            self._connection.on_back.remove(self._make_later)
            self._interest = None
        if self._watching is not None:
            self._watching.cancel()
        if self._making is not None:
            self._making.cancel()

    def _make_later(self) -> None:
        if self._making is not None:
            self._making.cancel()
        self._making = self._loop.create_task(self._make())

    async def _make(self) -> None:
        self._consumer = ""
        config = {
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": self.last + 1,
            "filter_subject": self._filter,
            "ack_policy": "none",
            "mem_storage": True,
            "inactive_threshold": 30 * _SECOND,
        }
        while self._interest is not None:
            try:
                request = {"stream_name": self._stream, "config": config}
                self._consumer = (await self._jetstream.ask(f"CONSUMER.CREATE.{self._stream}", request)).name
            except JetStreamError as error:
                log.warning("nats: %s cannot be read: %s", self._stream, error)
                await asyncio.sleep(_PAUSE)
                continue
            self._ask()
            return

    def _ask(self) -> None:
        self._left = _READ
        self._heard_at = self._loop.time()
        request = {"batch": _READ, "expires": int(_READS * _SECOND)}
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._consumer}"
        self._connection.publish(subject, _encode(request), reply=self._inbox)

    def _watch(self) -> None:
        if self._connection.connected and self._consumer and self._loop.time() - self._heard_at > 2 * _READS:
            self._make_later()
        self._watching = self._loop.call_later(_READS / 2, self._watch)

    def _arrived(self, subject: str, reply: str, headers: bytes, data: bytes) -> None:
        status = status_in(headers)
        if status == 408:
            self._ask()
            return
        if status:
            self._loop.call_later(_PAUSE, self._make_later)
            return
        self._heard_at = self._loop.time()
        self._left -= 1
        if self._left <= 0:
            self._ask()
        _, sequence = _numbers_in(reply)
        if sequence > self.last:
            self.last = sequence
            self._take(StoredEntry(subject, sequence, data, _parsed(headers)))


_READ: Final = 256
_READS: Final = 5.0


class KeyValue:
    """A bucket of keys, as other NATS clients see it too. Values are written against the revision they replace."""

    def __init__(self, jetstream: JetStream, bucket: str, ttl: float = 0.0) -> None:
        self._jetstream = jetstream
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
                "storage": "file",
                "max_msgs_per_subject": 1,
                "max_bytes": 1_048_576,
                "max_age": int(self._ttl * _SECOND),
                "duplicate_window": int(min(self._ttl or 120.0, 120.0) * _SECOND),
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

    async def keys(self) -> list[str]:
        """The keys there are."""
        prefix = f"$KV.{self.bucket}."
        found = await self._jetstream.ask(f"STREAM.INFO.{self._stream}", {"subjects_filter": f"{prefix}>"})
        return [subject.removeprefix(prefix) for subject in found.state.subjects]

    def watch(self, key: str, take: Callable[[StoredEntry], None]) -> StreamReader:
        """A reader of the values of a key (which may have wildcards), to be opened after a revision."""
        return StreamReader(self._jetstream, self._stream, f"$KV.{self.bucket}.{key}", take)
