"""What a client has received, so that what is sent again reaches it once."""

from __future__ import annotations

from typing import Final

from hark.bus.carrier import EVERYTHING

_SENDERS: Final = 10_000
"""Senders of which it is known how far they are."""
_LATELY: Final = 4_000
"""Messages that came by a group and are remembered: more than come by until a sender lets go of one."""


class Seen:
    """Tells what came before by its mark: a sender, and the number it gave its Message."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], int] = {}
        """Of each sender and way, the number of what came last. One sender's Messages keep their order."""
        self._by_group: dict[tuple[str, str], None] = {}
        """Groups and marks, lately. What another member left comes late, so here the order says nothing."""

    def is_new(self, mark: str, way: str) -> bool:
        """Whether a Message has not come this way before; from now on it has."""
        if way and way != EVERYTHING:
            return self._is_new_to_group(mark, way)
        sender, _, number = mark.rpartition(":")
        key, count = (sender, way), int(number)
        if count <= self._last.get(key, 0):
            return False
        self._last.pop(key, None)
        self._last[key] = count  # as the latest: who has long said nothing is forgotten first
        if len(self._last) > _SENDERS:
            del self._last[next(iter(self._last))]
        return True

    def by_group(self) -> dict[str, list[str]]:
        """The groups by which Messages came lately, with their marks."""
        found: dict[str, list[str]] = {}
        for group, mark in self._by_group:
            found.setdefault(group, []).append(mark)
        return found

    def _is_new_to_group(self, mark: str, group: str) -> bool:
        key = (group, mark)
        if key in self._by_group:
            return False
        self._by_group[key] = None
        if len(self._by_group) > _LATELY:
            del self._by_group[next(iter(self._by_group))]
        return True
