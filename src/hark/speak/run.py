"""The queue of one session, from the first thing that came while there was nothing to the last."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Final

from hark.bus import Bus
from hark.model import Audio, Message
from hark.speak.item import Item, Outcome
from hark.spec import topics

if TYPE_CHECKING:  # who shows text only has none
    from hark.speak.loudspeaker import Loudspeaker

log = logging.getLogger("hark.speak")

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]

_BUFFER: Final = 30.0
"""Seconds of streamed sound that may wait to be played."""


class _Made:
    """A piece of an item that is ready to be heard, or, without sound, the end of the item."""

    __slots__ = ("audio", "item", "outcome", "part")

    def __init__(self, item: Item, audio: list[Audio], part: object, outcome: Outcome | None = None) -> None:
        self.item = item
        self.audio = audio
        self.part = part
        """The sentence it belongs to, when that comes in pieces: those that wait are played as one."""
        self.outcome = outcome


class Run:
    """Makes and plays what a session has to say: one task makes, at most `ahead` pieces in front of the one that plays.

    A stop ends a run for good: what comes later is another run, and what was being made in this one counts for nothing
    when it is ready. Without a loudspeaker nothing is heard and an item is over when it is made.
    """

    def __init__(
        self,
        session_id: str,
        bus: Bus,
        spawn: Spawn,
        over: Callable[[Run], None],
        loudspeaker: Loudspeaker | None = None,
        ahead: int = 1,
    ) -> None:
        self.session_id = session_id
        self.stopped = False
        self.active = False
        """Whether something was heard: `ovos.audio.output.started` was sent, `.ended` is owed."""
        self._bus = bus
        self._spawn = spawn
        self._over = over
        self._ahead = max(ahead, 1)
        self._loudspeaker = loudspeaker
        self._waiting: deque[Item] = deque()
        self._making: Item | None = None
        self._made: deque[_Made] = deque()
        self._playing: Item | None = None
        self._last: Item | None = None
        self._asked: Item | None = None
        """The last item that wants the microphone opened."""
        self._maker: asyncio.Task[None] | None = None
        self._player: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        """Something was made, or nothing more will be."""
        self._space = asyncio.Event()
        """Something made was taken to be played."""

    def add(self, item: Item) -> None:
        """Reserve the next place for an item."""
        self._waiting.append(item)
        if self._maker is None:
            self._make_later()

    def stop(self) -> None:
        """End what is heard, drop what waits, and let what is being made come to nothing."""
        if self.stopped:
            return
        self.stopped = True
        self._over(self)
        for item in dict.fromkeys(self._unfinished()):
            item.end("stopped")
        self._waiting.clear()
        self._made.clear()
        self._news.set()
        self._space.set()
        if self._player is not None:
            self._player.cancel()
        if self.active:
            self.active = False
            self._signal(topics.AUDIO_OUTPUT_ENDED, self._last)

    def _unfinished(self) -> Iterator[Item]:
        items = (self._playing, *(made.item for made in self._made), self._making, *self._waiting)
        return (item for item in items if item is not None and item.outcome is None)

    # Making.

    async def room(self) -> None:
        """Wait until one more piece may be made."""
        while not self.stopped and sum(made.outcome is None for made in self._made) >= self._ahead:
            self._space.clear()
            await self._space.wait()

    async def offer(self, item: Item, audio: Audio, part: object = None) -> None:
        """Let a piece be heard after those offered before. What is `part` of the same is played without a gap."""
        if self.stopped:
            return
        last = self._made[-1] if self._made else None
        if part is not None and last is not None and last.part is part:
            last.audio.append(audio)
        else:
            self._made.append(_Made(item, [audio], part))
        self._play_on()
        while part is not None and not self.stopped and self._seconds_made() > _BUFFER:
            self._space.clear()
            await self._space.wait()

    def _seconds_made(self) -> float:
        return sum(audio.seconds for made in self._made for audio in made.audio)

    def withdraw(self, item: Item) -> None:
        """Drop the pieces of an item that are not heard yet."""
        self._made = deque(made for made in self._made if made.item is not item)

    def _make_later(self) -> None:
        self._maker = self._spawn(self._make(), f"make what is said to {self.session_id}")
        self._maker.add_done_callback(self._maker_done)

    def _maker_done(self, _task: asyncio.Task[None]) -> None:
        self._maker = None
        if self.stopped:
            return
        # Somebody may have cancelled the task, even before it began: what waits is still to be said.
        if self._waiting:
            self._make_later()
        elif self._loudspeaker is None:
            self._over(self)

    async def _make(self) -> None:
        while self._waiting and not self.stopped:
            await self.room()
            if not self._waiting:
                return  # stopped meanwhile
            item = self._making = self._waiting.popleft()
            outcome: Outcome = "failed"
            try:
                outcome = await item.make(self)
            except asyncio.CancelledError:
                outcome = "stopped"
                raise
            except Exception:
                log.exception("%s could not be rendered for session %s", item.origin.type, self.session_id)
            finally:
                self._making = None
                if item.outcome is None:
                    self._is_made(item, outcome)

    def _is_made(self, item: Item, outcome: Outcome) -> None:
        if self._loudspeaker is None:
            item.end(outcome)
        else:
            self._made.append(_Made(item, [], None, outcome))
            self._play_on()

    # Playing.

    def _play_on(self) -> None:
        self._news.set()
        if self._player is None and self._loudspeaker is not None and not self.stopped:
            self._player = self._spawn(self._play_all(), f"play what is said to {self.session_id}")
            self._player.add_done_callback(self._player_done)

    def _player_done(self, _task: asyncio.Task[None]) -> None:
        self._player = None
        if not self.stopped:  # it was cancelled by somebody else: the rest is still to be heard
            self._play_on()

    async def _play_all(self) -> None:
        while not self.stopped:
            if self._made:
                await self._play_next(self._made.popleft())
            elif self._waiting or self._making is not None:
                self._news.clear()
                await self._news.wait()
            else:
                self._drained()

    async def _play_next(self, made: _Made) -> None:
        item = self._playing = self._last = made.item
        self._space.set()
        if made.outcome is not None:
            self._playing = None
            self._finished(item, made.outcome)
            return
        loudspeaker = self._loudspeaker
        if loudspeaker is None or not loudspeaker.usable:
            item.unplayed += 1
            item.note("", "failed", 0.0, "no player is in order")
            return
        if not self.active:
            self.active = True
            self._signal(topics.AUDIO_OUTPUT_STARTED, item)
            if self.stopped:  # by somebody who does not want anything to be heard now
                return
        item.begins()
        for audio in loudspeaker.joined(made.audio):
            if await loudspeaker.play(audio, item.note):
                item.played += 1
            else:
                item.unplayed += 1

    def _finished(self, item: Item, outcome: Outcome) -> None:
        if outcome == "rendered" and item.unplayed and not item.played:
            outcome = "failed"
        if item.listens and outcome in ("rendered", "failed"):
            self._asked = item
        item.end(outcome)

    def _drained(self) -> None:
        """Everything was heard: be idle again, then say so, then open the microphone if somebody asked for it."""
        self.stopped = True  # nothing is added to a run that is over
        self._over(self)
        if self.active:
            self.active = False
            self._signal(topics.AUDIO_OUTPUT_ENDED, self._last)
        if self._asked is not None:
            self._signal(topics.MIC_LISTEN, self._asked)

    def _signal(self, topic: str, item: Item | None) -> None:
        if item is not None:
            self._bus.emit(self._in_session(item).forward(topic))

    def _in_session(self, item: Item) -> Message:
        """The Message of an item; a transformer may have moved it elsewhere, but it is heard here."""
        message = item.message
        return message if message.session_id == self.session_id else message.carrying(item.origin.session)
