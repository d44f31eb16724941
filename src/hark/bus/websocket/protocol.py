"""What Hark's own clients and server say to each other, beside Messages: subprotocol `hark.1`.

Text frames are Messages. From the server each begins with a line that says how it came (see `Receive`): empty, a
group, or `*`. Binary frames are commands: JSON arrays of a word and what belongs to it.

    client: ["follow", topic, group]  ["unfollow", topic, group]  ["took", group]  ["flush", number]
    server: ["flushed", number]

A client says that it took each Message that came by a group: when it goes before, another of the group gets it.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from hark.bus.carrier import EVERYTHING
from hark.spec import topics

SUBPROTOCOL: Final = "hark.1"
LARGEST: Final = "Hark-Largest-Message"
"""The header in which the server says how many bytes a Message may have."""

FOLLOW: Final = "follow"
UNFOLLOW: Final = "unfollow"
TOOK: Final = "took"
FLUSH: Final = "flush"
FLUSHED: Final = "flushed"

_LONGEST_GROUP: Final = 200

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
    if word in (FOLLOW, UNFOLLOW) and len(rest) == 2 and all(isinstance(part, str) for part in rest):
        topic, group = str(rest[0]), str(rest[1])
        if ((topic == EVERYTHING and not group) or topics.is_topic(topic)) and is_group(group):
            return str(word), (topic, group)
    if word == TOOK and len(rest) == 1 and isinstance(rest[0], str) and is_group(rest[0]):
        return TOOK, (rest[0],)
    if word in (FLUSH, FLUSHED) and len(rest) == 1 and isinstance(rest[0], int):
        return str(word), (rest[0],)
    raise Malformed("no command")


def is_group(name: str) -> bool:
    """Whether a group may be called so; it stands in a line of its own before a Message."""
    return len(name) <= _LONGEST_GROUP and name != EVERYTHING and (not name or name.isprintable())
