"""Things that are not what they are taken for; animals return them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from hark.model import Match, Session
from hark.model.frozen import Sealed


class Text(str):
    """Text of a subclass, with opinions of its own."""

    __slots__ = ()

    def __eq__(self, _other: object) -> bool:
        raise RuntimeError("not to be compared")

    __hash__ = str.__hash__

    def encode(self, *_args: Any) -> NoReturn:
        """Raises."""
        raise RuntimeError("not to be encoded")


class Texts(list[str]):
    """A list that raises when one looks into it."""

    def __iter__(self) -> Iterator[str]:
        raise SystemExit("not to be looked into")


class Pretender:
    """Says it is whatever it is told to say, and is nothing of the kind."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self._kind

    def __eq__(self, _other: object) -> bool:
        raise RuntimeError("not to be compared")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise RuntimeError("not to be shown")


class Unasked:
    """Raises SystemExit when asked what it is."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise SystemExit("not to be asked")


class Claim(Match, frozen=True):
    """A Match that swears it is in order."""

    def defect(self) -> None:
        """Says that all is well."""
        return

    @property
    def topic(self) -> str:
        """Raises."""
        raise SystemExit("not to be dispatched")


class Slots(Sealed):
    """Slots that show other things than they hold."""

    __slots__ = ()

    def items(self) -> Any:
        """Shows nothing at all."""
        return {}.items()


class Diary(Session):
    """A session of a subclass, with opinions of its own."""

    __slots__ = ()

    @property
    def session_id(self) -> str:
        """Raises."""
        raise SystemExit("not to be asked")

    def get(self, _name: str, _default: Any = None) -> NoReturn:
        """Raises."""
        raise RuntimeError("not to be read")


def diary_of(session: Session) -> Session:
    """The same session as a `Diary`."""
    diary: Any = object.__new__(Diary)
    for slot in ("_fields", "_exact"):
        object.__setattr__(diary, slot, getattr(session, slot))
    found: Session = diary
    return found


def generator() -> Iterator[str]:
    """A generator that was never begun."""
    yield "never"


async def coroutine() -> str:
    """A coroutine; whoever makes one has to run or close it."""
    return "never"
