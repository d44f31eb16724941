"""What a client remembers from one connection to the next."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from hark.bus.carrier import EVERYTHING
from hark.bus.websocket.protocol import AGAIN, BACK, FOLLOW, HAD, HELLO, command
from hark.bus.websocket.seen import Seen
from hark.bus.websocket.unconfirmed import Unconfirmed


class Correspondence:
    """What was sent and may be lost, and what came and may come again: a server may be killed with Messages in it."""

    def __init__(self, bound: int) -> None:
        self.origin = os.urandom(8).hex()
        self.unconfirmed = Unconfirmed(bound)
        self.seen = Seen()
        self._is_known = False
        """Whether a server was told of us, be it this one or one before."""

    def opening(self, followed: Iterable[tuple[str, str]]) -> Iterator[bytes]:
        """The commands a connection begins with; after them comes what is unconfirmed."""
        first, fresh = self.unconfirmed.first, self.unconfirmed.next
        yield command(AGAIN, self.origin, first, fresh) if self._is_known else command(HELLO, self.origin)
        self._is_known = True
        # What is followed before what is sent: so nobody misses the answers.
        for topic, group in followed:
            yield command(FOLLOW, topic, group)
        for group, marks in self.seen.by_group().items():
            yield command(HAD, group, *marks)
        yield command(BACK)

    def is_new(self, mark: str, way: str) -> bool:
        """Whether what came has not come before, from a server that is no more."""
        return not mark or self.seen.is_new(mark, way)


def is_group_way(way: str) -> bool:
    """Whether a Message came by a group."""
    return bool(way) and way != EVERYTHING
