"""Who sends what to a server: clients that count their Messages, also over several connections."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, NamedTuple

from hark.bus.websocket.door import LOCAL
from hark.bus.websocket.rights import Key

_MOST: Final = 10_000
"""Senders of which it is known how far they are."""


class Mark(NamedTuple):
    """What tells a Message from all others."""

    text: str
    again: bool = False
    """Whether it was sent to a server before this one, which may have handed it on."""


UNMARKED: Final = Mark("")


class Senders:
    """How far each sender is: what comes a second time, over another connection, is known."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}

    def knows(self, name: str) -> bool:
        """Whether anything came from a sender."""
        return name in self._last

    def is_new(self, name: str, number: int) -> bool:
        """Whether the how many-th Message of a sender did not come before; from now on it has."""
        if number <= self._last.get(name, 0):
            return False
        self._last.pop(name, None)
        self._last[name] = number
        if len(self._last) > _MOST:
            del self._last[next(iter(self._last))]
        return True


class Sender:
    """One connection of a sender. Each of its Messages has the next number."""

    def __init__(self, senders: Senders, name: str, first: int = 1, fresh: int = 1) -> None:
        self.name = name
        self.number = first - 1
        """Of the Message that came last."""
        self._senders = senders
        self._fresh = fresh if not senders.knows(name) else first
        """The number of the first Message that no server before this one was sent."""

    def next(self) -> Mark | None:
        """The mark of the Message that came; None if it came before."""
        self.number += 1
        if not self._senders.is_new(self.name, self.number):
            return None
        return Mark(f"{self.name}:{self.number}", self.number < self._fresh)


def sender_name(key: Key, origin: str) -> str:
    """What a client is called by; nobody can be called as a client with another token is."""
    if key is LOCAL:
        return origin
    return blake2b(f"{key.name}\n{key.mark}".encode(), digest_size=8).hexdigest() + origin
