"""Log lines that somebody outside can cause, few of them."""

from __future__ import annotations

import logging
from typing import Final

from hark.model import Clock

_EVERY: Final = 10.0


class SparingLog:
    """Writes one line of a kind every ten seconds, with the number of those it has left out."""

    def __init__(self, log: logging.Logger, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._next: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def warning(self, kind: str, *details: object) -> None:
        """Write a line: `kind` is its text with places for details, and what it is counted by."""
        now = self._clock.monotonic()
        if now < self._next.get(kind, now):
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return
        self._next[kind] = now + _EVERY
        missing = self._left_out.pop(kind, 0)
        self._log.warning(kind + (f" (and {missing} more like it)" if missing else ""), *details)
