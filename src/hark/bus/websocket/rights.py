"""Who may connect, and what they may emit and receive."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Protocol

import msgspec


class Rights(msgspec.Struct, frozen=True):
    """Topics that a client may emit and receive: patterns in which `*` stands for anything. None is no restriction."""

    emit: tuple[str, ...] | None = None
    receive: tuple[str, ...] | None = None

    def may_emit(self, topic: str) -> bool:
        """Whether a Message on this topic is taken from the client."""
        return self.emit is None or _allows(self.emit, topic)

    def may_receive(self, topic: str) -> bool:
        """Whether a Message on this topic is handed to the client."""
        return self.receive is None or _allows(self.receive, topic)


EVERYTHING_ALLOWED: Final = Rights()


class Key(msgspec.Struct, frozen=True):
    """What a token opens: who it was given to, and what they may do."""

    name: str
    rights: Rights = EVERYTHING_ALLOWED
    mark: str = ""
    """What tells it from another one for the same name."""


class Keys(Protocol):
    """The tokens that open a door."""

    def find(self, token: str) -> Key | None:
        """Whose token this is. Takes as long for a wrong one as for a right one."""

    def holds(self, key: Key) -> bool:
        """Whether a key that was found before still opens the door, with the same rights."""


@lru_cache(maxsize=8_192)
def _allows(patterns: tuple[str, ...], topic: str) -> bool:
    return _expression(patterns).fullmatch(topic) is not None


@lru_cache(maxsize=256)
def _expression(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(pattern).replace(r"\*", ".*") for pattern in patterns) or r"(?!)")
