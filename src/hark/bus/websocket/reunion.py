"""After a restart: a server waits for those who were connected to the one before."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from typing import Final, Protocol

from hark.bus.websocket.frames import Parcel
from hark.model import Clock, Timer

log = logging.getLogger("hark.bus.websocket")

_PATIENCE: Final = 3.0
"""Seconds in which they should be back; who is not may be gone as well."""
_LARGEST: Final = 16_777_216
"""Bytes that are held, half of what may wait for a client: with more, nobody is waited for any longer."""
_MOST: Final = 100_000
"""Messages of which it is known that a group had them."""


class GuestBook(Protocol):
    """Remembers who is connected, beyond the life of a server."""

    def read(self) -> frozenset[str]:
        """Who was connected to the last server when it ended, by name."""

    def write(self, present: Iterable[str]) -> None:
        """These are connected now. Brief, and never raises."""


class Reunion:
    """Holds what is sent until all who were there before are back, so that nobody misses what the others say first.

    `release` is called once, with what was held, in the order in which it came.
    """

    def __init__(self, clock: Clock, book: GuestBook | None, release: Callable[[list[Parcel]], None]) -> None:
        self._clock = clock
        self._book = book
        self._release = release
        self._missing = set(book.read()) if book is not None else set()
        self._present: dict[str, int] = {}
        """Who is connected, with how many connections: a new one may be there before the old one is missed."""
        self._held: list[Parcel] = []
        self._bytes = 0
        self._had: dict[str, set[str]] = {}
        """Marks of Messages from before, with the groups of which somebody had them."""
        self._timer: Timer | None = None

    @property
    def is_on(self) -> bool:
        """Whether somebody is still waited for."""
        return bool(self._missing)

    def begin(self) -> None:
        """The door is open: from now on they have time."""
        if self._missing and self._timer is None:
            log.info("bus: waiting for %d clients that were connected before", len(self._missing))
            self._timer = self._clock.after(_PATIENCE, self._give_up)

    def hold(self, parcel: Parcel) -> None:
        """Keep a Message until all are back."""
        self._held.append(parcel)
        self._bytes += len(parcel.frame)
        if self._bytes > _LARGEST:
            self._give_up()

    def joined(self, name: str) -> None:
        """A client has said its name."""
        self._present[name] = self._present.get(name, 0) + 1
        self._note()

    def left(self, name: str) -> None:
        """A connection of a client is gone."""
        self._present[name] -= 1
        if not self._present[name]:
            del self._present[name]
        self._note()

    def back(self, name: str) -> None:
        """A client has said all that it follows."""
        if name in self._missing:
            self._missing.discard(name)
            if not self._missing:
                self._end()

    def had(self, group: str, marks: Iterable[str]) -> None:
        """Somebody had these Messages by a group, from the server before."""
        for mark in marks:
            if len(self._had) >= _MOST:
                del self._had[next(iter(self._had))]
            self._had.setdefault(mark, set()).add(group)

    def groups_that_had(self, mark: str) -> Collection[str]:
        """The groups that need not be handed a Message again."""
        return self._had.get(mark, ())

    def close(self) -> None:
        """Who is connected when a server ends is expected by the next one: from now on the book stays as it is."""
        self._book = None
        if self._timer is not None:
            self._timer.cancel()

    def _note(self) -> None:
        if self._book is not None:
            # Those who are not back yet stay in it: this server may be killed as well.
            self._book.write(self._present.keys() | self._missing)

    def _give_up(self) -> None:
        log.warning("bus: %d clients that were connected before have not come back", len(self._missing))
        self._missing.clear()
        self._note()
        self._end()

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        held, self._held = self._held, []
        self._release(held)
