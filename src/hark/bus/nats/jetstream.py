"""What Hark uses of JetStream: streams, consumers and keys, over the one ordered connection of a process.

Not `nats-py`'s own context: there every reply and every delivery has a queue of its own, so that a stored entry could
overtake a Message which its author sent before it.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from hark.bus.nats.connection import NatsConnection, Reply

log = logging.getLogger("hark.bus")

WITHIN: Final = 1.0
"""Seconds, of real time, in which the broker has to answer before it is asked again."""
PAUSE: Final = 0.1
"""Seconds between two attempts where the broker refuses for a reason that may pass."""
_WRONG_LAST: Final = 10071
"""The broker's code where the last entry is not the expected one. Some versions leave it out."""
_NO_MESSAGE: Final = 10037
_NONCE: Final = "Hark-Nonce"
SECOND: Final = 1_000_000_000
"""The API counts in nanoseconds."""


class JetStreamError(Exception):
    """The broker refused a request; the text is its own."""

    def __init__(self, description: str, code: int = 0) -> None:
        super().__init__(description)
        self.code = code


class WrongRevision(JetStreamError):
    """The last entry under a subject is not the one that was expected."""


class StoredEntry(NamedTuple):
    """What is stored under a subject."""

    subject: str
    sequence: int
    """In a bucket of keys: the revision."""
    data: bytes
    headers: Mapping[str, str]


class _Error(msgspec.Struct):
    description: str = ""
    err_code: int = 0


class _State(msgspec.Struct, frozen=True):
    last_seq: int = 0
    subjects: dict[str, int] = {}


class _Stored(msgspec.Struct):
    subject: str
    seq: int
    data: str = ""
    hdrs: str = ""


class _Answer(msgspec.Struct):
    """The parts that are used of what the API answers."""

    error: _Error | None = None
    seq: int = 0
    name: str = ""
    state: _State = _State()
    message: _Stored | None = None


_decode = msgspec.json.Decoder(_Answer).decode
_encode = msgspec.json.encode


def headers_of(**fields: str) -> bytes:
    """Headers as they are on the wire; an underscore stands for a dash."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return f"NATS/1.0\r\n{lines}\r\n".encode()


def parsed(headers: bytes) -> dict[str, str]:
    """The fields of headers as they are on the wire."""
    lines = (line.partition(b":") for line in headers.split(b"\r\n")[1:] if b":" in line)
    return {name.decode(errors="replace"): value.strip().decode(errors="replace") for name, _, value in lines}


class JetStream:
    """Requests to the broker's API, each repeated until it is answered."""

    def __init__(self, connection: NatsConnection) -> None:
        self.connection = connection
        self.storing = 0
        """Entries that the broker has not acknowledged yet."""

    async def ensure_stream(self, config: Mapping[str, Any]) -> int:
        """Create a stream, or leave one that is there as it is; the sequence of its last entry."""
        try:
            made = await self.ask(f"STREAM.CREATE.{config['name']}", config)
        except JetStreamError as error:
            log.debug("nats: %s is there, in a form of its own: %s", config["name"], error)
            made = await self.ask(f"STREAM.INFO.{config['name']}", {})
        return made.state.last_seq

    async def ensure_consumer(self, stream: str, config: Mapping[str, Any]) -> None:
        """Create a durable consumer, or bring it to this configuration."""
        durable = config["durable_name"]
        await self.ask(f"CONSUMER.DURABLE.CREATE.{stream}.{durable}", {"stream_name": stream, "config": config})

    async def ask(self, what: str, payload: object) -> _Answer:
        """Ask the API until it answers; raises `JetStreamError` when it refuses."""
        body = _encode(payload)
        while True:
            try:
                return checked(await self.connection.request(f"$JS.API.{what}", body, within=WITHIN))
            except TimeoutError:
                log.debug("nats: no answer to %s", what)

    async def last(self, stream: str, subject: str) -> StoredEntry | None:
        """The last entry under a subject, which may have wildcards."""
        try:
            answer = await self.ask(f"STREAM.MSG.GET.{stream}", {"last_by_subj": subject})
        except JetStreamError as error:
            if error.code == _NO_MESSAGE or "no message found" in str(error):
                return None
            raise
        found = answer.message
        if found is None:
            return None
        headers = parsed(base64.b64decode(found.hdrs)) if found.hdrs else {}
        return StoredEntry(found.subject, found.seq, base64.b64decode(found.data), headers)

    async def store(self, stream: str, subject: str, data: bytes, last: int, among: str = "") -> int:
        """Store an entry if the last one under `subject` (or `among` several) is that with sequence `last`; its own.

        Repeated until the broker has answered. Raises `WrongRevision` where the last one is another.
        """
        nonce = os.urandom(8).hex()
        fields = {_NONCE: nonce, "Nats-Expected-Last-Subject-Sequence": str(last)}
        if among:
            fields["Nats-Expected-Last-Subject-Sequence-Subject"] = among
        self.storing += 1
        try:
            return await self._store(stream, subject, data, headers_of(**fields), nonce)
        finally:
            self.storing -= 1

    async def _store(self, stream: str, subject: str, data: bytes, headers: bytes, nonce: str) -> int:
        is_repeated = False
        while True:
            try:
                return checked(await self.connection.request(subject, data, headers, WITHIN)).seq
            except TimeoutError:
                is_repeated = True
            except WrongRevision:
                # It may be one's own entry that is in the way: the answer to it was lost.
                found = await self.last(stream, subject) if is_repeated else None
                if found is None or found.headers.get(_NONCE) != nonce:
                    raise
                return found.sequence
            except JetStreamError as error:
                log.error("nats: %s could not be stored: %s", subject, error)
                await asyncio.sleep(PAUSE)


def checked(reply: Reply) -> _Answer:
    """What the broker answered; raises `JetStreamError` where it refused."""
    if reply.status == 503:
        raise JetStreamError("the NATS server does not offer JetStream (start it with -js)", 503)
    try:
        answer = _decode(reply.data)
    except msgspec.DecodeError as error:
        raise JetStreamError(f"an answer that cannot be read: {error}") from None
    if answer.error is not None:
        refusal = answer.error
        is_wrong_last = refusal.err_code == _WRONG_LAST or refusal.description.startswith("wrong last sequence")
        raise (WrongRevision if is_wrong_last else JetStreamError)(refusal.description, refusal.err_code)
    return answer
