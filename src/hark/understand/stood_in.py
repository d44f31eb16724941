"""Turns that were ended in the place of the worker that had them: should it come back, it has to be told."""

from __future__ import annotations

from collections import deque
from typing import Final

from hark.understand.notes import WorkersJournal

_MOST: Final = 1_000
_TOLD_FOR: Final = 10
"""Beats for which it is told whose turns were ended; who comes later is told of all."""


class StoodIn:
    """Kept by every worker from what those who have ended such turns say."""

    def __init__(self, beat: float, journal: WorkersJournal | None) -> None:
        self._told_for = _TOLD_FOR * beat
        self._journal = journal
        self._known: dict[str, None] = dict(journal.stood_in) if journal is not None else {}
        self._lately: deque[tuple[float, str]] = deque(maxlen=_MOST)

    def add(self, utterance_id: str, now: float) -> None:
        """Such a turn was ended, or somebody asks for it: everybody is to be told."""
        self.learn(utterance_id)
        self._lately.append((now, utterance_id))

    def learn(self, utterance_id: str) -> None:
        """Somebody told of one."""
        if utterance_id in self._known:
            return
        self._known[utterance_id] = None
        if len(self._known) > _MOST:
            del self._known[next(iter(self._known))]
        if self._journal is not None:
            self._journal.note_stood_in(utterance_id)

    def lately(self, now: float) -> list[str]:
        """What everybody is told."""
        while self._lately and now - self._lately[0][0] > self._told_for:
            self._lately.popleft()
        return [utterance_id for _, utterance_id in self._lately]

    def all(self) -> list[str]:
        """What somebody is told who just came."""
        return list(self._known)
