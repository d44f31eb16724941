"""Reading streams: one's share of a queue, and the entries of a log, each once and in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from hark.bus.nats.connection import Interest, status_in
from hark.bus.nats.jetstream import PAUSE, SECOND, JetStream, JetStreamError, StoredEntry, parsed

log = logging.getLogger("hark.bus")

_BATCH: Final = 16
"""Entries of a queue for which one request asks: what one worker has asked for, another does not get."""
_STANDS: Final = 1.0
"""Seconds for which such a request stands."""
_READ: Final = 256
"""Entries of a log for which one request asks."""
_READS: Final = 5.0
"""Seconds for which that one stands."""


class Delivery(NamedTuple):
    """An entry as it is delivered to one of the processes that share a queue."""

    key: str
    """Its message id."""
    data: bytes
    reply: str
    """Where it is acknowledged."""
    number: int
    """How often it was delivered, this time included."""


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
        request = {"batch": _BATCH, "expires": int(_STANDS * SECOND)}
        self._connection.publish(self._next, msgspec.json.encode(request), reply=self._inbox)

    def _watch(self) -> None:
        """The broker says when a request has expired; where it does not, it knows nothing of the request any more."""
        if self._connection.connected and self._loop.time() - self._asked_at > 2 * _STANDS:
            self._ask()
        self._watching = self._loop.call_later(_STANDS / 2, self._watch)

    def _arrived(self, _subject: str, reply: str, headers: bytes, data: bytes) -> None:
        if self._interest is None:
            return
        if status_in(headers):  # the request has expired, or the consumer is not to be had at this moment
            self._loop.call_soon(self._ask) if status_in(headers) == 408 else self._loop.call_later(PAUSE, self._again)
            return
        self._left -= 1
        if self._left <= 0:
            self._ask()
        number, _ = _numbers_in(reply)
        self._take(Delivery(parsed(headers).get("Nats-Msg-Id", ""), data, reply, number))

    def _again(self) -> None:
        if self._interest is not None:
            self._ask()


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
            "inactive_threshold": 30 * SECOND,
        }
        while self._interest is not None:
            try:
                request = {"stream_name": self._stream, "config": config}
                self._consumer = (await self._jetstream.ask(f"CONSUMER.CREATE.{self._stream}", request)).name
            except JetStreamError as error:
                log.warning("nats: %s cannot be read: %s", self._stream, error)
                await asyncio.sleep(PAUSE)
                continue
            self._ask()
            return

    def _ask(self) -> None:
        self._left = _READ
        self._heard_at = self._loop.time()
        request = {"batch": _READ, "expires": int(_READS * SECOND)}
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._consumer}"
        self._connection.publish(subject, msgspec.json.encode(request), reply=self._inbox)

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
            self._loop.call_later(PAUSE, self._make_later)
            return
        self._heard_at = self._loop.time()
        self._left -= 1
        if self._left <= 0:
            self._ask()
        _, sequence = _numbers_in(reply)
        if sequence > self.last:
            self.last = sequence
            self._take(StoredEntry(subject, sequence, data, parsed(headers)))
