"""How much one client may take."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """Bounds of a websocket server, of each client unless it says otherwise."""

    message: int = 4_194_304
    """Bytes of one Message; who sends more is disconnected."""
    backlog: int = 33_554_432
    """Bytes that wait for a client to read them, beyond which it is disconnected."""
    backlogs: int = 268_435_456
    """Bytes that wait for all clients together, beyond which the one with the most is disconnected."""
    connections: int = 256
    """Clients at once; others are turned away."""
    rate: float = 20_000.0
    """Messages a second, over time; who sends more is read more slowly. 0 for no limit."""
    burst: int = 40_000
    """Messages that may come at once before that."""
    handshake: float = 5.0
    """Seconds until a connection has to be a websocket."""
    follows: int = 10_000
    """Topics a client may follow."""


class Bucket:
    """A token bucket: so many a second, and some more at once."""

    __slots__ = ("_at", "_burst", "_left", "_rate")

    def __init__(self, rate: float, burst: int, now: float) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._left = self._burst
        self._at = now

    def take(self, count: int, now: float) -> float:
        """Take some; the seconds after which there are any again, 0 when there are."""
        if not self._rate:
            return 0.0
        self._left = min(self._burst, self._left + (now - self._at) * self._rate) - count
        self._at = now
        return -self._left / self._rate if self._left < 0 else 0.0
