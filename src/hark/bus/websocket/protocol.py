"""What Hark's own clients and server say to each other, beside Messages: subprotocol `hark.1`.

Text frames are Messages. From the server each begins with a line: its mark (who sent it, and the how many-th of that
sender it is; empty for clients that do not count), a space, and how it came (see `Receive`): nothing, a group, or `*`.
Binary frames are commands: JSON arrays of a word and what belongs to it.

    client: ["hello", origin]  ["again", origin, first, fresh]  ["had", group, mark, ...]  ["back"]
            ["follow", topic, group]  ["unfollow", topic, group]  ["took", group]  ["flush", number]
    server: ["have", number]  ["flushed", number]

A client says that it took each Message that came by a group: when it goes before, another of the group gets it.

A client counts its Messages from 1 and keeps each until the server says that it has had it for a while. One that has
lost its connection says `again`: the number of the first Message that it sends now, and of the first that it sends for
the first time. It also says which Messages it had by each group lately, what it follows, and that it is `back`. So a
server that was killed costs nothing that was on its way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from hark.bus.carrier import EVERYTHING
from hark.spec import topics

SUBPROTOCOL: Final = "hark.1"
LARGEST: Final = "Hark-Largest-Message"
"""The header in which the server says how many bytes a Message may have."""

LIFE: Final = "Hark-Bus-Life"
"""The header in which it says which life of a server it is: a client that comes back knows whether it is the same."""

HELLO: Final = "hello"
AGAIN: Final = "again"
HAD: Final = "had"
BACK: Final = "back"
HAVE: Final = "have"
FOLLOW: Final = "follow"
UNFOLLOW: Final = "unfollow"
TOOK: Final = "took"
FLUSH: Final = "flush"
FLUSHED: Final = "flushed"

_LONGEST_GROUP: Final = 200
_ORIGIN: Final = re.compile(r"[0-9a-f]{16}")
_MARK: Final = re.compile(r"[0-9a-f]{1,32}:[0-9]{1,16}")
_MOST: Final = 2**53

_decode = msgspec.json.Decoder(list[str | int]).decode
_encode = msgspec.json.Encoder().encode


class Malformed(ValueError):
    """A command that nobody understands."""


def command(word: str, *rest: str | int) -> bytes:
    """A command, ready to be sent."""
    return _encode([word, *rest])


def read_command(frame: bytes) -> tuple[str, tuple[Any, ...]]:
    """The word of a command and what belongs to it, checked; raises `Malformed`."""
    try:
        word, *rest = _decode(frame)
    except (msgspec.DecodeError, UnicodeError, ValueError, RecursionError):
        raise Malformed("no command") from None
    check = _CHECKS.get(word) if isinstance(word, str) else None
    if check is None or not check(rest):
        raise Malformed("no command")
    return str(word), tuple(rest)


def is_group(name: str) -> bool:
    """Whether a group may be called so; it stands in a line of its own before a Message."""
    return len(name) <= _LONGEST_GROUP and name != EVERYTHING and (not name or name.isprintable())


def _is_follow(rest: Sequence[str | int]) -> bool:
    if len(rest) != 2:
        return False
    topic, group = rest
    if not isinstance(topic, str) or not isinstance(group, str):
        return False
    return ((topic == EVERYTHING and not group) or topics.is_topic(topic)) and is_group(group)


def _is_took(rest: Sequence[str | int]) -> bool:
    return len(rest) == 1 and isinstance(rest[0], str) and is_group(rest[0])


def _is_number(rest: Sequence[str | int]) -> bool:
    return len(rest) == 1 and isinstance(rest[0], int)


def _is_hello(rest: Sequence[str | int]) -> bool:
    return len(rest) == 1 and isinstance(rest[0], str) and _ORIGIN.fullmatch(rest[0]) is not None


def _is_again(rest: Sequence[str | int]) -> bool:
    if len(rest) != 3 or not _is_hello(rest[:1]):
        return False
    first, fresh = rest[1:]
    return isinstance(first, int) and isinstance(fresh, int) and 0 < first <= fresh < _MOST


def _is_had(rest: Sequence[str | int]) -> bool:
    return _is_took(rest[:1]) and all(isinstance(mark, str) and _MARK.fullmatch(mark) for mark in rest[1:])


def _is_nothing(rest: Sequence[str | int]) -> bool:
    return not rest


_CHECKS: Final = {
    FOLLOW: _is_follow,
    UNFOLLOW: _is_follow,
    TOOK: _is_took,
    FLUSH: _is_number,
    FLUSHED: _is_number,
    HAVE: _is_number,
    HELLO: _is_hello,
    AGAIN: _is_again,
    HAD: _is_had,
    BACK: _is_nothing,
}
"""What belongs to each word."""
