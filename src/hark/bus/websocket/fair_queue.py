"""What clients sent and what has to wait: clients take turns on the event loop, a little at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from hark.model import Clock

if TYPE_CHECKING:
    from hark.bus.websocket.connection import ClientConnection

SLICE: Final = 0.001
"""Seconds of work for one client before others have a turn."""
_RECENT: Final = 0.1
"""Seconds for which a client that sent something counts as one that may wait for an answer."""
_REST: Final = 3
"""How many times as long as their work took clients over their share wait, while others are served."""

_LONGEST_REST: Final = 0.5
"""Seconds after which one of them has a turn all the same: on a busy machine an honest client may be among them."""


class FairQueue:
    """Handles what connections have in their inbox, for `SLICE` seconds each in turn.

    Connections of clients that are within their share of the event loop (`ServerLimits.work_rate`) have a turn in every
    round of the loop. Those of all others together have a quarter of its time while any other client is active, and all
    of it otherwise. `flush` is called after each turn, to send what came of it.
    """

    def __init__(self, clock: Clock, flush: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._clock = clock
        self._flush = flush
        self._prompt: deque[ClientConnection] = deque()
        self._late: deque[ClientConnection] = deque()
        self._serves_prompt = False
        self._serves_late = False
        self._late_from = 0.0
        """When clients over their share have a turn again, while others are active."""
        self._active = -_RECENT
        """When a client within its share last sent something."""

    def note_activity(self, now: float) -> None:
        """A client within its share sent something."""
        self._active = now

    def note_late_work(self, seconds: float, now: float) -> None:
        """Work for a client over its share took so long: such clients wait, while others are served."""
        self._late_from = min(max(self._late_from, now) + seconds * _REST, now + _LONGEST_REST)

    def add(self, connection: ClientConnection) -> None:
        """Give a connection a turn, and further ones while it has something in its inbox."""
        now = self._clock.monotonic()
        if connection.usage.is_over_share(now):
            self._late.append(connection)
            self._serve_late_soon(now)
        else:
            self._prompt.append(connection)
            if not self._serves_prompt:
                self._serves_prompt = True
                self._loop.call_soon(self._serve_prompt)

    def _serve_prompt(self) -> None:
        self._serves_prompt = False
        connection = self._prompt.popleft()
        try:
            self._serve(connection)
        finally:
            if self._prompt and not self._serves_prompt:
                self._serves_prompt = True
                self._loop.call_soon(self._serve_prompt)

    def _serve_late_soon(self, now: float) -> None:
        if self._serves_late:
            return
        self._serves_late = True
        if now < self._late_from and now - self._active < _RECENT:
            self._clock.after(self._late_from - now, self._serve_late)
        else:
            self._loop.call_soon(self._serve_late)

    def _serve_late(self) -> None:
        connection = self._late.popleft()
        began = self._clock.monotonic()
        try:
            self._serve(connection)
        finally:
            self._serves_late = False
            now = self._clock.monotonic()
            self.note_late_work(now - began, now)
            if self._late:
                self._serve_late_soon(now)

    def _serve(self, connection: ClientConnection) -> None:
        try:
            connection.work()
        finally:
            self._flush()
            if connection.has_work:
                self.add(connection)
