"""The queue of one session, from the first thing that came while there was nothing to the last."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

from hark.bus import Bus
from hark.model import Audio, Message
from hark.speak.item import Item, Outcome
from hark.speak.pieces import Made, Pieces
from hark.spec import topics

if TYPE_CHECKING:  # who shows text only has none
    from hark.speak.loudspeaker import Loudspeaker

log = logging.getLogger("hark.speak")

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]


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
        self._pieces = Pieces(ahead)
        self._loudspeaker = loudspeaker
        self._waiting: deque[Item] = deque()
        self._making: Item | None = None
        self._playing: Item | None = None
        self._last: Item | None = None
        self._asked: Item | None = None
        """The last item that wants the microphone opened."""
        self._maker: asyncio.Task[None] | None = None
        self._player: asyncio.Task[None] | None = None

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
        self._pieces.close()
        if self._player is not None:
            self._player.cancel()
        if self.active:
            self.active = False
            self._signal(topics.AUDIO_OUTPUT_ENDED, self._last)

    def _unfinished(self) -> Iterator[Item]:
        items = (self._playing, *(made.item for made in self._pieces), self._making, *self._waiting)
        return (item for item in items if item is not None and item.outcome is None)

    # Making.

    async def room(self) -> None:
        """Wait until one more piece may be made."""
        await self._pieces.room()

    async def offer(self, item: Item, audio: Audio, part: object = None) -> None:
        """Let a piece be heard after those offered before. What is `part` of the same is played without a gap."""
        if self.stopped:
            return
        self._pieces.put(item, audio, part)
        self._play_on()
        if part is not None:
            await self._pieces.room_for_more()

    def withdraw(self, item: Item) -> None:
        """Drop the pieces of an item that are not heard yet."""
        self._pieces.withdraw(item)

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
            self._pieces.end(item, outcome)
            self._play_on()

    # Playing.

    def _play_on(self) -> None:
        if self._player is None and self._loudspeaker is not None and not self.stopped:
            self._player = self._spawn(self._play_all(), f"play what is said to {self.session_id}")
            self._player.add_done_callback(self._player_done)

    def _player_done(self, _task: asyncio.Task[None]) -> None:
        self._player = None
        if not self.stopped:  # it was cancelled by somebody else: the rest is still to be heard
            self._play_on()

    async def _play_all(self) -> None:
        while not self.stopped:
            made = self._pieces.take()
            if made is not None:
                await self._play_next(made)
            elif self._waiting or self._making is not None:
                await self._pieces.news()
            else:
                self._drained()

    async def _play_next(self, made: Made) -> None:
        item = self._playing = self._last = made.item
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
