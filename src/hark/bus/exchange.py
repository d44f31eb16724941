"""Which subscriber follows which topic: the table at the heart of a broker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, Protocol, TypeVar

from hark.bus.protocols import EVERYTHING

F = TypeVar("F")
F_contra = TypeVar("F_contra", contravariant=True)


class Subscriber(Protocol[F_contra]):
    """A client of the exchange."""

    def deliver(self, topic: str, frame: F_contra, via: str) -> None:
        """Take a frame and the subscription it came by; see `Receive`. Never blocks, never raises."""


S = TypeVar("S", bound=Subscriber[Any])


class Exchange(Generic[S, F]):
    """Hands every frame to all followers of its topic, and to one of each group that follows it, in turn."""

    def __init__(self) -> None:
        self._topics: dict[str, dict[str, list[S]]] = {}
        """The followers of each topic: without a group (""), and in each group."""
        self._follows: dict[S, set[tuple[str, str]]] = {}

    def __iter__(self) -> Iterator[S]:
        return iter(list(self._follows))

    def __len__(self) -> int:
        return len(self._follows)

    def join(self, subscriber: S) -> None:
        """Add a subscriber, which follows nothing yet."""
        self._follows[subscriber] = set()

    def leave(self, subscriber: S) -> None:
        """Forget a subscriber and what it follows."""
        for topic, group in self._follows.pop(subscriber, set()):
            self._remove(subscriber, topic, group)

    def follow(self, subscriber: S, topic: str, group: str = "") -> bool:
        """Hand a subscriber what is sent on `topic`, once, however often it asks; whether that is new."""
        if subscriber not in self._follows or (topic, group) in self._follows[subscriber]:
            return False
        self._follows[subscriber].add((topic, group))
        self._topics.setdefault(topic, {}).setdefault(group, []).append(subscriber)
        return True

    def unfollow(self, subscriber: S, topic: str, group: str = "") -> bool:
        """End `follow` with the same arguments; whether there was something to end."""
        if (topic, group) not in self._follows.get(subscriber, ()):
            return False
        self._follows[subscriber].discard((topic, group))
        self._remove(subscriber, topic, group)
        return True

    def count(self, subscriber: S) -> int:
        """How many topics a subscriber follows; one that it follows in two groups counts twice."""
        return len(self._follows.get(subscriber, ()))

    def is_followed(self, topic: str) -> bool:
        """Whether a frame on this topic would reach a subscriber."""
        return topic in self._topics or EVERYTHING in self._topics

    def publish(self, topic: str, frame: F) -> None:
        """Deliver a frame; subscribers to everything get it first."""
        for subscriber in tuple(self._topics.get(EVERYTHING, {}).get("", ())):
            subscriber.deliver(topic, frame, EVERYTHING)
        for group, members in tuple(self._topics.get(topic, {}).items()):
            if not group:
                for subscriber in tuple(members):
                    subscriber.deliver(topic, frame, "")
            elif members:
                subscriber = members.pop(0)
                members.append(subscriber)  # the next frame goes to another member
                subscriber.deliver(topic, frame, group)

    def _remove(self, subscriber: S, topic: str, group: str) -> None:
        groups = self._topics[topic]
        groups[group].remove(subscriber)
        if not groups[group]:
            del groups[group]
            if not groups:
                del self._topics[topic]
