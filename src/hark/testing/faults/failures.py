"""Faults that raise whatever Python lets one raise, and faults that take too long."""

from __future__ import annotations

import asyncio
from typing import Any, Final, NoReturn

from hark.testing.faults.plugin import CHAINS, POINTS, CallSite, Point, behaviour, behaviours_in

MEGABYTE: Final = 1_000_000


class UncommonError(BaseException):
    """Nobody's exception: `except Exception` does not see it."""


class UnprintableError(Exception):
    """Cannot say what went wrong."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class HostileMessageError(Exception):
    """Says what went wrong in words that raise when they are looked at."""

    def __str__(self) -> str:
        return HostileMessage("bite")


class HostileMessage(str):
    """Text that is no good to anybody."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise RuntimeError("a text that is neither empty nor not")

    def __format__(self, _spec: str) -> str:
        raise RuntimeError("a text that cannot be put into another")

    def isascii(self) -> bool:
        """Raises."""
        raise RuntimeError("a text that does not say what it is made of")


class HiddenClassError(Exception):
    """Lies about what it is when it is asked."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Raises."""
        raise SystemExit("who wants to know?")


@behaviour()
def raises_an_exception(_grip: CallSite) -> NoReturn:
    """Raises ValueError."""
    raise ValueError("on purpose")


@behaviour()
def raises_a_base_exception(_grip: CallSite) -> NoReturn:
    """Raises what `except Exception` does not see."""
    raise UncommonError("on purpose")


@behaviour()
def raises_system_exit(_grip: CallSite) -> NoReturn:
    """Raises SystemExit."""
    raise SystemExit("on purpose")


@behaviour()
def raises_keyboard_interrupt(_grip: CallSite) -> NoReturn:
    """Raises KeyboardInterrupt."""
    raise KeyboardInterrupt("on purpose")


@behaviour()
def raises_cancelled_error(_grip: CallSite) -> NoReturn:
    """Raises CancelledError although nobody cancelled it."""
    raise asyncio.CancelledError("on purpose")


@behaviour()
def raises_generator_exit(_grip: CallSite) -> NoReturn:
    """Raises GeneratorExit."""
    raise GeneratorExit("on purpose")


@behaviour()
def raises_stop_iteration(_grip: CallSite) -> NoReturn:
    """Raises StopIteration, which ends whichever generator it gets into."""
    raise StopIteration("on purpose")


@behaviour()
def raises_memory_error(_grip: CallSite) -> NoReturn:
    """Raises MemoryError."""
    raise MemoryError("on purpose")


@behaviour()
def raises_a_group(_grip: CallSite) -> NoReturn:
    """Raises a group with a SystemExit in it."""
    raise BaseExceptionGroup("on purpose", [SystemExit(1), ValueError("on purpose")])


@behaviour()
def raises_without_words(_grip: CallSite) -> NoReturn:
    """Raises an exception whose __str__ raises."""
    raise UnprintableError


@behaviour()
def raises_words_that_bite(_grip: CallSite) -> NoReturn:
    """Raises an exception whose __str__ returns text that raises when used."""
    raise HostileMessageError


@behaviour()
def raises_in_disguise(_grip: CallSite) -> NoReturn:
    """Raises an exception whose __class__ raises SystemExit."""
    raise HiddenClassError("on purpose")


@behaviour()
def raises_half_a_character(_grip: CallSite) -> NoReturn:
    """Raises with a lone surrogate in its text, which UTF-8 cannot carry."""
    raise ValueError("half a pair: \ud83d")


@behaviour()
def raises_a_novel(_grip: CallSite) -> NoReturn:
    """Raises with a megabyte of text."""
    raise ValueError("on and on " * (MEGABYTE // 10))


@behaviour()
def runs_out_of_stack(_grip: CallSite) -> Any:
    """Calls itself until Python refuses."""

    def deeper() -> Any:
        return deeper()

    return deeper()


@behaviour(points=CHAINS)
def changes_its_input_then_raises(grip: CallSite) -> NoReturn:
    """Changes everything it was given, in place where it can, and raises."""
    if isinstance(grip.artifact, list):
        grip.artifact[:] = ["something else entirely"]
    if grip.ctx is not None:
        grip.ctx.set("zoo.mark", "should never be seen")
        grip.ctx.session = grip.ctx.session.replace(zoo_mark="should never be seen")
        grip.ctx.emit("zoo.unseen", {"why": "it raised"})
        grip.ctx.cancel("should never count")
    raise ValueError("on purpose")


@behaviour(points=("handler",))
def changes_its_session_then_raises(grip: CallSite) -> NoReturn:
    """Remembers something and raises."""
    if grip.turn is not None:
        grip.turn.remember("zoo", "as far as it came")
    raise ValueError("on purpose")


BEHAVIOURS: Final = behaviours_in(globals())


_LIMITED: Final[tuple[Point, ...]] = tuple(point for point in POINTS if point != "task")
"""A task of a plugin may take as long as it likes."""
_MINUTE: Final = 60.0


@behaviour(points=_LIMITED, modes=("worker",), shows="late")
def hangs_in_a_worker(grip: CallSite) -> Any:
    """Blocks its worker thread for good."""
    grip.cage.hang()
    return grip.tame


@behaviour(points=_LIMITED, modes=("worker",), shows="late")
def fails_late(grip: CallSite) -> Any:
    """Blocks its worker thread past its limit, then raises."""
    grip.cage.hang()
    raise ValueError("on purpose, and too late")


@behaviour(points=("utterance", "metadata", "dialog"), modes=("worker",), shows="late")
def changes_things_late(grip: CallSite) -> Any:
    """Blocks its worker thread past its limit, then changes and cancels everything."""
    grip.cage.hang()
    if grip.ctx is not None:
        grip.ctx.set("zoo.late", "should never be seen")
        grip.ctx.cancel("should never count")
        grip.ctx.emit("zoo.unseen", {"why": "it was late"})
    return ["too late"] if isinstance(grip.artifact, list) else grip.tame


@behaviour(points=("matcher",), modes=("worker",), shows="late")
def claims_late(grip: CallSite) -> Any:
    """Blocks its worker thread past its limit, then claims."""
    grip.cage.hang()
    return grip.plugin.claim("late", lang=grip.lang, utterance=grip.artifact[0])  # type: ignore[attr-defined]


@behaviour(points=_LIMITED, modes=("loop", "stream"), shows="late")
async def never_returns(grip: CallSite) -> Any:
    """Waits for something that never comes."""
    await grip.cage.never()
    return grip.tame


@behaviour(points=_LIMITED, modes=("loop", "stream"), shows="late")
async def ignores_cancellation(grip: CallSite) -> Any:
    """Waits for something that never comes, and goes on waiting when it is cancelled."""
    await grip.cage.never_whatever_comes()
    return grip.tame


@behaviour(points=("task",), shows="tame")
async def never_ends(grip: CallSite) -> Any:
    """Waits for something that never comes, as a task may, and is deaf to cancellation."""
    await grip.cage.never_whatever_comes()


@behaviour(modes=("inline",), shows="tame")
def blocks_although_it_is_quick(grip: CallSite) -> Any:
    """Calls itself quick and keeps the event loop standing still for a minute."""
    grip.cage.block(_MINUTE)
    return grip.tame


@behaviour(modes=("loop", "stream"), shows="tame")
async def blocks_in_async_def(grip: CallSite) -> Any:
    """Is an async def and keeps the event loop standing still for a minute."""
    grip.cage.block(_MINUTE)
    return grip.tame


@behaviour(shows="tame")
def spins(grip: CallSite) -> Any:
    """Computes for nothing, some ten milliseconds long."""
    total = 0
    for number in range(200_000):
        total ^= number
    return grip.tame
