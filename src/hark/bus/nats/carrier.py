"""A way to a NATS server."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from hark.bus.nats.connecting import NoBroker, connected
from hark.bus.nats.options import NatsOptions
from hark.bus.nats.subjects import Subjects, escaped
from hark.bus.nats.writing import Writing
from hark.bus.protocols import EVERYTHING, Receive
from hark.model import Clock, MalformedMessage, Message, SystemClock, Timer, encode
from hark.spec import topics

if TYPE_CHECKING:
    from hark.bus.nats.client import OrderedClient

__all__ = ["NatsCarrier", "NoBroker"]

log = logging.getLogger("hark.bus")

_AGAIN: Final = encode(Message(topics.BUS_AGAIN))
_LAST_WORDS: Final = 2.0
"""Seconds in which the broker must have taken what was sent before `close`."""
_ANEW: Final = 2.0
"""Seconds between two attempts to begin again where the client has given up."""


class NatsCarrier:
    """See `Carrier` for what it promises, as far as NATS does: what is under way when a connection breaks is lost.

    What is sent while there is none waits, and goes out when there is one again, unless it has waited for longer than
    `options.patience` or there is too much of it: then it is dropped, and the log says how much.
    """

    def __init__(self, options: NatsOptions | None = None, clock: Clock | None = None) -> None:
        self.options = options or NatsOptions()
        self._clock = clock or SystemClock()
        self._subjects = Subjects(self.options.prefix)
        self._follows: dict[tuple[str, str], Any] = {}
        """What is followed, each with its subscription once there is a client."""
        self._groups: dict[str, str] = {"": ""}
        """The names of groups by what they are called on NATS."""
        self._writing = Writing(self.options.outbox, self._clock, lambda: self._client if self.connected else None)
        self._client: OrderedClient | None = None
        self._receive: Receive | None = None
        self._up = False
        self._down_since: float | None = None
        self._regrouping: Timer | None = None
        self._reviving: asyncio.Task[None] | None = None
        """Begins anew where the client has given up."""
        self._inbox = ""
        self._flushes: dict[bytes, asyncio.Future[None]] = {}
        self._marks = count(1)
        self._closing = False
        self._loop: asyncio.AbstractEventLoop

    @property
    def connected(self) -> bool:
        """Whether there is a connection, as far as anybody can tell."""
        return self._up and self._client is not None and self._client.is_connected

    async def open(self, receive: Receive) -> None:
        """As promised by `Carrier`; raises `NoBroker`, which says why, when no server lets us in."""
        self._receive = receive
        self._loop = asyncio.get_running_loop()
        await self._begin()

    def send(self, topic: str, frame: bytes) -> None:
        """As promised by `Carrier`; raises `MalformedMessage` for what is larger than the server takes."""
        most = self._client.max_payload if self._client is not None else len(frame)
        if len(frame) > most:
            raise MalformedMessage(
                f"{topic[:100]} has {len(frame)} bytes and the NATS server takes {most} at most (its max_payload)"
            )
        self._writing.add(b"PUB %s %d\r\n%b\r\n" % (self._subjects.of(topic).encode(), len(frame), frame))

    def follow(self, topic: str, group: str = "") -> None:
        """As promised by `Carrier`."""
        if (topic, group) not in self._follows:
            self._follows[topic, group] = None
            if self._client is not None:
                self._writing.add(self._subscribe(self._client, topic, group))

    def unfollow(self, topic: str, group: str = "") -> None:
        """As promised by `Carrier`."""
        subscription = self._follows.pop((topic, group), None)
        if subscription is not None and self._client is not None:
            self._writing.add(self._client.end(subscription))

    async def flush(self) -> None:
        """As promised by `Carrier`; while there is no connection, it waits for one."""
        # Not the client's own: its question overtakes what waits to be written.
        mark = b"%d" % next(self._marks)
        passed = self._flushes[mark] = asyncio.get_running_loop().create_future()
        self._ask(mark)
        try:
            await passed
        finally:
            del self._flushes[mark]

    async def close(self) -> None:
        """As promised by `Carrier`."""
        if self._closing:
            return
        if self.connected:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.flush(), _LAST_WORDS)
        self._closing = True
        if len(self._writing.outbox):
            log.warning("nats: closed with %d commands unsent", len(self._writing.outbox))
        await self._writing.close()
        if self._reviving is not None:
            self._reviving.cancel()
            await asyncio.wait([self._reviving])
        if self._regrouping is not None:
            self._regrouping.cancel()
        for waiting in self._flushes.values():
            waiting.cancel()
        self._receive = None
        self._up = False
        if self._client is not None:
            await self._client.close()

    async def _begin(self) -> None:
        """Connect, with a client of its own, and follow what is followed."""
        client = await connected(self.options, self._delivered, self._lost, self._back, self._given_up)
        self._client = client
        self._inbox = client.new_inbox()
        commands = [client.subscription(self._inbox, "")[1]]
        commands += [self._subscribe(client, *followed) for followed in self._follows]
        client.write(commands)
        await self._back()

    def _subscribe(self, client: OrderedClient, topic: str, group: str) -> bytes:
        queue = escaped(group) if group else ""
        self._groups[queue] = group
        self._follows[topic, group], command = client.subscription(self._subjects.of(topic), queue)
        return command

    def _ask(self, mark: bytes) -> None:
        """Send ourselves something: when it is back, the broker has what was sent before."""
        if self._inbox:
            self._writing.add(b"PUB %s %d\r\n%b\r\n" % (self._inbox.encode(), len(mark), mark))

    def _delivered(self, subject: str, queue: str, frame: bytes) -> None:
        if subject == self._inbox:
            passed = self._flushes.get(frame)
            if passed is not None and not passed.done():
                passed.set_result(None)
        elif self._receive is not None:
            way = EVERYTHING if subject == self._subjects.everything else self._groups.get(queue, queue)
            try:
                self._receive(frame, way)
            except Exception:  # the client would read no more
                log.exception("nats: what came on %s could not be taken in", subject)

    async def _lost(self) -> None:
        """The connection broke; the client tries to get another one."""
        if self._regrouping is not None:
            self._regrouping.cancel()
        if self._up and not self._closing:
            self._up = False
            self._down_since = self._clock.monotonic()
            log.warning("nats: the connection is lost; what is sent now has to wait")

    async def _back(self) -> None:
        """There is a connection, and what is followed was asked for on it."""
        if self._down_since is None:
            self._resume()
        else:
            self._regrouping = self._clock.after(self.options.regroup, self._resume)

    def _resume(self) -> None:
        """Send what is to be sent, from now on."""
        self._up = True
        if self._down_since is None:
            self._writing.resume()
            return
        away, self._down_since = self._clock.monotonic() - self._down_since, None
        self._writing.outbox.drop_before(self._clock.monotonic() - self.options.patience)
        unsent = self._writing.outbox.report()
        log.warning("nats: connected again after %.1f s; %d commands were not sent", away, unsent)
        for mark in self._flushes:
            self._ask(mark)
        self._writing.resume()
        if self._receive is not None:
            self._receive(_AGAIN, "")

    async def _given_up(self) -> None:
        """The client will not try any more: the server has turned it out."""
        await self._lost()
        if not self._closing and self._client is not None:
            log.error("nats: the server has closed the connection: %s", self._client.last_error)
            self._reviving = self._loop.create_task(self._anew())

    async def _anew(self) -> None:
        while not self._closing:
            await self._clock.sleep(_ANEW)
            try:
                await self._begin()
            except NoBroker as error:
                log.error("nats: %s", error)
            else:
                return
