"""The memory of the process: giving back what is free, and when garbage is collected."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_EVERY: Final = 5.0
"""Seconds between two looks at the memory of the process."""
_GROWTH: Final = 4 * 2**20
"""Bytes that the process has to have grown by before anything is given back."""
_COLLECT_ALL: Final = 120.0
"""Seconds after which a full garbage collection goes through everything again."""
_STATM: Final = Path("/proc/self/statm")


def resident_bytes() -> int:
    """The memory of this process that is in use; 0 where the system does not report it."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def system_trim() -> Callable[[], object] | None:
    """The function of the C library that gives free memory back, if it has one: that of GNU has."""
    import ctypes  # here: a process that does not grow can do without its 2 MB

    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
    return lambda: trim(0)


@contextmanager
def without_collection() -> Iterator[None]:
    """Collect no garbage while the block runs: almost all that a start allocates stays, and collecting takes a tenth of
    its time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class SettledObjects:
    """Excludes from garbage collection what survived the last full one.

    A full collection goes through every object that lives long: with some thousand registered intents it blocked the
    event loop for 50 to 150 ms, every few seconds under load. What survived is freed as ever when nothing refers to it;
    only cycles among it wait, until everything is collected again, once in two minutes.
    """

    def __init__(self) -> None:
        self._next: float | None = None

    def start(self) -> None:
        """Begin with the next full collection."""
        gc.callbacks.append(self._collected)

    def stop(self) -> None:
        """Collect everything again from now on."""
        with suppress(ValueError):
            gc.callbacks.remove(self._collected)
        gc.unfreeze()

    def check(self, now: float) -> None:
        """Let the next full collection go through everything, if it is time to."""
        if self._next is None:
            self._next = now + _COLLECT_ALL
        elif now >= self._next:
            self._next = now + _COLLECT_ALL
            gc.unfreeze()

    def _collected(self, phase: str, info: Mapping[str, int]) -> None:
        if phase == "stop" and info["generation"] == 2:
            gc.freeze()


class HeapTrimmer:
    """Gives free memory back after the process has grown.

    The allocator of GNU keeps what was freed between two blocks in use, in one heap for each of some threads: after a
    few thousand utterances at once, and Messages of megabytes, a process had twice the memory it needed, for good.
    """

    def __init__(
        self,
        resident: Callable[[], int] = resident_bytes,
        find_trim: Callable[[], Callable[[], object] | None] = system_trim,
    ) -> None:
        self._resident = resident
        self._find_trim = find_trim
        self._trim: Callable[[], object] | None = None
        self._next: float | None = None
        self._least = 0
        self._is_possible = True

    def check(self, now: float) -> None:
        """Look at the memory if it is time to, and give back what is free if it has grown. Takes milliseconds then.

        The first call only notes the time: what a process needs to get ready is no growth.
        """
        if self._next is None:
            self._next = now + _EVERY
            return
        if not self._is_possible or now < self._next:
            return
        self._next = now + _EVERY
        size = self._resident()
        if not self._least:
            self._least, self._is_possible = size, size > 0
        elif size - self._least > _GROWTH:
            self._trim = self._trim or self._find_trim()
            if self._trim is None:
                self._is_possible = False
                return
            self._trim()
            self._least = self._resident()
        else:
            self._least = min(self._least, size)
