"""What waits to be heard in each session, and its synthesis and playback in order."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

from hark.bus import Bus
from hark.hosting import cancel_all
from hark.model import Audio, Clock, Message
from hark.spec import topics

if TYPE_CHECKING:
    from hark.speak.playback import Loudspeaker


ItemOutcome = Literal["rendered", "failed", "cancelled", "stopped", "dropped"]
"""How it went with an item: heard (or shown), nothing could be made of it, a transformer or a person did not want it,
it was no request at all."""


class QueueItem(ABC):
    """Something to be heard in its turn. Its place is the order of receipt, however long it takes to make."""

    def __init__(self, message: Message) -> None:
        self.origin = message
        """The Message as it came."""
        self.message = message
        """The Message as the chains have left it so far."""
        self.outcome: ItemOutcome | None = None
        self.played = 0
        """How many pieces of it were heard."""
        self.unplayed = 0
        """How many nobody could play."""

    @property
    def listens(self) -> bool:
        """Whether the microphone is to be opened afterwards (AUDIO-1 §4.4)."""
        return self.origin.data.get("listen") is True

    @abstractmethod
    async def make(self, run: SessionQueue) -> ItemOutcome:
        """Make what is to be heard and `offer` it to the run, piece by piece; how it went."""

    @abstractmethod
    def note(self, who: str, how: str, seconds: float, why: str) -> None:
        """Somebody played a piece of it, or tried to."""

    def begins(self) -> None:
        """A sound of it is about to be heard."""
        return

    def end(self, outcome: ItemOutcome) -> None:
        """Nothing more comes of it. Called once."""
        self.outcome = outcome


_BUFFER: Final = 30.0
"""Seconds of streamed sound that may wait to be played."""


class Piece:
    """A piece of an item that is ready to be heard, or, without sound, the end of the item."""

    __slots__ = ("audio", "item", "outcome", "part")

    def __init__(self, item: QueueItem, audio: list[Audio], part: object, outcome: ItemOutcome | None = None) -> None:
        self.item = item
        self.audio = audio
        self.part = part
        """The sentence it belongs to, when that comes in pieces: those that wait are played as one."""
        self.outcome = outcome


class Pieces:
    """Between who makes and who plays, in order: at most `ahead` pieces wait, or half a minute of a stream."""

    def __init__(self, ahead: int) -> None:
        self._ahead = max(ahead, 1)
        self._made: deque[Piece] = deque()
        self._closed = False
        self._news = asyncio.Event()
        """Something was made, or nothing more will be."""
        self._space = asyncio.Event()
        """Something made was taken to be played."""

    def __iter__(self) -> Iterator[Piece]:
        return iter(self._made)

    def put(self, item: QueueItem, audio: Audio, part: object = None) -> None:
        """Add a piece; what is `part` of the same as the last one is joined to it."""
        last = self._made[-1] if self._made else None
        if part is not None and last is not None and last.part is part:
            last.audio.append(audio)
        else:
            self._made.append(Piece(item, [audio], part))
        self._news.set()

    def end(self, item: QueueItem, outcome: ItemOutcome) -> None:
        """Nothing more of an item comes."""
        self._made.append(Piece(item, [], None, outcome))
        self._news.set()

    def take(self) -> Piece | None:
        """The next to be heard, if there is one."""
        if not self._made:
            return None
        made = self._made.popleft()
        self._space.set()
        return made

    def withdraw(self, item: QueueItem) -> None:
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


log = logging.getLogger("hark.speak")

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]


class SessionQueue:
    """Makes and plays what a session has to say: one task makes, at most `ahead` pieces in front of the one that plays.

    A stop ends a run for good: what comes later is another run, and what was being made in this one counts for nothing
    when it is ready. Without a loudspeaker nothing is heard and an item is over when it is made.
    """

    def __init__(
        self,
        session_id: str,
        bus: Bus,
        spawn: Spawn,
        over: Callable[[SessionQueue], None],
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
        self._waiting: deque[QueueItem] = deque()
        self._making: QueueItem | None = None
        self._playing: QueueItem | None = None
        self._last: QueueItem | None = None
        self._asked: QueueItem | None = None
        """The last item that wants the microphone opened."""
        self._maker: asyncio.Task[None] | None = None
        self._player: asyncio.Task[None] | None = None

    def add(self, item: QueueItem) -> None:
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

    def _unfinished(self) -> Iterator[QueueItem]:
        items = (self._playing, *(made.item for made in self._pieces), self._making, *self._waiting)
        return (item for item in items if item is not None and item.outcome is None)

    # Making.

    async def room(self) -> None:
        """Wait until one more piece may be made."""
        await self._pieces.room()

    async def offer(self, item: QueueItem, audio: Audio, part: object = None) -> None:
        """Let a piece be heard after those offered before. What is `part` of the same is played without a gap."""
        if self.stopped:
            return
        self._pieces.put(item, audio, part)
        self._play_on()
        if part is not None:
            await self._pieces.room_for_more()

    def withdraw(self, item: QueueItem) -> None:
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
            outcome: ItemOutcome = "failed"
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

    def _is_made(self, item: QueueItem, outcome: ItemOutcome) -> None:
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

    async def _play_next(self, made: Piece) -> None:
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

    def _finished(self, item: QueueItem, outcome: ItemOutcome) -> None:
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

    def _signal(self, topic: str, item: QueueItem | None) -> None:
        if item is not None:
            self._bus.emit(self._in_session(item).forward(topic))

    def _in_session(self, item: QueueItem) -> Message:
        """The Message of an item; a transformer may have moved it elsewhere, but it is heard here."""
        message = item.message
        return message if message.session_id == self.session_id else message.carrying(item.origin.session)


class SessionQueues:
    """A run for each session that has something to say; none for those that have not."""

    def __init__(self, bus: Bus, loudspeaker: Loudspeaker | None = None, ahead: int = 1) -> None:
        self.tasks: set[asyncio.Task[Any]] = set()
        self._bus = bus
        self._loudspeaker = loudspeaker
        self._ahead = ahead
        self._runs: dict[str, SessionQueue] = {}

    def __len__(self) -> int:
        return len(self._runs)

    def queue(self, item: QueueItem) -> None:
        """Reserve the next place in the session of an item."""
        session_id = item.origin.session_id
        run = self._runs.get(session_id)
        if run is None:
            run = SessionQueue(session_id, self._bus, self.spawn, self._is_over, self._loudspeaker, self._ahead)
            self._runs[session_id] = run
        run.add(item)

    def stop(self, session_id: str) -> None:
        """End what is heard in a session and drop what waits there."""
        run = self._runs.get(session_id)
        if run is not None:
            run.stop()

    def is_heard(self, session_id: str) -> bool:
        """Whether something is heard in a session now."""
        run = self._runs.get(session_id)
        return run is not None and run.active

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start a task that ends with the room."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def close(self, clock: Clock) -> None:
        """Stop all of them, and end what they have begun."""
        for session_id in list(self._runs):
            self.stop(session_id)
        await cancel_all(self.tasks, clock)

    def _is_over(self, run: SessionQueue) -> None:
        if self._runs.get(run.session_id) is run:
            del self._runs[run.session_id]
