"""Telling clients which of their Messages need not be sent again."""

from __future__ import annotations

from typing import Final, Protocol

from hark.model import Clock, Timer

_AFTER: Final = 1.0
"""Seconds, up to twice as many, after which whoever got a Message has read it, or is slow."""


class Counting(Protocol):
    """A client that counts its Messages."""

    @property
    def number(self) -> int:
        """Of the last that came."""

    def confirm(self, number: int) -> None:
        """Tell it that all up to this one need not be sent again."""


class Receipts:
    """Confirms what came, not at once but a moment later: what was handed on has arrived by then.

    A client whose connection breaks may lose what it has not read yet, and only who sent it can send it again.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._due: dict[Counting, int] = {}
        """Clients, each with the number that is confirmed next."""
        self._timer: Timer | None = None

    def came(self, client: Counting) -> None:
        """A Message came from a client."""
        if client not in self._due:
            self._due[client] = client.number - 1
            if self._timer is None:
                self._timer = self._clock.after(_AFTER, self._tell)

    def left(self, client: Counting) -> None:
        """A client is gone."""
        self._due.pop(client, None)

    def close(self) -> None:
        """Confirm nothing more."""
        if self._timer is not None:
            self._timer.cancel()
        self._due.clear()

    def _tell(self) -> None:
        for client, number in list(self._due.items()):
            client.confirm(number)
            if number == client.number:
                del self._due[client]
            else:
                self._due[client] = client.number
        self._timer = self._clock.after(_AFTER, self._tell) if self._due else None
