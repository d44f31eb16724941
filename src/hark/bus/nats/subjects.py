"""Topics as NATS subjects, and groups as queue groups."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from hark.bus.protocols import EVERYTHING

_LONGEST: Final = 512
"""NATS reads a command line of 4,096 bytes at most; what is longer than this goes by its digest."""

# What a topic is made of (MSG-1 §2.1) means nothing to NATS but the dot, which parts words in both.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_:-]+(?:\.[A-Za-z0-9_:-]+)*")


class Subjects:
    """The subject of each topic, under one prefix. Different topics have different subjects."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._known: dict[str, str] = {EVERYTHING: f"{prefix}>"}

    @property
    def everything(self) -> str:
        """The subject that stands for all of them."""
        return self._known[EVERYTHING]

    def of(self, topic: str) -> str:
        """The subject on which a topic's Messages go."""
        known = self._known.get(topic)
        if known is None:
            known = self._prefix + escaped(topic)
            if len(self._known) < _MANY and len(topic) <= _LONGEST:
                self._known[topic] = known
        return known


_MANY: Final = 4096


def escaped(name: str) -> str:
    """`name` itself where NATS can have it so; else marked by a tilde, which no topic has."""
    if len(name) <= _LONGEST and _PLAIN.fullmatch(name):
        return name
    if len(name.encode(errors="surrogatepass")) * 2 < _LONGEST:
        return f"~{name.encode(errors='surrogatepass').hex()}"
    return f"~~{sha256(name.encode(errors='surrogatepass')).hexdigest()}"
