"""How long to wait before the next try."""

from __future__ import annotations

import random
from typing import Final

_FIRST: Final = 0.1
_SOON: Final = 0.25
_EAGER: Final = 24
"""Tries, some five seconds, in which it comes soon: a server that was killed is back in a moment, and waits for us."""
_LONGEST: Final = 30.0


class Backoff:
    """Soon at first, then twice as long each time up to half a minute; each client a little different, so that not all
    come at once.
    """

    def __init__(self, dice: random.Random | None = None) -> None:
        self._dice = dice or random.Random()  # noqa: S311 - nothing secret
        self._tries = 0

    def next(self) -> float:
        """Seconds to wait now."""
        doublings = max(0, self._tries - _EAGER)
        longest = _FIRST if self._tries == 0 else min(_LONGEST, _SOON * 2.0**doublings)
        self._tries = min(self._tries + 1, _EAGER + 20)
        return longest * (0.5 + self._dice.random() / 2)

    def reset(self) -> None:
        """It worked."""
        self._tries = 0
