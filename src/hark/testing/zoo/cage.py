"""What keeps the animals within bounds."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, NamedTuple

from hark.model import Clock
from hark.testing.clock import FakeClock

PATIENCE: Final = 20.0
"""Seconds after which a thread that hangs goes home, whatever happens: no test shall wait for ever."""


class Misdeed(NamedTuple):
    """One misbehaviour: who, and in which turn, where it was in one."""

    animal_id: str
    utterance_id: str | None


class Cage:
    """Animals misbehave only while they are provoked, and whatever they wait for ends when the cage is opened.

    Make it inside the event loop. `mood` decides call by call instead, given the animal's id.
    """

    def __init__(self, clock: Clock, *, patience: float = PATIENCE, mood: Callable[[str], bool] | None = None) -> None:
        self.clock = clock
        self.hanging = 0
        """How many threads hang at this moment."""
        self.misdeeds: list[Misdeed] = []
        self.refused = 0
        """Forgeries that were refused on the spot."""
        self.kept: list[Any] = []
        """What animals have held on to, to write to it when nobody expects it."""
        self.spared = {asyncio.current_task()}
        """Whom an animal that cancels every task leaves alone: those who made the cage, and watch."""
        self._patience = patience
        self._mood = mood
        self._provoked: tuple[bool, str | None] = (False, None)
        self._gate = threading.Event()
        self._opened = asyncio.Event()
        self._count = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._borrowed = ExitStack()

    @contextmanager
    def provoked(self, only: str | None = None) -> Iterator[None]:
        """For a while, every animal does its worst, or `only` the one with this id."""
        before, self._provoked = self._provoked, (True, only)
        try:
            yield
        finally:
            self._provoked = before

    def provokes(self, animal_id: str) -> bool:
        """Whether this animal is to misbehave now."""
        provoked, only = self._provoked
        if not provoked or only not in (None, animal_id):
            return False
        return self._mood is None or self._mood(animal_id)

    def note(self, animal_id: str, utterance_id: str | None) -> None:
        """An animal is about to misbehave."""
        self.misdeeds.append(Misdeed(animal_id, utterance_id))

    def hang(self) -> None:
        """Block the calling thread until the cage is opened."""
        with self._count:
            self.hanging += 1
        try:
            self._gate.wait(self._patience)
        finally:
            with self._count:
                self.hanging -= 1

    def block(self, seconds: float) -> None:
        """Keep the event loop from doing anything for `seconds`, of which a fake clock makes no time at all."""
        if isinstance(self.clock, FakeClock):
            self.clock.pass_by(seconds)
        else:
            self._gate.wait(min(seconds, 0.03))

    async def never(self) -> None:
        """Wait until the cage is opened."""
        await self._opened.wait()

    async def never_whatever_comes(self) -> None:
        """As `never`, deaf to every cancellation."""
        while not self._opened.is_set():
            try:
                await self._opened.wait()
            except asyncio.CancelledError:
                continue

    def thread(self, work: Callable[[], None]) -> threading.Thread:
        """Do `work` on a thread of its own, which is over when the cage is opened."""
        thread = threading.Thread(target=work, name="zoo", daemon=True)
        thread.start()
        self._threads.append(thread)  # only now: the cage may be opened meanwhile, and waits for what it knows
        return thread

    def borrow(self, owner: object, name: str, replacement: object) -> None:
        """Put something in the place of an attribute, which is put back when the cage is opened."""
        self._borrowed.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, replacement)

    async def open(self) -> None:
        """Let go of everything that hangs, and see it off."""
        self._provoked = (False, None)
        self._gate.set()
        self._opened.set()
        for thread in self._threads:
            await asyncio.to_thread(thread.join, self._patience)
        self._borrowed.close()
        self.kept.clear()
