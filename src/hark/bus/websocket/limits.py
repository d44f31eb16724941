"""What one client may use of a server: bytes, connections, Messages a second, registrations, log lines."""

from __future__ import annotations

import logging
import os
from itertools import count
from typing import Final

import msgspec

from hark.model import Clock

_LOG_EVERY: Final = 10.0


class ServerLimits(msgspec.Struct, frozen=True):
    """Bounds of a websocket server; for each client, unless the field says otherwise."""

    message: int = 4_194_304
    """Bytes of one Message; a client that sends a larger one is disconnected."""
    backlog: int = 33_554_432
    """Bytes that wait for a client to read them; beyond that it is disconnected."""
    backlogs: int = 268_435_456
    """Bytes that wait for all clients together; beyond that the slowest client is disconnected."""
    connections: int = 256
    """Clients at once; further ones are refused."""
    client_connections: int = 128
    """Connections at once with one token, and of all local clients without one; further ones are refused."""
    rate: float = 20_000.0
    """Messages a second, over time; a client that sends more is read more slowly. 0 for no limit."""
    burst: int = 40_000
    """Messages that may come at once before that."""
    byte_rate: float = 16_777_216.0
    """Bytes a second, over time, of all connections with one token; beyond that they are read more slowly. 0 for no
    limit."""
    byte_burst: int = 67_108_864
    """Bytes that may come at once before that."""
    work_rate: float = 0.25
    """Seconds of the event loop that handling what a client sends may take, a second, over time. What the client sends
    beyond that is handled while no other client waits, and more slowly otherwise. 0 for no limit."""
    work_burst: float = 0.05
    """Seconds that it may take at once before that."""
    registrations: int = 5_000
    """Intents and entities that a client may have registered; further ones are dropped. All local clients without a
    token together may have twice as many: they cannot be distinguished."""
    registration_bytes: int = 8_388_608
    """Bytes of the Messages that registered them."""
    all_registration_bytes: int = 67_108_864
    """The same for all clients together."""
    handshake: float = 5.0
    """Seconds in which a new connection has to become a websocket."""
    follows: int = 10_000
    """Topics that a client may follow."""
    follow_bytes: int = 1_048_576
    """Bytes of the names of these topics."""
    flushes: int = 1_000
    """Flushes of a client that wait for the bus at once."""


class TokenBucket:
    """A rate limit: so many a second, and some more at once."""

    __slots__ = ("_at", "_burst", "_left", "_rate")

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = self._left = float(burst)
        self._at = now

    def take(self, count: float, now: float) -> float:
        """Take some; the seconds after which there are any again, 0 when there are."""
        if not self._rate:
            return 0.0
        self._left = min(self._burst, self._left + (now - self._at) * self._rate) - count
        self._at = now
        return -self._left / self._rate if self._left < 0 else 0.0


_PROCESS: Final = os.urandom(4).hex()
_numbers = count(1)


class ClientUsage:
    """What one client uses: all connections with one token together, or one local connection without a token."""

    def __init__(self, limits: ServerLimits, now: float) -> None:
        self.id = f"{_PROCESS}-{next(_numbers)}"
        """In the context of its utterances: whose they are."""
        self.bytes = TokenBucket(limits.byte_rate, limits.byte_burst, now)
        self.registrations = 0
        self.registration_bytes = 0
        self._work = TokenBucket(limits.work_rate, limits.work_burst, now)
        self._over_share_until = now

    def charge(self, seconds: float, now: float) -> None:
        """Count the time that handling something of the client took."""
        self._over_share_until = now + self._work.take(seconds, now)

    def is_over_share(self, now: float) -> bool:
        """Whether handling what the client sent has taken more than its share of the event loop."""
        return now < self._over_share_until


class ThrottledLog:
    """Writes one line of a kind every ten seconds, with the number it left out: clients cannot fill the log."""

    def __init__(self, log: logging.Logger, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._next: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def warning(self, text: str, *details: object) -> None:
        """Write a line; lines with the same `text` are of one kind, whatever their details."""
        now = self._clock.monotonic()
        if now < self._next.get(text, now):
            self._left_out[text] = self._left_out.get(text, 0) + 1
            return
        self._next[text] = now + _LOG_EVERY
        missing = self._left_out.pop(text, 0)
        self._log.warning(text + (f" (and {missing} more like it)" if missing else ""), *details)
