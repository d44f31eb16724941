"""Who follows what: the table at the heart of a broker."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, Generic, Protocol, TypeVar

from hark.bus.carrier import EVERYTHING
from hark.bus.custody import Custody

F = TypeVar("F")
F_contra = TypeVar("F_contra", contravariant=True)


class Member(Protocol[F_contra]):
    """Somebody who is connected to the exchange."""

    def deliver(self, topic: str, frame: F_contra, way: str) -> None:
        """Take a frame on a topic and how it came; see `Receive`. Never blocks, never raises."""


M = TypeVar("M", bound=Member[Any])


class Exchange(Generic[M, F]):
    """Hands every frame to all who follow its topic, and to one of each group that does, in turn.

    A member of a group says that it `took` each frame it was handed so. When it goes without, another of the group gets
    it, or whoever is the next to come.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._custody: Custody[M, F] = Custody(now)
        self._topics: dict[str, dict[str, list[M]]] = {}
        """Who follows a topic: by itself (""), or in each group."""
        self._follows: dict[M, set[tuple[str, str]]] = {}

    def __iter__(self) -> Iterator[M]:
        return iter(list(self._follows))

    def __len__(self) -> int:
        return len(self._follows)

    def join(self, member: M) -> None:
        """Let somebody in, who follows nothing yet."""
        self._follows[member] = set()

    def leave(self, member: M) -> None:
        """Forget a member and what it follows."""
        followed = self._follows.pop(member, set())
        for topic, group in followed:
            self._remove(member, topic, group)
        self._pass_on(member, {group for _, group in followed if group})

    def follow(self, member: M, topic: str, group: str = "") -> None:
        """Hand a member what is sent on `topic`, once, however often it asks; first, what waits for its group."""
        if member in self._follows and (topic, group) not in self._follows[member]:
            self._follows[member].add((topic, group))
            members = self._topics.setdefault(topic, {}).setdefault(group, [])
            members.append(member)
            if group:
                for frame in self._custody.claim(topic, group):
                    self._hand(members, group, topic, frame)

    def expect(self, topic: str, group: str) -> None:
        """A group that is sure to come: what is sent on `topic` before it does waits for it, for a while."""
        if group not in self._topics.get(topic, {}):
            self._custody.vacate(topic, group)

    def took(self, member: M, group: str) -> None:
        """A member of a group has the first of those frames that it was handed and has not taken yet."""
        self._custody.took(member, group)

    def unfollow(self, member: M, topic: str, group: str = "") -> None:
        """Hand it that no longer."""
        if (topic, group) in self._follows.get(member, ()):
            self._follows[member].discard((topic, group))
            self._remove(member, topic, group)
            if group and not self.is_member(member, group):
                self._pass_on(member, {group})

    def count(self, member: M) -> int:
        """How many topics a member follows; one that it follows in two groups counts twice."""
        return len(self._follows.get(member, ()))

    def is_member(self, member: M, group: str) -> bool:
        """Whether a member follows something in this group."""
        return any(group == other for _, other in self._follows.get(member, ()))

    def publish(self, topic: str, frame: F, had: Collection[str] = ()) -> None:
        """Deliver a frame, but to no group that had it; those who want everything get it first."""
        for member in tuple(self._topics.get(EVERYTHING, {}).get("", ())):
            member.deliver(topic, frame, EVERYTHING)
        for group, members in tuple(self._topics.get(topic, {}).items()):
            if not group:
                for member in tuple(members):
                    member.deliver(topic, frame, "")
            elif members and group not in had:
                self._hand(members, group, topic, frame)
        self._custody.missed(topic, frame, had)

    def _hand(self, members: list[M], group: str, topic: str, frame: F) -> None:
        member = members.pop(0)
        members.append(member)  # next time it is another's turn
        self._custody.handed(member, group, topic, frame)
        member.deliver(topic, frame, group)

    def _pass_on(self, member: M, groups: set[str]) -> None:
        """Let others have what a member was handed in these groups and has not taken."""
        for group, parked in self._custody.untaken(member, groups):
            members = self._topics.get(parked.topic, {}).get(group)
            if members:
                self._hand(members, group, parked.topic, parked.frame)
            else:
                self._custody.park(group, parked)

    def _remove(self, member: M, topic: str, group: str) -> None:
        groups = self._topics[topic]
        groups[group].remove(member)
        if not groups[group]:
            del groups[group]
            if group:
                self._custody.vacate(topic, group)
            if not groups:
                del self._topics[topic]
