"""A plugin with a fault: what it does wrong, where it is called, and the switch that turns the fault on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Final, Literal, NamedTuple

import msgspec

from hark.model import Clock
from hark.plugins import Ctx, Plugin, Round, Session, Turn
from hark.testing.clock import FakeClock

HANG_LIMIT: Final = 20.0
"""Seconds after which a thread that hangs goes home, whatever happens: no test shall wait for ever."""


class FaultRecord(NamedTuple):
    """One misbehaviour: who, and in which turn, where it was in one."""

    animal_id: str
    utterance_id: str | None


class FaultSwitch:
    """Animals misbehave only while they are provoked, and whatever they wait for ends when the cage is opened.

    Make it inside the event loop. `mood` decides call by call instead, given the animal's id.
    """

    def __init__(
        self, clock: Clock, *, patience: float = HANG_LIMIT, mood: Callable[[str], bool] | None = None
    ) -> None:
        self.clock = clock
        self.hanging = 0
        """How many threads hang at this moment."""
        self.misdeeds: list[FaultRecord] = []
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
        self.misdeeds.append(FaultRecord(animal_id, utterance_id))

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


Point = Literal[
    "audio", "utterance", "metadata", "intent", "dialog", "tts",
    "matcher", "handler", "listener", "task", "timer", "start", "stop", "loading",
    "can_converse", "converse", "can_stop", "stopped", "wants_fallback", "fallback", "wants_question", "answers",
]  # fmt: skip
"""Where plugin code is called. Engines will be points of their own once there are some."""

Mode = Literal["inline", "worker", "loop", "stream"]
"""How it is called: on the spot, on a worker thread, as `async def`, or as an async generator (handlers only)."""

CHAINS: Final[tuple[Point, ...]] = ("audio", "utterance", "metadata", "intent", "dialog", "tts")
BESIDE: Final[tuple[Point, ...]] = ("listener", "task", "timer", "start", "stop")
"""Points outside any turn: the log names who misbehaves there, not a trace."""
ASKED: Final[tuple[Point, ...]] = ("can_converse", "can_stop", "wants_fallback", "wants_question", "answers")
"""Points at which a skill decides or knows something: asked over the bus, so that the log names it, not a trace."""
CALLED: Final[tuple[Point, ...]] = ("converse", "stopped", "fallback")
"""Points at which a skill is called because it was asked."""
POINTS: Final[tuple[Point, ...]] = (*CHAINS, "matcher", "handler", *BESIDE, *ASKED, *CALLED)
"""Every point at which a plugin that was let in is called."""

MODES: Final[Mapping[Point, tuple[Mode, ...]]] = {
    **dict.fromkeys((*CHAINS, "matcher", "listener", "timer", *ASKED, "stopped"), ("inline", "worker", "loop")),
    **dict.fromkeys(("handler", "converse", "fallback"), ("inline", "worker", "loop", "stream")),
    **dict.fromkeys(("task", "start", "stop", "loading"), ("loop",)),
}

TRIGGERS: Final[Mapping[Point, str]] = {"can_stop": "stop", "stopped": "stop"}
"""What has to be said for an animal to be asked or called, where it is not just anything."""

Shows = Literal["failed", "malformed", "late", "tame"]
"""What is seen of it: an exception, a wrong shape, a limit that was overrun, or nothing that is a fault in itself."""


class CallSite(msgspec.Struct):
    """What an animal holds at the moment it misbehaves."""

    plugin: Plugin
    cage: FaultSwitch
    artifact: Any = None
    """What it was called with: the artifact of a chain, the utterances, the Message; None where there is nothing."""
    tame: Any = None
    """What a well-behaved plugin would return here."""
    lang: str = "en-US"
    session: Session | None = None
    ctx: Ctx | None = None
    turn: Turn | None = None
    round: Round | None = None

    @property
    def point(self) -> Point:
        """Where it is."""
        found: Point = self.plugin.animal.point  # type: ignore[attr-defined]
        return found

    @property
    def utterance_id(self) -> str | None:
        """The turn it is in, if it is in one."""
        if self.turn is not None:
            return self.turn.message.utterance_id
        if self.round is not None:
            return self.round.message.utterance_id
        return None if self.ctx is None else self.ctx.get("utterance_id")


class Behaviour(msgspec.Struct, frozen=True):
    """One way to misbehave."""

    name: str
    does: str
    """One line: what it does."""
    act: Callable[[CallSite], Any]
    points: tuple[Point, ...] = POINTS
    modes: tuple[Mode, ...] = ("inline", "worker", "loop", "stream")
    shows: Shows = "failed"
    diverts: bool = False
    """Whether it has a right to change how the turn goes on: others need not be asked, or answer something else."""
    once: bool = False
    """Whether one mode is as good as another, and it takes long: only the first is shown."""


class FaultyPlugin(msgspec.Struct, frozen=True):
    """A behaviour at one point, in one mode. `animal.plugin(cage)` is a fresh specimen."""

    point: Point
    behaviour: Behaviour
    mode: Mode
    body: Callable[[FaultyPlugin, FaultSwitch], Plugin]

    @property
    def id(self) -> str:
        """The plugin id of its specimens, by which trace and log have to name it."""
        return f"{self.point}-{self.behaviour.name}-{self.mode}"

    @property
    def does(self) -> str:
        """One line: what it does."""
        return self.behaviour.does

    def plugin(self, cage: FaultSwitch) -> Plugin:
        """A specimen in `cage`."""
        return self.body(self, cage)

    def __str__(self) -> str:
        return self.id


def behaviour(
    points: tuple[Point, ...] = POINTS,
    modes: tuple[Mode, ...] = ("inline", "worker", "loop", "stream"),
    shows: Shows = "failed",
    diverts: bool = False,
    once: bool = False,
) -> Callable[[Callable[[CallSite], Any]], Behaviour]:
    """Make a behaviour of a function; its name and docstring say what it does."""

    def made(act: Callable[[CallSite], Any]) -> Behaviour:
        does = (act.__doc__ or "").strip()
        return Behaviour(act.__name__, does, act, points, modes, shows, diverts, once)

    return made


def behaviours_in(module: Mapping[str, Any]) -> tuple[Behaviour, ...]:
    """The behaviours a module defines."""
    return tuple(value for value in module.values() if isinstance(value, Behaviour))
