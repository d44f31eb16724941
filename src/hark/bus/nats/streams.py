"""Turns at the broker: a queue of utterances, a log of what became of them, and the keys of the default session."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from typing import Any, Final, Literal
from uuid import uuid4

import msgspec

from hark.bus.nats.connection import NatsConnection, NoBroker
from hark.bus.nats.consumers import Delivery, StreamReader, WorkQueue
from hark.bus.nats.jetstream import JetStream, JetStreamError, StoredEntry, WrongRevision, checked, headers_of
from hark.bus.nats.key_value import KeyValue
from hark.model import MalformedMessage, Message, decode, encode
from hark.spec import DEFAULT_SESSION_ID, topics

log = logging.getLogger("hark.bus")

ACK_WAIT: Final = 2.0
"""Seconds after which an utterance that was neither acknowledged nor reported as in progress goes to another worker."""
LEASE: Final = 2.0
"""Seconds for which the lease on the default session holds unless it is renewed."""
_REPEAT: Final = 1.0
"""Seconds after which an utterance is published again unless the broker has acknowledged it."""
_BYTES: Final = 64 * 1024 * 1024
_SCHEDULE_BYTES: Final = 32 * 1024 * 1024
_DAY: Final = 86_400 * 1_000_000_000
_SECOND: Final = 1_000_000_000

ENDING: Final = frozenset(
    {
        topics.UTTERANCE_HANDLED,
        topics.UTTERANCE_CANCELLED,
        topics.INTENT_UNMATCHED,
        topics.HANDLER_COMPLETE,
        topics.HANDLER_ERROR,
        topics.SESSION_REJECTED,
    }
)
"""Topics whose Messages may come from the log: the end marker, and what goes before it."""

_KEY: Final = re.compile(r"[0-9a-f]{32}")

Started = Literal["start", "started", "over"]
"""What is known of a handler when it is about to be called: call it; another process has; its turn has ended."""


class Note(msgspec.Struct):
    """Which process started the handler of a turn."""

    host: str
    """The handler host; empty where a worker made sure that no handler is started any more."""
    dispatch: msgspec.Raw = msgspec.Raw(b"null")


_decode_note = msgspec.json.Decoder(Note).decode
_decode_frames = msgspec.json.Decoder(list[msgspec.Raw]).decode


class TurnStreams:
    """The streams and buckets of one assistant, under the prefix of its subjects."""

    def __init__(self, connection: NatsConnection, prefix: str) -> None:
        self._connection = connection
        self.jetstream = JetStream(connection)
        name = prefix.removesuffix(".").replace(".", "-")
        self._turns, self._ends = f"{name}-turns", f"{name}-ends"
        self.lease = KeyValue(self.jetstream, f"{name}-lease", LEASE)
        self.session = KeyValue(self.jetstream, f"{name}-session")
        self.schedules = KeyValue(self.jetstream, f"{name}-schedules", size=_SCHEDULE_BYTES)
        self._name = name
        self._unacknowledged: dict[str, tuple[str, bytes]] = {}
        """Subject and frame of each utterance that the broker has not acknowledged, by key."""
        self._size = 0
        self._asking: set[asyncio.Task[None]] = set()
        self._reader: StreamReader | None = None
        self.published = 0
        """Utterances that the broker has acknowledged."""
        self.stored = 0
        """The sequence of the last marker that this process has stored."""

    def bucket(self, name: str, ttl: float = 0.0) -> KeyValue:
        """Another bucket of this assistant."""
        return KeyValue(self.jetstream, f"{self._name}-{name}", ttl)

    async def open(self, ended: Callable[[bytes], None]) -> None:
        """Create what is missing, and hand the frames of every ending from now on to `ended`; raises `NoBroker`."""
        try:
            last = await self._ensure()
        except JetStreamError as error:
            raise NoBroker(str(error)) from None
        self._connection.on_back.append(self._ensure_again)

        def unfold(entry: StoredEntry) -> None:
            for frame in _decode_frames(entry.data):
                ended(bytes(frame))

        self._reader = StreamReader(self.jetstream, self._ends, f"{self._ends}.*.end", unfold)
        await self._reader.open(last)

    async def _ensure(self) -> int:
        last, *_ = await asyncio.gather(
            self.jetstream.ensure_stream(self._ends_config()),
            self._ensure_turns(),
            self.lease.ensure(),
            self.session.ensure(),
            self.schedules.ensure(),
        )
        return last

    def _ensure_again(self) -> None:
        """The broker may have been started anew, without what it had stored."""
        task = asyncio.get_running_loop().create_task(self._ensured())
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ensured(self) -> None:
        try:
            await self._ensure()
        except JetStreamError as error:
            log.error("nats: the streams of turns are not there: %s", error)

    async def delete(self) -> None:
        """Delete everything, for tests that share a broker."""
        buckets = (self.lease, self.session, self.schedules)
        names = self._turns, self._ends, *(f"KV_{one.bucket}" for one in buckets)
        await asyncio.gather(*(self.jetstream.ask(f"STREAM.DELETE.{name}", {}) for name in names))

    async def close(self, patience: float = 2.0) -> None:
        """Wait until what was published is acknowledged, at most `patience` seconds of real time."""
        if self._asking:
            await asyncio.wait(self._asking, timeout=patience)
        if self._unacknowledged:
            log.error("nats: %d utterances were not acknowledged by the broker", len(self._unacknowledged))
        for asking in self._asking:
            asking.cancel()
        if self._reader is not None:
            self._reader.close()

    @property
    def is_quiet(self) -> bool:
        """Whether all that was published is acknowledged."""
        return not self._unacknowledged

    @property
    def read(self) -> int:
        """The sequence of the last marker that was read."""
        return self._reader.last if self._reader is not None else 0

    @property
    def connected(self) -> bool:
        """Whether the broker can be reached, as far as this process can know."""
        return self._connection.connected

    @property
    def on_back(self) -> list[Callable[[], None]]:
        """Called when the broker can be reached again."""
        return self._connection.on_back

    async def flush(self) -> None:
        """Return when the broker has taken what was sent."""
        await self._connection.flush()

    def fits(self, frames: list[bytes]) -> bool:
        """Whether the broker takes so much in one entry."""
        return sum(map(len, frames)) + 1_000 < (self._connection.max_payload or 0)

    # Utterances.

    def publish(self, frame: bytes) -> str:
        """Put an utterance into the queue, again and again until the broker has acknowledged it; its key."""
        key = uuid4().hex
        session_id = _session_id_in(frame)
        subject = f"{self._turns}.{'default' if session_id == DEFAULT_SESSION_ID else 'named'}"
        self._unacknowledged[key] = subject, frame
        self._size += len(frame)
        while self._size > self._connection.options.outbox and len(self._unacknowledged) > 1:
            dropped = next(iter(self._unacknowledged))
            self._forget(dropped)
            log.error("nats: more utterances wait for the broker than may wait; the oldest is dropped")
        asking = asyncio.get_running_loop().create_task(self._until_acknowledged(key))
        self._asking.add(asking)
        asking.add_done_callback(self._asking.discard)
        return key

    def work_queue(self, which: Literal["named", "default"], take: Callable[[Delivery], None]) -> WorkQueue:
        """One's share of the utterances of named sessions, or those of the default session."""
        return WorkQueue(self.jetstream, self._turns, which, take)

    def acknowledge(self, delivery: Delivery) -> None:
        """The turn has ended: its utterance is not delivered again."""
        self._connection.publish(delivery.reply, b"+ACK")

    def in_progress(self, delivery: Delivery) -> None:
        """The turn is open here: its utterance is not delivered to another worker for `ACK_WAIT` seconds."""
        self._connection.publish(delivery.reply, b"+WPI")

    def hand_over(self, delivery: Delivery) -> None:
        """Another worker is to see this turn through."""
        self._connection.publish(delivery.reply, b"-NAK")

    # Notes and markers.

    def is_key(self, utterance_id: str | None) -> bool:
        """Whether an `utterance_id` is the key of an utterance that was published."""
        return utterance_id is not None and _KEY.fullmatch(utterance_id) is not None

    async def start(self, key: str, dispatch: Message, host: str) -> Started:
        """Record that `host` is about to start the handler of a turn; whether it may."""
        frame = encode(dispatch)
        note = Note(host, msgspec.Raw(frame)) if self.fits([frame]) else Note(host)
        return "start" if await self._note(key, note) else await self._what_is_known(key)

    async def close_calls(self, key: str) -> str | None:
        """Make sure that no handler of a turn is started any more; the host that has started one, if so."""
        if await self._note(key, Note("")):
            return None
        note = await self.note(key)
        return note[0] if note is not None else None

    async def note(self, key: str) -> tuple[str, Message | None] | None:
        """The host that has started the handler of a turn, and what it was called with; None where none has."""
        found = await self.jetstream.last(self._ends, f"{self._ends}.{key}.note")
        if found is None:
            return None
        try:
            note = _decode_note(found.data)
            frame = bytes(note.dispatch)
            return note.host, decode(frame) if frame != b"null" else None
        except (msgspec.DecodeError, MalformedMessage) as error:
            log.error("nats: the note of turn %s cannot be read: %s", key, error)
            return "", None

    async def has_ended(self, key: str) -> bool:
        """Whether the marker of a turn is stored."""
        return await self.jetstream.last(self._ends, f"{self._ends}.{key}.end") is not None

    async def end(self, key: str, frames: list[bytes]) -> bool:
        """Store the last Messages of a turn; false where they were stored before."""
        subject = f"{self._ends}.{key}.end"
        try:
            self.stored = await self.jetstream.store(self._ends, subject, b"[" + b",".join(frames) + b"]", 0)
        except WrongRevision:
            return False
        return True

    async def _note(self, key: str, note: Note) -> bool:
        # WrongRevision where there is a note or a marker: the handler of a turn that has ended is not started.
        try:
            data, among = msgspec.json.encode(note), f"{self._ends}.{key}.*"
            await self.jetstream.store(self._ends, f"{self._ends}.{key}.note", data, 0, among)
        except WrongRevision:
            return False
        return True

    async def _what_is_known(self, key: str) -> Started:
        last = await self.jetstream.last(self._ends, f"{self._ends}.{key}.*")
        return "over" if last is None or last.subject.endswith(".end") else "started"

    async def _until_acknowledged(self, key: str) -> None:
        while key in self._unacknowledged:
            subject, frame = self._unacknowledged[key]
            try:
                reply = await self._connection.request(subject, frame, headers_of(Nats_Msg_Id=key), _REPEAT)
                checked(reply)
            except TimeoutError:
                continue
            except JetStreamError as error:
                log.error("nats: the broker does not take an utterance: %s", error)
                await asyncio.sleep(_REPEAT)
                continue
            self._forget(key)
            self.published += 1

    def _forget(self, key: str) -> None:
        subject_and_frame = self._unacknowledged.pop(key, None)
        if subject_and_frame is not None:
            self._size -= len(subject_and_frame[1])

    async def _ensure_turns(self) -> None:
        await self.jetstream.ensure_stream(
            {
                "name": self._turns,
                "subjects": [f"{self._turns}.*"],
                "retention": "workqueue",
                "storage": self._connection.options.storage,
                "discard": "new",  # the default deletes utterances that wait
                "max_bytes": _BYTES,
                "duplicate_window": 120 * _SECOND,
            }
        )
        if self._connection.options.takes_turns:
            await asyncio.gather(*(self._ensure_queue(which) for which in ("named", "default")))

    async def _ensure_queue(self, which: str) -> None:
        config: dict[str, Any] = {
            "durable_name": which,
            "filter_subject": f"{self._turns}.{which}",
            "ack_policy": "explicit",
            "ack_wait": int(ACK_WAIT * _SECOND),
            "max_ack_pending": 5_000,
            "max_deliver": -1,
            "deliver_policy": "all",
        }
        await self.jetstream.ensure_consumer(self._turns, config)

    def _ends_config(self) -> dict[str, Any]:
        return {
            "name": self._ends,
            "subjects": [f"{self._ends}.*.*"],
            "retention": "limits",
            "storage": self._connection.options.storage,
            "discard": "old",
            "max_bytes": _BYTES,
            "max_age": _DAY,
            "allow_direct": True,
        }


def _session_id_in(frame: bytes) -> str:
    """Whose session an utterance is of: any worker can end one that is malformed."""
    try:
        message = decode(frame)
    except MalformedMessage:
        return ""
    return message.session_id if message.malformed_session is None else ""
