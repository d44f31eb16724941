"""A connection to a NATS server that is kept up, with what is subscribed and what is asked on it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hark import hints
from hark.bus.nats.options import KNOWN_USERS, NatsOptions
from hark.bus.nats.outgoing import Writing
from hark.model import Clock, Timer

if TYPE_CHECKING:
    from hark.bus.nats.client import Callback, OrderedClient

log = logging.getLogger("hark.bus")

_ATTEMPT: Final = 2
"""Seconds for one attempt to connect."""
_LAST_WORDS: Final = 2.0
"""Seconds in which the broker must have taken what was sent before `close`."""
_ANEW: Final = 2.0
"""Seconds between two attempts to begin again where the client has given up."""


class NoBroker(ConnectionError):
    """No server accepts the connection; the text says where was tried and what was answered."""


class Reply(NamedTuple):
    """What was answered to a request."""

    status: int
    """As in HTTP; 0 where there is none, 503 where no process listens to the subject."""
    data: bytes


class Interest:
    """One subscription, over all connections there will be."""

    __slots__ = ("callback", "queue", "sid", "subject")

    def __init__(self, subject: str, queue: str, callback: Callback) -> None:
        self.subject = subject
        self.queue = queue
        self.callback = callback
        self.sid = 0
        """Its number at the client, once there is one."""


class NatsConnection:
    """Sends in order, keeps subscriptions over reconnects, and asks for replies.

    What is sent while there is no connection waits, and goes out when there is one again, unless it has waited for
    longer than `options.patience` or there is too much of it: then it is dropped, and the log says how much.
    """

    def __init__(self, options: NatsOptions, clock: Clock) -> None:
        self.options = options
        self._clock = clock
        self._interests: dict[Interest, None] = {}
        self._writing = Writing(options.outbox, clock, lambda: self.client if self.connected else None)
        self.client: OrderedClient | None = None
        self._up = False
        self._is_up = asyncio.Event()
        self._down_since: float | None = None
        self._regrouping: Timer | None = None
        self._reviving: asyncio.Task[None] | None = None
        """Begins anew where the client has given up."""
        self._inbox = ""
        self._flushes: dict[str, asyncio.Future[None]] = {}
        self._replies: dict[str, asyncio.Future[Reply]] = {}
        self._marks = count(1)
        self._closing = False
        self.on_lost: list[Callable[[], None]] = []
        self.on_back: list[Callable[[], None]] = []
        """Called when there is a connection again."""
        self._loop: asyncio.AbstractEventLoop

    @property
    def connected(self) -> bool:
        """Whether there is a connection, as far as this process can know."""
        return self._up and self.client is not None and self.client.is_connected

    @property
    def max_payload(self) -> int | None:
        """Bytes that the server takes in one message; None before there was a connection."""
        return self.client.max_payload if self.client is not None else None

    async def open(self) -> None:
        """Connect; raises `NoBroker`."""
        self._loop = asyncio.get_running_loop()
        await self._begin()

    def publish(self, subject: str, payload: bytes, headers: bytes = b"", reply: str = "") -> None:
        """Send a message; `headers` as they are on the wire."""
        to = f"{subject} {reply}" if reply else subject
        if headers:
            sizes = len(headers), len(headers) + len(payload)
            self._writing.add(b"HPUB %s %d %d\r\n%b%b\r\n" % (to.encode(), *sizes, headers, payload))
        else:
            self._writing.add(b"PUB %s %d\r\n%b\r\n" % (to.encode(), len(payload), payload))

    def subscribe(self, subject: str, callback: Callback, queue: str = "") -> Interest:
        """Call `callback` for what comes on a subject, as one of a queue group if one is named."""
        interest = Interest(subject, queue, callback)
        self._interests[interest] = None
        if self.client is not None:
            self._writing.add(self._begin_interest(self.client, interest))
        return interest

    def unsubscribe(self, interest: Interest) -> None:
        """Call it no longer."""
        if self._interests.pop(interest, interest) is None and interest.sid and self.client is not None:
            self._writing.add(self.client.end(interest.sid))

    def new_inbox(self) -> str:
        """A subject that no other connection uses."""
        return f"{self._inbox}.to.{next(self._marks)}"

    async def request(self, subject: str, payload: bytes, headers: bytes = b"", within: float = 1.0) -> Reply:
        """Send a message and return what is answered to it; raises `TimeoutError` after `within` seconds of real time.

        While there is no connection, nothing is sent.
        """
        mark = str(next(self._marks))
        answered: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._replies[mark] = answered
        try:
            async with asyncio.timeout(within):
                await self._is_up.wait()
                self.publish(subject, payload, headers, f"{self._inbox}.{mark}")
                return await answered
        finally:
            del self._replies[mark]

    async def flush(self) -> None:
        """Return when the server has taken what was sent; while there is no connection, this waits for one."""
        # Not the client's own: its question overtakes what waits to be written.
        mark = f"f{next(self._marks)}"
        passed = self._flushes[mark] = asyncio.get_running_loop().create_future()
        self._ask(mark)
        try:
            await passed
        finally:
            del self._flushes[mark]

    async def close(self) -> None:
        """Send what was not sent yet, then disconnect."""
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
        for flushing in self._flushes.values():
            flushing.cancel()
        for asking in self._replies.values():
            asking.cancel()
        self._interests.clear()
        self._up = False
        self._is_up.clear()
        if self.client is not None:
            await self.client.close()

    async def _begin(self) -> None:
        """Connect, with a client of its own, and subscribe to what is subscribed."""
        client = await connected(self.options, self._lost, self._back, self._given_up)
        self.client = client
        self._inbox = client.new_inbox()
        commands = [client.subscription(f"{self._inbox}.*", "", self._answered)[1]]
        commands += [self._begin_interest(client, interest) for interest in self._interests]
        client.write(commands)
        await self._back()

    def _begin_interest(self, client: OrderedClient, interest: Interest) -> bytes:
        interest.sid, command = client.subscription(interest.subject, interest.queue, interest.callback)
        return command

    def _ask(self, mark: str) -> None:
        """Send ourselves something: when it is back, the server has what was sent before."""
        if self._inbox:
            self.publish(f"{self._inbox}.{mark}", b"")

    def _answered(self, subject: str, _reply: str, headers: bytes, data: bytes) -> None:
        mark = subject.rpartition(".")[2]
        if mark.startswith("f"):
            passed = self._flushes.get(mark)
            if passed is not None and not passed.done():
                passed.set_result(None)
            return
        answered = self._replies.get(mark)
        if answered is not None and not answered.done():
            answered.set_result(Reply(status_in(headers), data))

    async def _lost(self) -> None:
        """The connection broke; the client tries to get another one."""
        if self._regrouping is not None:
            self._regrouping.cancel()
        if self._up and not self._closing:
            self._up = False
            self._is_up.clear()
            self._down_since = self._clock.monotonic()
            log.warning("nats: the connection is lost; what is sent now has to wait")
            for notify in self.on_lost:
                notify()

    async def _back(self) -> None:
        """There is a connection, and what is subscribed was asked for on it."""
        if self._down_since is None:
            self._resume()
        else:
            self._regrouping = self._clock.after(self.options.regroup, self._resume)

    def _resume(self) -> None:
        """Send what is to be sent, from now on."""
        self._up = True
        self._is_up.set()
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
        for notify in self.on_back:
            notify()

    async def _given_up(self) -> None:
        """The client will not try any more: the server has closed the connection for good."""
        await self._lost()
        if not self._closing and self.client is not None:
            log.error("nats: the server has closed the connection: %s", self.client.last_error)
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


def status_in(headers: bytes) -> int:
    """The status that the server puts into the first line of headers, as in `NATS/1.0 408 Request Timeout`."""
    line = headers.partition(b"\r\n")[0].split(b" ", 2)
    return int(line[1]) if len(line) > 1 and line[1].isdigit() else 0


Notify = Callable[[], Awaitable[None]]


async def connected(options: NatsOptions, lost: Notify, back: Notify, given_up: Notify) -> OrderedClient:
    """A client that is connected, and from now on keeps up the connection by itself; raises `NoBroker`."""
    try:
        from hark.bus.nats.client import OrderedClient
    except ImportError as error:
        raise NoBroker(f"{error.name} is not installed: {hints.install_extra('nats')}") from error
    client = OrderedClient()
    refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    said = "no answer"

    async def trouble(error: Exception) -> None:
        nonlocal said
        log.debug("nats: %s", error)
        if refused.done():  # what came of that says less: the server hangs up on whom it refuses
            return
        said = _reason(error)
        if "authoriz" in said.lower():
            refused.set_result(None)

    connecting = asyncio.ensure_future(client.connect(error_cb=trouble, **_arguments(options, lost, back, given_up)))
    await asyncio.wait({connecting, refused}, timeout=options.connect_within, return_when=asyncio.FIRST_COMPLETED)
    if connecting.done() and connecting.exception() is None:
        refused.cancel()
        return client
    refusal = refused.done()
    refused.cancel()
    while not connecting.done():  # one cancellation may be lost in `asyncio.wait_for` (Python 3.11)
        connecting.cancel()
        await asyncio.wait({connecting}, timeout=0.05)
    if not connecting.cancelled() and connecting.exception() is not None:
        said = _reason(connecting.exception())
    await _abandon(client)
    where = ", ".join(server.rpartition("@")[2] for server in options.servers)  # without what is secret in it
    if refusal:
        raise NoBroker(f"the NATS server at {where} does not accept the connection: {said}")
    raise NoBroker(f"no NATS server could be reached at {where} within {options.connect_within:g} s: {said}")


def _reason(error: BaseException | None) -> str:
    if isinstance(error, ConnectionError) and error.errno is not None:
        return os.strerror(error.errno)  # asyncio's own text repeats the address
    if isinstance(error, TimeoutError):
        return "it does not answer as a NATS server does"
    return str(error) or type(error).__name__


async def _abandon(client: Any) -> None:
    client._closed_cb = client._disconnected_cb = None  # it never was connected: there is nothing to report
    await client.close()


def _arguments(options: NatsOptions, lost: Notify, back: Notify, given_up: Notify) -> dict[str, Any]:
    return {
        "servers": list(options.servers),
        "name": options.name,
        "token": options.token,
        "user": options.user,
        "inbox_prefix": f"_INBOX.{options.user}" if options.user in KNOWN_USERS else "_INBOX",
        "password": options.password,
        "user_credentials": options.credentials,
        "tls": options.tls,
        "connect_timeout": _ATTEMPT,
        "reconnect_time_wait": options.retry,
        "max_reconnect_attempts": -1,
        "ping_interval": options.ping,
        "disconnected_cb": lost,
        "reconnected_cb": back,
        "closed_cb": given_up,
    }
