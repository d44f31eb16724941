"""What is made and not heard yet."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from typing import Final

from hark.model import Audio
from hark.speak.item import Item, Outcome

_BUFFER: Final = 30.0
"""Seconds of streamed sound that may wait to be played."""


class Made:
    """A piece of an item that is ready to be heard, or, without sound, the end of the item."""

    __slots__ = ("audio", "item", "outcome", "part")

    def __init__(self, item: Item, audio: list[Audio], part: object, outcome: Outcome | None = None) -> None:
        self.item = item
        self.audio = audio
        self.part = part
        """The sentence it belongs to, when that comes in pieces: those that wait are played as one."""
        self.outcome = outcome


class Pieces:
    """Between who makes and who plays, in order: at most `ahead` pieces wait, or half a minute of a stream."""

    def __init__(self, ahead: int) -> None:
        self._ahead = max(ahead, 1)
        self._made: deque[Made] = deque()
        self._closed = False
        self._news = asyncio.Event()
        """Something was made, or nothing more will be."""
        self._space = asyncio.Event()
        """Something made was taken to be played."""

    def __iter__(self) -> Iterator[Made]:
        return iter(self._made)

    def put(self, item: Item, audio: Audio, part: object = None) -> None:
        """Add a piece; what is `part` of the same as the last one is joined to it."""
        last = self._made[-1] if self._made else None
        if part is not None and last is not None and last.part is part:
            last.audio.append(audio)
        else:
            self._made.append(Made(item, [audio], part))
        self._news.set()

    def end(self, item: Item, outcome: Outcome) -> None:
        """Nothing more of an item comes."""
        self._made.append(Made(item, [], None, outcome))
        self._news.set()

    def take(self) -> Made | None:
        """The next to be heard, if there is one."""
        if not self._made:
            return None
        made = self._made.popleft()
        self._space.set()
        return made

    def withdraw(self, item: Item) -> None:
        """Drop the pieces of an item."""
        self._made = deque(made for made in self._made if made.item is not item)

    def close(self) -> None:
        """Drop everything: nobody waits for anything any more."""
        self._closed = True
        self._made.clear()
        self._news.set()
        self._space.set()

    async def room(self) -> None:
        """Wait until one more piece may be made."""
        while not self._closed and sum(made.outcome is None for made in self._made) >= self._ahead:
            self._space.clear()
            await self._space.wait()

    async def room_for_more(self) -> None:
        """Wait until a stream may go on."""
        while not self._closed and self._seconds() > _BUFFER:
            self._space.clear()
            await self._space.wait()

    async def news(self) -> None:
        """Wait until something is made, or it is closed."""
        self._news.clear()
        await self._news.wait()

    def _seconds(self) -> float:
        return sum(audio.seconds for made in self._made for audio in made.audio)
