"""What goes over the control socket: a JSON object a line, requests one way, answers the other.

A request is `{"do": "ping"}`, `{"do": "say", "utterance": ...}`, `{"do": "why", "id": ...}` or `{"do": "examine"}`.
Each is answered with any number of `{"is": "spoken"}` lines, then one line that ends the answer.
"""

from __future__ import annotations

import msgspec

from hark.app.doctor.report import Report


class Ping(msgspec.Struct, tag_field="do", tag="ping", frozen=True):
    """Are you there?"""


class Say(msgspec.Struct, tag_field="do", tag="say", frozen=True, omit_defaults=True):
    """Put an utterance to the assistant, in a session of its own."""

    utterance: str
    lang: str | None = None


class Why(msgspec.Struct, tag_field="do", tag="why", frozen=True, omit_defaults=True):
    """Explain a turn: the last one, or the last whose id begins with `id`."""

    id: str = ""


class Examine(msgspec.Struct, tag_field="do", tag="examine", frozen=True):
    """How are you?"""


class Pong(msgspec.Struct, tag_field="is", tag="pong", frozen=True):
    """I am here."""

    pid: int
    version: str


class Heard(msgspec.Struct, tag_field="is", tag="heard", frozen=True):
    """The utterance was taken in; what follows may take its time."""


class Spoken(msgspec.Struct, tag_field="is", tag="spoken", frozen=True):
    """A piece of the answer."""

    text: str


class Ended(msgspec.Struct, tag_field="is", tag="ended", frozen=True):
    """The turn is over."""

    outcome: str
    """`complete`, `unmatched`, `cancelled`, `error` or `broken`."""
    utterance_id: str
    detail: str = ""
    """Who cancelled it and why, or what went wrong."""


class Explained(msgspec.Struct, tag_field="is", tag="explained", frozen=True):
    """A turn's trace, for people."""

    text: str


class Examined(msgspec.Struct, tag_field="is", tag="examined", frozen=True):
    """What is loaded and what is not."""

    report: Report


class Refused(msgspec.Struct, tag_field="is", tag="refused", frozen=True):
    """The request cannot be met."""

    reason: str


Request = Ping | Say | Why | Examine
Answer = Pong | Heard | Spoken | Ended | Explained | Examined | Refused

_encode = msgspec.json.Encoder().encode
decode_request = msgspec.json.Decoder(Request).decode
decode_answer = msgspec.json.Decoder(Answer).decode


def line(message: Request | Answer) -> bytes:
    """A message as it is sent."""
    return _encode(message) + b"\n"
