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
"""Seconds after which a hanging thread ends, whatever happens: no test waits for ever."""


class FaultRecord(NamedTuple):
    """One occurrence of a fault: of which plugin, and in which turn, if it was in one."""

    plugin_id: str
    utterance_id: str | None


class FaultSwitch:
    """Turns faults on and off: a plugin misbehaves only while its fault is on; `release` ends all waits of faults.

    Make it inside the event loop. `decide`, given a plugin id, decides call by call while faults are on.
    """

    def __init__(
        self, clock: Clock, *, hang_limit: float = HANG_LIMIT, decide: Callable[[str], bool] | None = None
    ) -> None:
        self.clock = clock
        self.hanging = 0
        """How many threads hang at this moment."""
        self.records: list[FaultRecord] = []
        self.refused = 0
        """Forgeries that were refused on the spot."""
        self.kept: list[Any] = []
        """Objects that faults hold on to, to write to them after their call has returned."""
        self.spared = {asyncio.current_task()}
        """Tasks that the fault that cancels every task leaves alone: those of the test."""
        self._hang_limit = hang_limit
        self._decide = decide
        self._on: tuple[bool, str | None] = (False, None)
        self._gate = threading.Event()
        self._opened = asyncio.Event()
        self._count = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._borrowed = ExitStack()

    @contextmanager
    def on(self, only: str | None = None) -> Iterator[None]:
        """Meanwhile, all faults are on, or `only` that of the plugin with this id."""
        before, self._on = self._on, (True, only)
        try:
            yield
        finally:
            self._on = before

    def is_on(self, plugin_id: str) -> bool:
        """Whether the fault of this plugin is on now."""
        on, only = self._on
        if not on or only not in (None, plugin_id):
            return False
        return self._decide is None or self._decide(plugin_id)

    def record(self, plugin_id: str, utterance_id: str | None) -> None:
        """Record that a plugin is about to misbehave."""
        self.records.append(FaultRecord(plugin_id, utterance_id))

    def hang(self) -> None:
        """Block the calling thread until `release`."""
        with self._count:
            self.hanging += 1
        try:
            self._gate.wait(self._hang_limit)
        finally:
            with self._count:
                self.hanging -= 1

    def block(self, seconds: float) -> None:
        """Block the event loop for `seconds`; with a fake clock, no real time passes."""
        if isinstance(self.clock, FakeClock):
            self.clock.pass_by(seconds)
        else:
            self._gate.wait(min(seconds, 0.03))

    async def wait_forever(self) -> None:
        """Wait until `release`."""
        await self._opened.wait()

    async def wait_uncancellable(self) -> None:
        """As `wait_forever`, but ignore cancellation."""
        while not self._opened.is_set():
            try:
                await self._opened.wait()
            except asyncio.CancelledError:
                continue

    def thread(self, work: Callable[[], None]) -> threading.Thread:
        """Do `work` on a thread of its own, which `release` waits for."""
        thread = threading.Thread(target=work, name="faults", daemon=True)
        thread.start()
        self._threads.append(thread)  # only now: `release` may run meanwhile, and joins only started threads
        return thread

    def borrow(self, owner: object, name: str, replacement: object) -> None:
        """Replace an attribute until `release`."""
        self._borrowed.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, replacement)

    async def release(self) -> None:
        """Turn all faults off, end everything that waits, and join the threads."""
        self._on = (False, None)
        self._gate.set()
        self._opened.set()
        for thread in self._threads:
            await asyncio.to_thread(thread.join, self._hang_limit)
        self._borrowed.close()
        self.kept.clear()


Point = Literal[
    "audio", "utterance", "metadata", "intent", "dialog", "tts",
    "matcher", "handler", "listener", "task", "timer", "start", "stop", "loading",
    "can_converse", "converse", "can_stop", "stopped", "wants_fallback", "fallback", "wants_question", "answers",
]  # fmt: skip
"""Where plugin code is called."""

Mode = Literal["inline", "worker", "loop", "stream"]
"""How it is called: on the spot, on a worker thread, as `async def`, or as an async generator (handlers only)."""

CHAINS: Final[tuple[Point, ...]] = ("audio", "utterance", "metadata", "intent", "dialog", "tts")
BESIDE: Final[tuple[Point, ...]] = ("listener", "task", "timer", "start", "stop")
"""Points outside any turn: a fault there is named in the log, not in a trace."""
ASKED: Final[tuple[Point, ...]] = ("can_converse", "can_stop", "wants_fallback", "wants_question", "answers")
"""Points at which a skill decides or knows something: asked over the bus, so that the log names it, not a trace."""
CALLED: Final[tuple[Point, ...]] = ("converse", "stopped", "fallback")
"""Points at which a skill is called because it was asked."""
POINTS: Final[tuple[Point, ...]] = (*CHAINS, "matcher", "handler", *BESIDE, *ASKED, *CALLED)
"""Every point at which a loaded plugin is called."""

MODES: Final[Mapping[Point, tuple[Mode, ...]]] = {
    **dict.fromkeys((*CHAINS, "matcher", "listener", "timer", *ASKED, "stopped"), ("inline", "worker", "loop")),
    **dict.fromkeys(("handler", "converse", "fallback"), ("inline", "worker", "loop", "stream")),
    **dict.fromkeys(("task", "start", "stop", "loading"), ("loop",)),
}

TRIGGERS: Final[Mapping[Point, str]] = {"can_stop": "stop", "stopped": "stop"}
"""The utterance that makes the assistant call this point, where not any utterance does."""

Shows = Literal["failed", "malformed", "late", "nothing"]
"""What is seen of it: an exception, a wrong shape, a limit that was overrun, or nothing that is a fault in itself."""


class CallSite(msgspec.Struct):
    """What a plugin has at hand at the moment it misbehaves."""

    plugin: Plugin
    switch: FaultSwitch
    artifact: Any = None
    """What it was called with: the artifact of a chain, the utterances, the Message; None where there is nothing."""
    normal: Any = None
    """What a well-behaved plugin would return here."""
    lang: str = "en-US"
    session: Session | None = None
    ctx: Ctx | None = None
    turn: Turn | None = None
    round: Round | None = None

    @property
    def point(self) -> Point:
        """Where the plugin is called."""
        found: Point = self.plugin.faulty.point  # type: ignore[attr-defined]
        return found

    @property
    def utterance_id(self) -> str | None:
        """The turn of the call, if it is part of one."""
        if self.turn is not None:
            return self.turn.message.utterance_id
        if self.round is not None:
            return self.round.message.utterance_id
        return None if self.ctx is None else self.ctx.get("utterance_id")


def ctx_at(site: CallSite) -> Ctx:
    """The context at a call site in a chain."""
    assert site.ctx is not None, f"{site.point} has no context"
    return site.ctx


def turn_at(site: CallSite) -> Turn:
    """The turn at a call site in a handler."""
    assert site.turn is not None, f"{site.point} has no turn"
    return site.turn


class Behaviour(msgspec.Struct, frozen=True):
    """One way to misbehave: a fault, without the place where it happens."""

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
    """A behaviour at one point, in one mode. `faulty.plugin(switch)` makes a new plugin."""

    point: Point
    behaviour: Behaviour
    mode: Mode
    builder: Callable[[FaultyPlugin, FaultSwitch], Plugin]

    @property
    def id(self) -> str:
        """The id of its plugins, by which trace and log have to name it."""
        return f"{self.point}-{self.behaviour.name}-{self.mode}"

    @property
    def does(self) -> str:
        """One line: what it does."""
        return self.behaviour.does

    def plugin(self, switch: FaultSwitch) -> Plugin:
        """A new plugin whose fault `switch` turns on."""
        return self.builder(self, switch)

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
