"""Faults that raise whatever Python lets one raise, and faults that take too long."""

from __future__ import annotations

import asyncio
from typing import Any, Final, NoReturn

from hark.testing.faults.plugin import CHAINS, POINTS, CallSite, Point, behaviour, behaviours_in, ctx_at, turn_at

MEGABYTE: Final = 1_000_000


class UncommonError(BaseException):
    """An exception that `except Exception` does not catch."""


class UnprintableError(Exception):
    """An exception whose text cannot be read."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class HostileMessageError(Exception):
    """An exception whose text raises when it is used."""

    def __str__(self) -> str:
        return HostileMessage("hostile")


class HostileMessage(str):
    """Text that raises when it is used."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise RuntimeError("a text that is neither empty nor not")

    def __format__(self, _spec: str) -> str:
        raise RuntimeError("a text that cannot be put into another")

    def isascii(self) -> bool:
        """Raises."""
        raise RuntimeError("a text that does not say what it is made of")


class HiddenClassError(Exception):
    """An exception whose class cannot be read."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Raises."""
        raise SystemExit("not to be asked")


@behaviour()
def raises_an_exception(_site: CallSite) -> NoReturn:
    """Raises ValueError."""
    raise ValueError("on purpose")


@behaviour()
def raises_a_base_exception(_site: CallSite) -> NoReturn:
    """Raises what `except Exception` does not see."""
    raise UncommonError("on purpose")


@behaviour()
def raises_system_exit(_site: CallSite) -> NoReturn:
    """Raises SystemExit."""
    raise SystemExit("on purpose")


@behaviour()
def raises_keyboard_interrupt(_site: CallSite) -> NoReturn:
    """Raises KeyboardInterrupt."""
    raise KeyboardInterrupt("on purpose")


@behaviour()
def raises_cancelled_error(_site: CallSite) -> NoReturn:
    """Raises CancelledError although no task cancelled it."""
    raise asyncio.CancelledError("on purpose")


@behaviour()
def raises_generator_exit(_site: CallSite) -> NoReturn:
    """Raises GeneratorExit."""
    raise GeneratorExit("on purpose")


@behaviour()
def raises_stop_iteration(_site: CallSite) -> NoReturn:
    """Raises StopIteration, which ends whichever generator it gets into."""
    raise StopIteration("on purpose")


@behaviour()
def raises_memory_error(_site: CallSite) -> NoReturn:
    """Raises MemoryError."""
    raise MemoryError("on purpose")


@behaviour()
def raises_a_group(_site: CallSite) -> NoReturn:
    """Raises a group with a SystemExit in it."""
    raise BaseExceptionGroup("on purpose", [SystemExit(1), ValueError("on purpose")])


@behaviour()
def raises_without_words(_site: CallSite) -> NoReturn:
    """Raises an exception whose __str__ raises."""
    raise UnprintableError


@behaviour()
def raises_hostile_text(_site: CallSite) -> NoReturn:
    """Raises an exception whose __str__ returns text that raises when used."""
    raise HostileMessageError


@behaviour()
def raises_in_disguise(_site: CallSite) -> NoReturn:
    """Raises an exception whose __class__ raises SystemExit."""
    raise HiddenClassError("on purpose")


@behaviour()
def raises_half_a_character(_site: CallSite) -> NoReturn:
    """Raises with a lone surrogate in its text, which UTF-8 cannot carry."""
    raise ValueError("half a pair: \ud83d")


@behaviour()
def raises_a_novel(_site: CallSite) -> NoReturn:
    """Raises with a megabyte of text."""
    raise ValueError("on and on " * (MEGABYTE // 10))


@behaviour()
def runs_out_of_stack(_site: CallSite) -> Any:
    """Calls itself until Python refuses."""

    def deeper() -> Any:
        return deeper()

    return deeper()


@behaviour(points=CHAINS)
def changes_its_input_then_raises(site: CallSite) -> NoReturn:
    """Changes everything it was given, in place where it can, and raises."""
    if isinstance(site.artifact, list):
        site.artifact[:] = ["something else entirely"]
    ctx_at(site).set("faults.mark", "should never be seen")
    ctx_at(site).session = ctx_at(site).session.replace(fault_mark="should never be seen")
    ctx_at(site).emit("faults.unseen", {"why": "it raised"})
    ctx_at(site).cancel("should never count")
    raise ValueError("on purpose")


@behaviour(points=("handler",))
def changes_its_session_then_raises(site: CallSite) -> NoReturn:
    """Remembers something and raises."""
    turn_at(site).remember("faults", "as far as it came")
    raise ValueError("on purpose")


_LIMITED: Final[tuple[Point, ...]] = tuple(point for point in POINTS if point != "task")
"""A task of a plugin may take as long as it likes."""
_MINUTE: Final = 60.0


@behaviour(points=_LIMITED, modes=("worker",), shows="late")
def hangs_in_a_worker(site: CallSite) -> Any:
    """Blocks its worker thread for good."""
    site.switch.hang()
    return site.normal


@behaviour(points=_LIMITED, modes=("worker",), shows="late")
def fails_late(site: CallSite) -> Any:
    """Blocks its worker thread past its limit, then raises."""
    site.switch.hang()
    raise ValueError("on purpose, and too late")


@behaviour(points=("utterance", "metadata", "dialog"), modes=("worker",), shows="late")
def changes_things_late(site: CallSite) -> Any:
    """Blocks its worker thread past its limit, then changes and cancels everything."""
    site.switch.hang()
    ctx_at(site).set("faults.late", "should never be seen")
    ctx_at(site).cancel("should never count")
    ctx_at(site).emit("faults.unseen", {"why": "it was late"})
    return ["too late"] if isinstance(site.artifact, list) else site.normal


@behaviour(points=("matcher",), modes=("worker",), shows="late")
def claims_late(site: CallSite) -> Any:
    """Blocks its worker thread past its limit, then claims."""
    site.switch.hang()
    return site.plugin.claim("late", lang=site.lang, utterance=site.artifact[0])  # type: ignore[attr-defined]


@behaviour(points=_LIMITED, modes=("loop", "stream"), shows="late")
async def never_returns(site: CallSite) -> Any:
    """Waits for something that never comes."""
    await site.switch.wait_forever()
    return site.normal


@behaviour(points=_LIMITED, modes=("loop", "stream"), shows="late")
async def ignores_cancellation(site: CallSite) -> Any:
    """Waits for something that never comes, and goes on waiting when it is cancelled."""
    await site.switch.wait_uncancellable()
    return site.normal


@behaviour(points=("task",), shows="nothing")
async def never_ends(site: CallSite) -> Any:
    """Waits for something that never comes, as a task may, and ignores cancellation."""
    await site.switch.wait_uncancellable()


@behaviour(modes=("inline",), shows="nothing")
def blocks_although_it_is_quick(site: CallSite) -> Any:
    """Calls itself quick and blocks the event loop for a minute."""
    site.switch.block(_MINUTE)
    return site.normal


@behaviour(modes=("loop", "stream"), shows="nothing")
async def blocks_in_async_def(site: CallSite) -> Any:
    """Is an async def and blocks the event loop for a minute."""
    site.switch.block(_MINUTE)
    return site.normal


@behaviour(shows="nothing")
def spins(site: CallSite) -> Any:
    """Computes for nothing, some ten milliseconds long."""
    total = 0
    for number in range(200_000):
        total ^= number
    return site.normal


BEHAVIOURS: Final = behaviours_in(globals())
