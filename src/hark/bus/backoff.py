"""How long to wait before something that failed is tried again."""

from __future__ import annotations

import random


class Backoff:
    """Pauses in seconds: each twice the last, from `first` up to `longest`.

    What worked for `steady` seconds begins again with the first pause. With `dice`, each pause is shortened at random
    by up to half, so that many clients of one server do not all return in the same moment.
    """

    def __init__(
        self, dice: random.Random | None = None, *, first: float = 0.1, longest: float = 30.0, steady: float = 60.0
    ) -> None:
        self._dice = dice
        self._first = first
        self._longest = longest
        self._steady = steady
        self._next = first

    def after(self, lived: float = 0.0) -> float:
        """The pause after something that worked for `lived` seconds before it failed."""
        if lived >= self._steady:
            self._next = self._first
        pause = self._next
        self._next = min(pause * 2, self._longest)
        return pause if self._dice is None else pause * (0.5 + self._dice.random() / 2)
