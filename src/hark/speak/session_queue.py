"""What waits to be heard in each session: made by one task, played by another, in order of receipt."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Coroutine, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

from hark.bus import Bus
from hark.hosting import cancel_all
from hark.model import Audio, Clock, Message
from hark.spec import topics

if TYPE_CHECKING:  # a speaker that only shows text does not import it
    from hark.speak.playback import Loudspeaker

log = logging.getLogger("hark.speak")

_BUFFER: Final = 30.0
"""Seconds of streamed sound that may wait to be played."""

ItemOutcome = Literal["rendered", "failed", "cancelled", "stopped", "dropped"]
"""`rendered`: heard or shown; `failed`: could not be made or played; `cancelled`: by a transformer; `stopped`: by the
user; `dropped`: the request was malformed."""


class QueueItem(ABC):
    """Something to be heard in its turn, which is the order of receipt, however long it takes to make."""

    def __init__(self, message: Message) -> None:
        self.origin = message
        """The Message as it came."""
        self.message = message
        """The Message as the chains have left it so far."""
        self.outcome: ItemOutcome | None = None
        self.played = 0
        """How many pieces of it were heard."""
        self.unplayed = 0
        """How many no player could play."""

    @property
    def listens(self) -> bool:
        """Whether the microphone is to be opened afterwards (AUDIO-1 §4.4)."""
        return self.origin.data.get("listen") is True

    @abstractmethod
    async def make(self, queue: SessionQueue) -> ItemOutcome:
        """Make what is to be heard and `offer` it to the queue, piece by piece."""

    @abstractmethod
    def note_playback(self, player: str, how: str, seconds: float, why: str) -> None:
        """Take note that a player played a piece of it, or failed to."""

    def playback_starts(self) -> None:
        """Called before each piece of it is played."""
        return

    def end(self, outcome: ItemOutcome) -> None:
        """Nothing more comes of it. Called once."""
        self.outcome = outcome


class Piece:
    """A piece of an item that is ready to be played, or, with an outcome, the end of the item."""

    __slots__ = ("audio", "item", "outcome", "part")

    def __init__(self, item: QueueItem, audio: list[Audio], part: object, outcome: ItemOutcome | None = None) -> None:
        self.item = item
        self.audio = audio
        self.part = part
        """The sentence it belongs to, when that is streamed: the parts of a sentence that wait are played as one."""
        self.outcome = outcome


class _PieceBuffer:
    """Between the task that makes and the task that plays: at most `ahead` pieces wait, or `_BUFFER` s of a stream."""

    def __init__(self, ahead: int) -> None:
        self._ahead = max(ahead, 1)
        self._pieces: deque[Piece] = deque()
        self._closed = False
        self._filled = asyncio.Event()
        """Something was made, or nothing more will be."""
        self._taken = asyncio.Event()
        """Something was taken to be played."""

    def __iter__(self) -> Iterator[Piece]:
        return iter(self._pieces)

    def put(self, item: QueueItem, audio: Audio, part: object = None) -> None:
        """Add a piece; one that is `part` of the same as the last one is joined to it."""
        last = self._pieces[-1] if self._pieces else None
        if part is not None and last is not None and last.part is part:
            last.audio.append(audio)
        else:
            self._pieces.append(Piece(item, [audio], part))
        self._filled.set()

    def end(self, item: QueueItem, outcome: ItemOutcome) -> None:
        self._pieces.append(Piece(item, [], None, outcome))
        self._filled.set()

    def take(self) -> Piece | None:
        if not self._pieces:
            return None
        piece = self._pieces.popleft()
        self._taken.set()
        return piece

    def withdraw(self, item: QueueItem) -> None:
        self._pieces = deque(piece for piece in self._pieces if piece.item is not item)

    def close(self) -> None:
        """Drop everything and end all waits."""
        self._closed = True
        self._pieces.clear()
        self._filled.set()
        self._taken.set()

    async def space(self) -> None:
        """Wait until one more piece may be made."""
        while not self._closed and sum(piece.outcome is None for piece in self._pieces) >= self._ahead:
            self._taken.clear()
            await self._taken.wait()

    async def stream_space(self) -> None:
        """Wait until a stream may go on."""
        while not self._closed and self._seconds() > _BUFFER:
            self._taken.clear()
            await self._taken.wait()

    async def filled(self) -> None:
        """Wait until something is made, or the buffer is closed."""
        self._filled.clear()
        await self._filled.wait()

    def _seconds(self) -> float:
        return sum(audio.seconds for piece in self._pieces for audio in piece.audio)


class SessionQueue:
    """Makes and plays what a session has to say, from the first item to the moment when nothing is left.

    A stop ends a queue for good: what comes later is in another queue, and what was being made in this one counts for
    nothing when it is ready. Without a loudspeaker nothing is played and an item is over when it is made.
    """

    def __init__(self, session_id: str, queues: SessionQueues) -> None:
        self.session_id = session_id
        self.stopped = False
        self.active = False
        """Whether something was played: `ovos.audio.output.started` was sent, `.ended` is owed."""
        self._queues = queues
        self._loudspeaker = queues.loudspeaker
        self._buffer = _PieceBuffer(queues.ahead)
        self._waiting: deque[QueueItem] = deque()
        self._making: QueueItem | None = None
        self._playing: QueueItem | None = None
        self._last: QueueItem | None = None
        self._wants_answer: QueueItem | None = None
        """The last item that wants the microphone opened."""
        self._maker: asyncio.Task[None] | None = None
        self._player: asyncio.Task[None] | None = None

    def add(self, item: QueueItem) -> None:
        self._waiting.append(item)
        if self._maker is None:
            self._start_maker()

    def stop(self) -> None:
        """End playback, drop what waits, and let what is being made come to nothing."""
        if self.stopped:
            return
        self._close()
        for item in dict.fromkeys(self._unfinished()):
            item.end("stopped")
        self._waiting.clear()
        self._buffer.close()
        if self._player is not None:
            self._player.cancel()
        self._end_output()

    def _unfinished(self) -> Iterator[QueueItem]:
        items = (self._playing, *(piece.item for piece in self._buffer), self._making, *self._waiting)
        return (item for item in items if item is not None and item.outcome is None)

    # Making.

    async def space(self) -> None:
        """Wait until one more piece may be made."""
        await self._buffer.space()

    async def offer(self, item: QueueItem, audio: Audio, part: object = None) -> None:
        """Have a piece played after those offered before. What is `part` of the same is played without a gap."""
        if self.stopped:
            return
        self._buffer.put(item, audio, part)
        self._start_player()
        if part is not None:
            await self._buffer.stream_space()

    def withdraw(self, item: QueueItem) -> None:
        """Drop the pieces of an item that are not played yet."""
        self._buffer.withdraw(item)

    def _start_maker(self) -> None:
        self._maker = self._queues.spawn(self._make_all(), f"make what is said to {self.session_id}")
        self._maker.add_done_callback(self._maker_ended)

    def _maker_ended(self, _task: asyncio.Task[None]) -> None:
        self._maker = None
        if self.stopped:
            return
        # The task may have been cancelled, even before it started: what waits is still to be said.
        if self._waiting:
            self._start_maker()
        elif self._loudspeaker is None:
            self._queues.remove(self)

    async def _make_all(self) -> None:
        while self._waiting and not self.stopped:
            await self.space()
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
                    self._made(item, outcome)

    def _made(self, item: QueueItem, outcome: ItemOutcome) -> None:
        if self._loudspeaker is None:
            item.end(outcome)
        else:
            self._buffer.end(item, outcome)
            self._start_player()

    # Playing.

    def _start_player(self) -> None:
        if self._player is None and self._loudspeaker is not None and not self.stopped:
            self._player = self._queues.spawn(
                self._play_all(self._loudspeaker), f"play what is said to {self.session_id}"
            )
            self._player.add_done_callback(self._player_ended)

    def _player_ended(self, _task: asyncio.Task[None]) -> None:
        self._player = None
        if not self.stopped:  # the task was cancelled from outside: the rest is still to be played
            self._start_player()

    async def _play_all(self, loudspeaker: Loudspeaker) -> None:
        while not self.stopped:
            piece = self._buffer.take()
            if piece is not None:
                await self._play(piece, loudspeaker)
            elif self._waiting or self._making is not None:
                await self._buffer.filled()
            else:
                self._drained()

    async def _play(self, piece: Piece, loudspeaker: Loudspeaker) -> None:
        item = self._playing = self._last = piece.item
        if piece.outcome is not None:
            self._playing = None
            self._finish(item, piece.outcome)
            return
        if not loudspeaker.usable:
            item.unplayed += 1
            item.note_playback("", "failed", 0.0, "no player works")
            return
        if not self.active:
            self.active = True
            self._signal(topics.AUDIO_OUTPUT_STARTED, item)
            if self.stopped:  # by a subscriber
                return
        item.playback_starts()
        for audio in loudspeaker.joined(piece.audio):
            if await loudspeaker.play(audio, item.note_playback):
                item.played += 1
            else:
                item.unplayed += 1

    def _finish(self, item: QueueItem, outcome: ItemOutcome) -> None:
        if outcome == "rendered" and item.unplayed and not item.played:
            outcome = "failed"
        if item.listens and outcome in ("rendered", "failed"):
            self._wants_answer = item
        item.end(outcome)

    def _drained(self) -> None:
        """Everything was played: be idle again, then say so, then open the microphone if an item wants it."""
        self._close()
        self._end_output()
        if self._wants_answer is not None:
            self._signal(topics.MIC_LISTEN, self._wants_answer)

    def _close(self) -> None:
        self.stopped = True  # nothing is added to a queue that is over
        self._queues.remove(self)

    def _end_output(self) -> None:
        if self.active and self._last is not None:
            self.active = False
            self._signal(topics.AUDIO_OUTPUT_ENDED, self._last)

    def _signal(self, topic: str, item: QueueItem) -> None:
        """A transformer may have moved the item's Message to another session, but it is heard in this one."""
        message = item.message
        if message.session_id != self.session_id:
            message = message.carrying(item.origin.session)
        self._queues.bus.emit(message.forward(topic))


class SessionQueues:
    """A queue for each session that has something to say; none for those that have not."""

    def __init__(self, bus: Bus, loudspeaker: Loudspeaker | None = None, ahead: int = 1) -> None:
        self.bus = bus
        self.loudspeaker = loudspeaker
        self.ahead = ahead
        self.tasks: set[asyncio.Task[Any]] = set()
        self._queues: dict[str, SessionQueue] = {}

    def __len__(self) -> int:
        return len(self._queues)

    def add(self, item: QueueItem) -> None:
        """Reserve the next place in the session of an item."""
        session_id = item.origin.session_id
        queue = self._queues.get(session_id)
        if queue is None:
            queue = self._queues[session_id] = SessionQueue(session_id, self)
        queue.add(item)

    def remove(self, queue: SessionQueue) -> None:
        if self._queues.get(queue.session_id) is queue:
            del self._queues[queue.session_id]

    def stop(self, session_id: str) -> None:
        """End playback in a session and drop what waits there."""
        queue = self._queues.get(session_id)
        if queue is not None:
            queue.stop()

    def is_playing(self, session_id: str) -> bool:
        queue = self._queues.get(session_id)
        return queue is not None and queue.active

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start a task that ends with the speaker."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def close(self, clock: Clock) -> None:
        for session_id in list(self._queues):
            self.stop(session_id)
        await cancel_all(self.tasks, clock)
