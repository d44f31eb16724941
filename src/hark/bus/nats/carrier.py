"""Topics over a NATS server: utterances go into the queue of turns, all others are published."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from hashlib import sha256
from typing import Final

import msgspec

from hark.bus.nats.connection import Interest, NatsConnection
from hark.bus.nats.options import NatsOptions
from hark.bus.nats.streams import ENDING, TurnStreams
from hark.bus.protocols import EVERYTHING, Receive
from hark.model import Clock, MalformedMessage, Message, SystemClock, encode
from hark.spec import topics

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


log = logging.getLogger("hark.bus")

_AGAIN: Final = encode(Message(topics.BUS_AGAIN))


class _Head(msgspec.Struct):
    type: str


_decode_head = msgspec.json.Decoder(_Head).decode


class NatsCarrier:
    """See `Carrier` for what it promises, as far as NATS does: what is under way when a connection breaks is lost.

    Not so an utterance: it is published until the broker has acknowledged it, under a key that becomes its
    `utterance_id`. Nor an end marker and what goes before it: those are read from a log.
    """

    def __init__(self, options: NatsOptions | None = None, clock: Clock | None = None) -> None:
        self.options = options or NatsOptions()
        self.connection = NatsConnection(self.options, clock or SystemClock())
        self.streams = TurnStreams(self.connection, self.options.prefix)
        self._subjects = Subjects(self.options.prefix)
        self._interests: dict[tuple[str, str], Interest] = {}
        """What is followed."""
        self._receive: Receive | None = None

    @property
    def connected(self) -> bool:
        """Whether there is a connection, as far as this process can know."""
        return self.connection.connected

    async def open(self, receive: Receive) -> None:
        """As promised by `Carrier`; raises `NoBroker`, which says why, when no server accepts the connection."""
        self._receive = receive
        self.connection.on_back.append(self._back)
        await self.connection.open()
        await self.streams.open(self._ended)

    def send(self, topic: str, frame: bytes) -> None:
        """As promised by `Carrier`; raises `MalformedMessage` for what is larger than the server takes."""
        most = self.connection.max_payload
        if most is not None and len(frame) > most:
            raise MalformedMessage(
                f"{topic[:100]} has {len(frame)} bytes and the NATS server takes {most} at most (its max_payload)"
            )
        self.connection.publish(self._subjects.of(topic), frame)
        if topic == topics.UTTERANCE_HANDLE:  # second: observers see it before what comes of it
            self.streams.publish(frame)

    def follow(self, topic: str, group: str = "") -> None:
        """As promised by `Carrier`; raises `ValueError` where a group would share what every process reads."""
        if group and topic in ENDING:
            raise ValueError(f"{topic} is read by every process, and cannot be shared by a group")
        if (topic, group) not in self._interests:
            subject, queue = self._subjects.of(topic), escaped(group) if group else ""
            callback = self._delivers(EVERYTHING if topic == EVERYTHING else group)
            self._interests[topic, group] = self.connection.subscribe(subject, callback, queue)

    def unfollow(self, topic: str, group: str = "") -> None:
        """As promised by `Carrier`."""
        interest = self._interests.pop((topic, group), None)
        if interest is not None:
            self.connection.unsubscribe(interest)

    async def flush(self) -> None:
        """As promised by `Carrier`; while there is no connection, it waits for one."""
        await self.connection.flush()

    async def close(self) -> None:
        """As promised by `Carrier`."""
        await self.streams.close()
        await self.connection.close()
        self._receive = None

    def _delivers(self, way: str) -> Callable[[str, str, bytes, bytes], None]:
        def delivered(subject: str, _reply: str, _headers: bytes, frame: bytes) -> None:
            if self._receive is None:
                return
            try:
                if self._subjects.of(_decode_head(frame).type) != subject:
                    log.warning("nats: dropped a Message of another topic that came on %s", subject)
                    return
            except msgspec.DecodeError:
                pass  # the bus says what is wrong with it
            self._receive(frame, way)

        return delivered

    def _ended(self, frame: bytes) -> None:
        """A Message from the log of turns that have ended."""
        if self._receive is None:
            return
        try:
            topic = _decode_head(frame).type
        except msgspec.DecodeError as error:
            log.error("nats: an ending that cannot be read: %s", error)
            return
        if (EVERYTHING, "") in self._interests:
            self._receive(frame, EVERYTHING)
        if (topic, "") in self._interests:
            self._receive(frame, "")

    def _back(self) -> None:
        if self._receive is not None:
            self._receive(_AGAIN, "")
