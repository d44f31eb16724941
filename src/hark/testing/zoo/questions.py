"""Animals that ask questions as nobody should."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from hark.plugins import Turn
from hark.testing.zoo.animal import Grip, Point, behaviour, behaviours_in

_HANDLERS: Final[tuple[Point, ...]] = ("handler", "converse", "fallback")
_MANY: Final = 200


def _turn(grip: Grip) -> Turn:
    assert grip.turn is not None
    return grip.turn


@behaviour(points=_HANDLERS, modes=("loop", "stream"))
async def asks_without_words(grip: Grip) -> Any:
    """Asks a number."""
    await _turn(grip).ask(7)  # type: ignore[arg-type]


@behaviour(points=_HANDLERS, modes=("loop",))
async def asks_for_a_time_that_is_none(grip: Grip) -> Any:
    """Asks and waits for a time that is neither before nor after anything."""
    await _turn(grip).ask("Yes?", timeout=float("nan"))


@behaviour(points=_HANDLERS, modes=("loop",))
async def asks_for_ever(grip: Grip) -> Any:
    """Asks and waits until the end of all time, which no session can carry."""
    await _turn(grip).ask("Yes?", timeout=float("inf"))


@behaviour(points=_HANDLERS, modes=("loop",))
async def asks_for_a_time_in_words(grip: Grip) -> Any:
    """Asks and waits for "a while"."""
    await _turn(grip).ask("Yes?", timeout="a while")  # type: ignore[arg-type]


@behaviour(points=_HANDLERS, modes=("loop", "stream"), shows="tame")
async def asks_and_gets_no_answer(grip: Grip) -> Any:
    """Asks twice, and nobody answers."""
    await _turn(grip).ask("Well?", timeout=5.0, retries=1)
    return grip.tame


@behaviour(points=_HANDLERS, modes=("loop",), shows="tame")
async def asks_again_and_again(grip: Grip) -> Any:
    """Asks two hundred times without leaving any time for an answer."""
    await _turn(grip).ask("And now?", timeout=0.001, retries=_MANY)
    return grip.tame


@behaviour(points=_HANDLERS, modes=("loop",), shows="tame")
async def asks_several_things_at_once(grip: Grip) -> Any:
    """Asks ten questions at the same time."""
    turn = _turn(grip)
    await asyncio.gather(*(turn.ask(f"Question {number}?", timeout=2.0) for number in range(10)))
    return grip.tame


@behaviour(points=_HANDLERS, modes=("loop", "inline"), shows="tame")
def asks_behind_its_own_back(grip: Grip) -> Any:
    """Lets a task ask, and returns before anybody can answer."""
    turn = _turn(grip)

    async def ask() -> None:
        await turn.ask("Still there?", timeout=3.0)

    turn.task(ask(), "asking")
    return grip.tame


@behaviour(points=_HANDLERS, modes=("worker",))
def asks_on_a_loop_of_its_own(grip: Grip) -> Any:
    """Asks from a plain def, by running an event loop on its worker thread."""
    turn = _turn(grip)

    async def ask() -> str | None:
        return await turn.ask("Anybody?", timeout=3.0)

    return asyncio.run(ask()) or grip.tame


@behaviour(points=_HANDLERS, modes=("loop",))
async def asks_for_a_choice_of_nothing(grip: Grip) -> Any:
    """Lets the user choose among things that are no names."""
    await _turn(grip).ask_choice([1, None], "Which?", timeout=2.0, retries=0)  # type: ignore[list-item]
    raise ValueError("nobody chose")


@behaviour(points=_HANDLERS, modes=("inline", "worker", "loop"))
def begins_what_is_no_task(grip: Grip) -> Any:
    """Hands over a number where a coroutine is due."""
    _turn(grip).task(7)  # type: ignore[arg-type]


@behaviour(points=_HANDLERS, modes=("inline", "worker", "loop"), shows="tame")
def leaves_a_task_that_fails(grip: Grip) -> Any:
    """Begins something that raises SystemExit when nobody looks any more."""

    async def fail() -> None:
        raise SystemExit("on purpose")

    _turn(grip).task(fail(), "failing")
    return grip.tame


BEHAVIOURS: Final = behaviours_in(globals())
