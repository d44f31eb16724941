"""How many turns are open, and how large they are, by client: none can take the place of all others."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Final

from hark.understand.turn_state import TurnOptions, TurnState

log = logging.getLogger("hark.understand")

_OF_CLIENTS: Final = 0.8
"""The part of all open turns that clients on the bus may have together: the device itself is always understood."""
_MOST_BYTES: Final = 16 * 1_048_576
"""Bytes that the utterances of a client may have together while their turns are open."""
_MOST_BYTES_OF_CLIENTS: Final = 4 * _MOST_BYTES
"""The same for all clients."""
_LOG_EVERY: Final = 10.0
"""Seconds between two lines about utterances that were refused."""


class TurnLoad:
    """Counts the open turns of clients on the bus, and says which utterance is one too many."""

    def __init__(self) -> None:
        self._turns: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self._total = 0
        self._refused = 0
        self._log_from = 0.0

    def began(self, turn: TurnState) -> None:
        """A turn of a client was opened."""
        self._turns[turn.client] += 1
        self._bytes[turn.client] += turn.size
        self._total += 1

    def admits(self, turn: TurnState, open_turns: int, options: TurnOptions, now: float) -> bool:
        """Whether a turn may go on, being one of `open_turns`; logged, once in a while, if not."""
        why = ""
        if turn.client:
            if self._turns[turn.client] > options.max_client_turns:
                why = f"a client on the bus has {options.max_client_turns} open turns"
            elif self._bytes[turn.client] > _MOST_BYTES or self._bytes.total() > _MOST_BYTES_OF_CLIENTS:
                why = "the utterances of open turns are too large"
            elif self._total > max(1, int(options.max_open_turns * _OF_CLIENTS)):
                why = f"clients on the bus have {self._total - 1} open turns"
        if open_turns > options.max_open_turns:
            why = f"{open_turns - 1} turns are open"
        if why:
            self._report(why, now)
        return not why

    def ended(self, turn: TurnState) -> None:
        """It is over."""
        self._total -= 1
        self._turns[turn.client] -= 1
        self._bytes[turn.client] -= turn.size
        if not self._turns[turn.client]:
            del self._turns[turn.client], self._bytes[turn.client]

    def _report(self, why: str, now: float) -> None:
        self._refused += 1
        if now >= self._log_from:
            self._log_from = now + _LOG_EVERY
            more = f" ({self._refused} since the last line)" if self._refused > 1 else ""
            log.error("overload: %s, an utterance was refused%s", why, more)
            self._refused = 0
