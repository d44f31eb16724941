"""What an animal is: a misbehaviour, at one extension point, in one way of being called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import msgspec

from hark.plugins import Ctx, Plugin, Round, Session, Turn
from hark.testing.zoo.cage import Cage

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

LURES: Final[Mapping[Point, str]] = {"can_stop": "stop", "stopped": "stop"}
"""What has to be said for an animal to be asked or called, where it is not just anything."""

Shows = Literal["failed", "malformed", "late", "tame"]
"""What is seen of it: an exception, a wrong shape, a limit that was overrun, or nothing that is a fault in itself."""


class Grip(msgspec.Struct):
    """What an animal holds at the moment it misbehaves."""

    plugin: Plugin
    cage: Cage
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
    act: Callable[[Grip], Any]
    points: tuple[Point, ...] = POINTS
    modes: tuple[Mode, ...] = ("inline", "worker", "loop", "stream")
    shows: Shows = "failed"
    diverts: bool = False
    """Whether it has a right to change how the turn goes on: others need not be asked, or answer something else."""
    once: bool = False
    """Whether one mode is as good as another, and it takes long: only the first is shown."""


class Animal(msgspec.Struct, frozen=True):
    """A behaviour at one point, in one mode. `animal.plugin(cage)` is a fresh specimen."""

    point: Point
    behaviour: Behaviour
    mode: Mode
    body: Callable[[Animal, Cage], Plugin]

    @property
    def id(self) -> str:
        """The plugin id of its specimens, by which trace and log have to name it."""
        return f"{self.point}-{self.behaviour.name}-{self.mode}"

    @property
    def does(self) -> str:
        """One line: what it does."""
        return self.behaviour.does

    def plugin(self, cage: Cage) -> Plugin:
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
) -> Callable[[Callable[[Grip], Any]], Behaviour]:
    """Make a behaviour of a function; its name and docstring say what it does."""

    def made(act: Callable[[Grip], Any]) -> Behaviour:
        does = (act.__doc__ or "").strip()
        return Behaviour(act.__name__, does, act, points, modes, shows, diverts, once)

    return made


def behaviours_in(module: Mapping[str, Any]) -> tuple[Behaviour, ...]:
    """The behaviours a module defines."""
    return tuple(value for value in module.values() if isinstance(value, Behaviour))
