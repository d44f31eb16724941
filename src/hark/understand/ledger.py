"""What several workers know of each other's work: which utterances nobody took yet, and which turns are open where."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Final

import msgspec

from hark.model import Message, encode

log = logging.getLogger("hark.understand")

_MOST: Final = 10_000
"""Utterances that may wait to be taken, and turns that are remembered as ended."""


def key_of(entry: Message) -> str:
    """What tells one utterance from another; the same words in the same context have the same one."""
    return blake2b(encode(entry), digest_size=8).hexdigest()


class Untaken(msgspec.Struct):
    """An utterance that nobody has said to have taken."""

    key: str
    entry: Message
    since: float


class Open(msgspec.Struct):
    """A turn of some worker, as far as the others know it."""

    worker: str
    generation: int
    key: str
    opened: Message | None = None
    """The announcement, in the context of the utterance."""
    start: Message | None = None
    """The start of its handler, if it came to that."""
    told: float = 0.0
    """When we last were told that it is open."""


class Ledger:
    """Kept by every worker from what all of them say."""

    def __init__(self) -> None:
        self._untaken: dict[int, Untaken] = {}
        """In the order in which they were heard."""
        self._by_key: dict[str, deque[int]] = {}
        self._early: dict[str, deque[float]] = {}
        """Of utterances that were taken before we heard them: when we heard that."""
        self._heard: dict[str, float] = {}
        """When an utterance of each kind was heard last."""
        self._taken: dict[str, float] = {}
        """When an utterance of each kind was taken last."""
        self._next = 0
        self._open: dict[str, Open] = {}
        self._sessions: dict[str, dict[str, str]] = {}
        """The open turns of each session, with their workers."""
        self._over: dict[str, None] = {}
        """Turns that were open once and no longer are, the latest ones."""

    def __len__(self) -> int:
        return len(self._open)

    @property
    def untaken(self) -> int:
        """How many utterances wait to be taken."""
        return len(self._untaken)

    def hear(self, entry: Message, key: str, now: float) -> None:
        """An utterance is there; somebody will take it, or has."""
        self._heard.pop(key, None)
        self._heard[key] = now
        early = self._early.get(key)
        if early:
            early.popleft()
            if not early:
                del self._early[key]
            return
        if len(self._untaken) >= _MOST:
            log.error("more than %d utterances wait for a worker; the oldest is given up", _MOST)
            self._remove(next(iter(self._untaken)))
        self._next += 1
        self._untaken[self._next] = Untaken(key, entry, now)
        self._by_key.setdefault(key, deque()).append(self._next)

    def taken(self, key: str, now: float) -> None:
        """Somebody has taken an utterance."""
        self._taken.pop(key, None)
        self._taken[key] = now
        waiting = self._by_key.get(key)
        if waiting:
            self._remove(waiting[0])
        else:
            self._early.setdefault(key, deque()).append(now)

    def offered(self, entry: Message, key: str, now: float, lately: float) -> bool:
        """Others heard an utterance that we did not; whether it is to be taken.

        Not if it waits here as well, nor if one like it was taken in the last seconds: that may be the one.
        """
        if key in self._by_key or (key in self._taken and self._taken[key] > now - lately):
            return False
        self.hear(entry, key, now)
        return True

    def has_heard(self, key: str, since: float) -> bool:
        """Whether one like this was heard since a moment."""
        return self._heard.get(key, since - 1.0) >= since

    def waiting(self, wanted: Callable[[Untaken], bool]) -> list[Untaken]:
        """Those of the waiting utterances that are wanted, in their order."""
        return [untaken for untaken in self._untaken.values() if wanted(untaken)]

    def opened(self, utterance_id: str, turn: Open, now: float) -> None:
        """A worker has opened a turn for an utterance. Saying it again says nothing new."""
        turn.told = now
        known = self._open.get(utterance_id)
        if known is not None:
            known.opened = known.opened or turn.opened
            known.told = now
        elif utterance_id not in self._over:
            self._open[utterance_id] = turn
            self._enter(utterance_id, turn)
            self.taken(turn.key, now)

    def left(self, utterance_id: str, turn: Open, now: float) -> bool:
        """A worker that died left a turn open, says its next life; whether it is over already.

        So it is where nobody heard of it and its utterance was taken again.
        """
        if utterance_id not in self._open and utterance_id not in self._over:
            if turn.key in self._taken and turn.key not in self._by_key:
                self.ended(utterance_id)
            else:
                self.opened(utterance_id, turn, now)
        known = self._open.get(utterance_id)
        if known is None:
            return True
        known.told = now
        known.opened = known.opened or turn.opened
        known.start = known.start or turn.start
        return False

    def _enter(self, utterance_id: str, turn: Open) -> None:
        if turn.opened is not None:
            self._sessions.setdefault(turn.opened.session_id, {})[utterance_id] = turn.worker

    def at_work_on(self, session_id: str) -> str | None:
        """The worker that has the latest open turn of a session, if any has."""
        there = self._sessions.get(session_id)
        return next(reversed(there.values())) if there else None

    def workers_on(self, session_id: str) -> set[str]:
        """All workers that have an open turn of a session."""
        return set(self._sessions.get(session_id, {}).values())

    def is_waiting(self, key: str) -> bool:
        """Whether an utterance was heard that nobody has taken."""
        return key in self._by_key

    def started(self, start: Message) -> None:
        """The handler of a turn was called."""
        turn = self._open.get(start.utterance_id or "")
        if turn is not None:
            turn.start = start

    def ended(self, utterance_id: str) -> None:
        """A turn is over."""
        turn = self._open.pop(utterance_id, None)
        if turn is not None and turn.opened is not None:
            open_there = self._sessions.get(turn.opened.session_id, {})
            open_there.pop(utterance_id, None)
            if not open_there:
                self._sessions.pop(turn.opened.session_id, None)
        self._over[utterance_id] = None
        if len(self._over) > _MOST:
            del self._over[next(iter(self._over))]

    def only(self, worker: str, generation: int, utterance_ids: Iterable[str]) -> None:
        """A worker told which turns it has: what else it was thought to have is over."""
        kept = set(utterance_ids)
        for utterance_id, turn in list(self._open.items()):
            if turn.worker == worker and turn.generation == generation and utterance_id not in kept:
                self.ended(utterance_id)

    def of(self, worker: str, generation: int) -> dict[str, str]:
        """The open turns of a worker, each with the key of its utterance."""
        return {
            utterance_id: turn.key
            for utterance_id, turn in self._open.items()
            if turn.worker == worker and turn.generation == generation
        }

    def announcements(self) -> list[Message]:
        """What the openings of all turns were announced with."""
        return [turn.opened for turn in self._open.values() if turn.opened is not None]

    def orphans(self, alive: Callable[[str, int], bool], known_since: float = -1.0) -> dict[str, Open]:
        """The turns whose workers are gone, if they were told of since a moment; they count as ended from now on."""
        found = {
            key: turn
            for key, turn in self._open.items()
            if turn.told >= known_since and not alive(turn.worker, turn.generation)
        }
        for utterance_id in found:
            self.ended(utterance_id)
        return found

    def forget(self, before: float) -> None:
        """Let go of turns of which nothing was told since a moment: who was here all the time sees to them."""
        self._open = {key: turn for key, turn in self._open.items() if turn.told >= before}
        self._sessions.clear()
        for utterance_id, turn in self._open.items():
            self._enter(utterance_id, turn)

    def drop(self, untaken: Untaken) -> None:
        """Somebody else sees to an utterance that waits."""
        waiting = self._by_key.get(untaken.key)
        if waiting:
            self._remove(waiting[0])

    def tidy(self, before: float) -> None:
        """Let go of what was taken long ago, also of what never came."""
        for known in (self._taken, self._heard):
            while len(known) > _MOST:
                del known[next(iter(known))]
        for key, times in list(self._early.items()):
            while times and times[0] < before:
                times.popleft()
            if not times:
                del self._early[key]

    def _remove(self, number: int) -> None:
        untaken = self._untaken.pop(number)
        waiting = self._by_key[untaken.key]
        waiting.remove(number)
        if not waiting:
            del self._by_key[untaken.key]
