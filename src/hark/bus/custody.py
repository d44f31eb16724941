"""What a broker keeps for groups until one of them has taken it: a process may be killed with frames unread."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Final, Generic, NamedTuple, TypeVar

log = logging.getLogger("hark.bus")

MOST: Final = 1_000
"""Frames that are kept for one group, and for one member until it has taken them."""
PATIENCE: Final = 30.0
"""Seconds for which frames wait for a group that has lost its last member. What was said longer ago is not said now."""

K = TypeVar("K")
F = TypeVar("F")


class Parked(NamedTuple, Generic[F]):
    """A frame on its way to a group."""

    topic: str
    frame: F
    since: float


class _Vacancy(Generic[F]):
    """What waits for a group that has no member."""

    def __init__(self, since: float) -> None:
        self.since = since
        self.waiting: deque[Parked[F]] = deque(maxlen=MOST)


class Custody(Generic[K, F]):
    """Frames that were handed to a member of a group and not taken yet, and those for which no member was there."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._handed: dict[tuple[K, str], deque[Parked[F]]] = {}
        self._vacant: dict[tuple[str, str], _Vacancy[F]] = {}

    def handed(self, member: K, group: str, topic: str, frame: F) -> None:
        """A member was handed a frame."""
        self._handed.setdefault((member, group), deque(maxlen=MOST)).append(Parked(topic, frame, self._now()))

    def took(self, member: K, group: str) -> None:
        """It has taken the first of those it was handed."""
        waiting = self._handed.get((member, group))
        if waiting:
            waiting.popleft()

    def untaken(self, member: K, groups: Iterable[str]) -> list[tuple[str, Parked[F]]]:
        """What a member that is gone leaves to the others of its groups."""
        return [(group, parked) for group in groups for parked in self._handed.pop((member, group), ())]

    def vacate(self, topic: str, group: str) -> None:
        """The last member of a group is gone."""
        self._vacant.setdefault((topic, group), _Vacancy(self._now()))

    def park(self, group: str, parked: Parked[F]) -> None:
        """Keep a frame for whoever comes."""
        self._vacant.setdefault((parked.topic, group), _Vacancy(self._now())).waiting.append(parked)

    def missed(self, topic: str, frame: F, had: Collection[str] = ()) -> None:
        """Somebody sent a frame: it waits for the groups that have lost their last member, for a while.

        Not for those that had it.
        """
        if not self._vacant:
            return
        now = self._now()
        for (vacant, group), vacancy in list(self._vacant.items()):
            if now - vacancy.since > PATIENCE:
                del self._vacant[vacant, group]
                lost = len(vacancy.waiting)
                log.error("bus: nobody of %s has come; %d messages on %s are dropped", group, lost, vacant)
            elif vacant == topic and group not in had:
                vacancy.waiting.append(Parked(topic, frame, now))

    def claim(self, topic: str, group: str) -> list[F]:
        """A group has a member again: what waited for it, but for what is too old."""
        vacancy = self._vacant.pop((topic, group), None)
        waiting = vacancy.waiting if vacancy is not None else ()
        fresh = [parked.frame for parked in waiting if self._now() - parked.since <= PATIENCE]
        if len(fresh) < len(waiting):
            log.error("bus: %d messages on %s are too old for %s and were dropped",
                      len(waiting) - len(fresh), topic, group)  # fmt: skip
        return fresh
