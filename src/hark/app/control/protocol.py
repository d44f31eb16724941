"""The protocol of the control socket: JSON objects, one per line.

A request is `{"do": "ping"}`, `{"do": "say", "utterance": ...}`, `{"do": "why", "id": ...}`, `{"do": "examine"}`,
`{"do": "session"}` or `{"do": "forget"}`.
Each is answered with any number of `{"is": "spoken"}` lines, then one line that ends the answer.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from hark.app.diagnostics.report import DoctorReport
from hark.spec import DEFAULT_SESSION_ID

if TYPE_CHECKING:
    from hark.trace import TraceRecord, TurnTrace


class Ping(msgspec.Struct, tag_field="do", tag="ping", frozen=True):
    """Asks whether the assistant runs."""


class Say(msgspec.Struct, tag_field="do", tag="say", frozen=True, omit_defaults=True):
    """Says an utterance to the assistant."""

    utterance: str
    lang: str | None = None
    intent: dict[str, object] | None = None
    """The intent to call by its name: its skill_id, intent_name and slots."""
    session: str | None = None
    """The name of a conversation beside that of the device; None for the session of the device itself."""


class Why(msgspec.Struct, tag_field="do", tag="why", frozen=True, omit_defaults=True):
    """Asks for the trace of the last turn, or of the last one whose id begins with `id`."""

    id: str = ""


class Examine(msgspec.Struct, tag_field="do", tag="examine", frozen=True):
    """Asks for the report of `hark doctor`."""


class DeviceSession(msgspec.Struct, tag_field="do", tag="session", frozen=True, omit_defaults=True):
    """Asks for the session of the device as it is kept, or makes it empty first."""

    reset: bool = False


class Forget(msgspec.Struct, tag_field="do", tag="forget", frozen=True, omit_defaults=True):
    """Deletes what is kept of turns: of all, or of those of one session, or of those before a time."""

    session: str | None = None
    before: float | None = None
    """Seconds since 1970."""

    @property
    def empties_session(self) -> bool:
        """Whether the session of the device is forgotten as well: it has no date."""
        return self.before is None and self.session in (None, DEFAULT_SESSION_ID)

    def covers(self, turn: TurnTrace | TraceRecord) -> bool:
        """Whether a turn is meant."""
        return self.session in (None, turn.session_id) and (self.before is None or turn.wall < self.before)


class Pong(msgspec.Struct, tag_field="is", tag="pong", frozen=True):
    """The assistant runs."""

    pid: int
    version: str


class Accepted(msgspec.Struct, tag_field="is", tag="heard", frozen=True):
    """The utterance was accepted. What follows may take any time."""


class SpokenText(msgspec.Struct, tag_field="is", tag="spoken", frozen=True):
    """A part of the answer."""

    text: str


class Ended(msgspec.Struct, tag_field="is", tag="ended", frozen=True):
    """The turn is over."""

    outcome: str
    """`complete`, `unmatched`, `cancelled`, `error` or `broken`."""
    utterance_id: str
    detail: str = ""
    """The plugin that cancelled the turn and its reason, or the error."""


class Explained(msgspec.Struct, tag_field="is", tag="explained", frozen=True):
    """A turn's trace, for people and for programs."""

    text: str
    record: msgspec.Raw = msgspec.Raw(b"null")


class Examined(msgspec.Struct, tag_field="is", tag="examined", frozen=True):
    """The loaded plugins, and those that are not loaded."""

    report: DoctorReport


class SessionShown(msgspec.Struct, tag_field="is", tag="session", frozen=True):
    """The session of the device, as it is written on the wire."""

    session: msgspec.Raw


class Forgotten(msgspec.Struct, tag_field="is", tag="forgotten", frozen=True):
    """How many turns were forgotten."""

    turns: int


class RequestRefused(msgspec.Struct, tag_field="is", tag="refused", frozen=True):
    """The request is refused."""

    reason: str


Request = Ping | Say | Why | Examine | DeviceSession | Forget
Answer = Pong | Accepted | SpokenText | Ended | Explained | Examined | SessionShown | Forgotten | RequestRefused

_encode = msgspec.json.Encoder().encode
decode_request = msgspec.json.Decoder(Request).decode
decode_answer = msgspec.json.Decoder(Answer).decode


def line(message: Request | Answer) -> bytes:
    """A message as it is sent."""
    return _encode(message) + b"\n"


NAME: Final = "control.sock"

_LONGEST: Final = 107
"""The length limit of a socket address on Linux, in bytes."""


@contextmanager
def short(directory: Path, longest_name: int = len(NAME)) -> Iterator[Path]:
    """`directory` under a name short enough for the address of a socket in it, while the block runs."""
    if len(os.fsencode(directory)) + 1 + longest_name <= _LONGEST:
        yield directory
        return
    descriptor = os.open(directory, os.O_PATH | os.O_DIRECTORY)
    try:
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
