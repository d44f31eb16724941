"""Animals that raise: everything Python lets anybody raise."""

from __future__ import annotations

import asyncio
from typing import Any, Final, NoReturn

from hark.testing.zoo.animal import CHAINS, Grip, behaviour, behaviours_in

MEGABYTE: Final = 1_000_000


class Outlaw(BaseException):
    """Nobody's exception: `except Exception` does not see it."""


class Wordless(Exception):
    """Cannot say what went wrong."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Biting(Exception):
    """Says what went wrong in words that raise when they are looked at."""

    def __str__(self) -> str:
        return Teeth("bite")


class Teeth(str):
    """Text that is no good to anybody."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise RuntimeError("a text that is neither empty nor not")

    def __format__(self, _spec: str) -> str:
        raise RuntimeError("a text that cannot be put into another")

    def isascii(self) -> bool:
        """Raises."""
        raise RuntimeError("a text that does not say what it is made of")


class Disguised(Exception):
    """Lies about what it is when it is asked."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Raises."""
        raise SystemExit("who wants to know?")


@behaviour()
def raises_an_exception(_grip: Grip) -> NoReturn:
    """Raises ValueError."""
    raise ValueError("on purpose")


@behaviour()
def raises_a_base_exception(_grip: Grip) -> NoReturn:
    """Raises what `except Exception` does not see."""
    raise Outlaw("on purpose")


@behaviour()
def raises_system_exit(_grip: Grip) -> NoReturn:
    """Raises SystemExit."""
    raise SystemExit("on purpose")


@behaviour()
def raises_keyboard_interrupt(_grip: Grip) -> NoReturn:
    """Raises KeyboardInterrupt."""
    raise KeyboardInterrupt("on purpose")


@behaviour()
def raises_cancelled_error(_grip: Grip) -> NoReturn:
    """Raises CancelledError although nobody cancelled it."""
    raise asyncio.CancelledError("on purpose")


@behaviour()
def raises_generator_exit(_grip: Grip) -> NoReturn:
    """Raises GeneratorExit."""
    raise GeneratorExit("on purpose")


@behaviour()
def raises_stop_iteration(_grip: Grip) -> NoReturn:
    """Raises StopIteration, which ends whichever generator it gets into."""
    raise StopIteration("on purpose")


@behaviour()
def raises_memory_error(_grip: Grip) -> NoReturn:
    """Raises MemoryError."""
    raise MemoryError("on purpose")


@behaviour()
def raises_a_group(_grip: Grip) -> NoReturn:
    """Raises a group with a SystemExit in it."""
    raise BaseExceptionGroup("on purpose", [SystemExit(1), ValueError("on purpose")])


@behaviour()
def raises_without_words(_grip: Grip) -> NoReturn:
    """Raises an exception whose __str__ raises."""
    raise Wordless


@behaviour()
def raises_words_that_bite(_grip: Grip) -> NoReturn:
    """Raises an exception whose __str__ returns text that raises when used."""
    raise Biting


@behaviour()
def raises_in_disguise(_grip: Grip) -> NoReturn:
    """Raises an exception whose __class__ raises SystemExit."""
    raise Disguised("on purpose")


@behaviour()
def raises_half_a_character(_grip: Grip) -> NoReturn:
    """Raises with a lone surrogate in its text, which UTF-8 cannot carry."""
    raise ValueError("half a pair: \ud83d")


@behaviour()
def raises_a_novel(_grip: Grip) -> NoReturn:
    """Raises with a megabyte of text."""
    raise ValueError("on and on " * (MEGABYTE // 10))


@behaviour()
def runs_out_of_stack(_grip: Grip) -> Any:
    """Calls itself until Python refuses."""

    def deeper() -> Any:
        return deeper()

    return deeper()


@behaviour(points=CHAINS)
def changes_its_input_then_raises(grip: Grip) -> NoReturn:
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
def changes_its_session_then_raises(grip: Grip) -> NoReturn:
    """Remembers something and raises."""
    if grip.turn is not None:
        grip.turn.remember("zoo", "as far as it came")
    raise ValueError("on purpose")


BEHAVIOURS: Final = behaviours_in(globals())
