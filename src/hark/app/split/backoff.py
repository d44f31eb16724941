"""How long to wait before something that failed is tried again."""

from __future__ import annotations

from typing import Final

FIRST: Final = 0.1
LONGEST: Final = 30.0
STEADY: Final = 60.0
"""Seconds of good service after which what failed before is forgotten."""


class Backoff:
    """Each pause twice the last, up to the longest. A life of `STEADY` seconds begins anew with the first."""

    def __init__(self) -> None:
        self._next = FIRST

    def after(self, lived: float) -> float:
        """The pause after a life of this many seconds."""
        if lived >= STEADY:
            self._next = FIRST
        pause = self._next
        self._next = min(self._next * 2, LONGEST)
        return pause
