"""Animals that take their time: in a thread, on the loop, and for ever."""

from __future__ import annotations

from typing import Any, Final

from hark.testing.zoo.animal import POINTS, Grip, Point, behaviour, behaviours_in

_LIMITED: Final[tuple[Point, ...]] = tuple(point for point in POINTS if point != "task")
"""A task of a plugin may take as long as it likes."""
_MINUTE: Final = 60.0


@behaviour(points=_LIMITED, modes=("worker",), shows="late")
def hangs_in_a_worker(grip: Grip) -> Any:
    """Blocks its worker thread for good."""
    grip.cage.hang()
    return grip.tame


@behaviour(points=_LIMITED, modes=("worker",), shows="late")
def fails_late(grip: Grip) -> Any:
    """Blocks its worker thread past its limit, then raises."""
    grip.cage.hang()
    raise ValueError("on purpose, and too late")


@behaviour(points=("utterance", "metadata", "dialog"), modes=("worker",), shows="late")
def changes_things_late(grip: Grip) -> Any:
    """Blocks its worker thread past its limit, then changes and cancels everything."""
    grip.cage.hang()
    if grip.ctx is not None:
        grip.ctx.set("zoo.late", "should never be seen")
        grip.ctx.cancel("should never count")
        grip.ctx.emit("zoo.unseen", {"why": "it was late"})
    return ["too late"] if isinstance(grip.artifact, list) else grip.tame


@behaviour(points=("matcher",), modes=("worker",), shows="late")
def claims_late(grip: Grip) -> Any:
    """Blocks its worker thread past its limit, then claims."""
    grip.cage.hang()
    return grip.plugin.claim("late", lang=grip.lang, utterance=grip.artifact[0])  # type: ignore[attr-defined]


@behaviour(points=_LIMITED, modes=("loop", "stream"), shows="late")
async def never_returns(grip: Grip) -> Any:
    """Waits for something that never comes."""
    await grip.cage.never()
    return grip.tame


@behaviour(points=_LIMITED, modes=("loop", "stream"), shows="late")
async def ignores_cancellation(grip: Grip) -> Any:
    """Waits for something that never comes, and goes on waiting when it is cancelled."""
    await grip.cage.never_whatever_comes()
    return grip.tame


@behaviour(points=("task",), shows="tame")
async def never_ends(grip: Grip) -> Any:
    """Waits for something that never comes, as a task may, and is deaf to cancellation."""
    await grip.cage.never_whatever_comes()


@behaviour(modes=("inline",), shows="tame")
def blocks_although_it_is_quick(grip: Grip) -> Any:
    """Calls itself quick and keeps the event loop standing still for a minute."""
    grip.cage.block(_MINUTE)
    return grip.tame


@behaviour(modes=("loop", "stream"), shows="tame")
async def blocks_in_async_def(grip: Grip) -> Any:
    """Is an async def and keeps the event loop standing still for a minute."""
    grip.cage.block(_MINUTE)
    return grip.tame


@behaviour(shows="tame")
def spins(grip: Grip) -> Any:
    """Computes for nothing, some ten milliseconds long."""
    total = 0
    for number in range(200_000):
        total ^= number
    return grip.tame


BEHAVIOURS: Final = behaviours_in(globals())
