"""The envelope that travels on the bus."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hark.model.errors import MalformedMessage
from hark.model.frozen import EMPTY, Frozen, adopt, freeze, freeze_object
from hark.model.session import Session, read_json, wire_form
from hark.model.session_codec import json_type
from hark.spec.names import DEFAULT_SESSION_ID, DESTINATION, SESSION, SESSION_ID, SOURCE, UTTERANCE_ID
from hark.spec.topics import is_topic, response_topic

log = logging.getLogger("hark.message")

_PAIR: Final = (SOURCE, DESTINATION)


_KEEP: Final[Any] = object()


class _Broken(msgspec.Struct, frozen=True):
    """A carrier that is no object, kept so that it is not taken for an absent one (SESSION-1 §2.5)."""

    carrier: Any


class _Draft:
    """The parts of a Message while they are assigned. A part from the wire is a plain dict until it is first read."""

    __slots__ = ("_context", "_data", "_session", "type")

    type: str
    _data: dict[str, Any]
    _context: dict[str, Any]
    _session: Session | dict[str, Any] | _Broken | None


class Message(_Draft):
    """A topic, its `data`, and the `context` of the conversation it belongs to (MSG-1). Immutable.

    `context` holds every context key but `session`, which is `message.session`.
    """

    __slots__ = ()

    def __new__(
        cls,
        type: str,
        data: Mapping[str, Any] = EMPTY,
        context: Mapping[str, Any] = EMPTY,
        session: Session | None = None,
    ) -> Message:
        """A fresh Message; raises `MalformedMessage` for a bad topic or anything JSON cannot say."""
        if not isinstance(context, (dict, Mapping)):
            raise MalformedMessage(f"context is a JSON object, not {context.__class__.__name__}")
        if SESSION in context:
            context = dict(context)
            carrier = context.pop(SESSION)
            session = session if session is not None else _session_from(carrier)
        payload = freeze_object(data)
        return _make(_checked_topic(type), payload, _checked_routing(freeze_object(context)), _checked_session(session))

    def __setattr__(self, name: str, _value: object) -> None:
        raise AttributeError(f"a Message is immutable ({name}): derive another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Message is immutable ({name}): derive another one")

    @property
    def data(self) -> Frozen:
        """The payload, as its topic's specification describes it."""
        data = self._data
        if type(data) is not Frozen:
            data = adopt(data)
            _set_data(self, data)
        return data

    @property
    def context(self) -> Frozen:
        """What belongs to the conversation and is kept by every derivation; without `session`."""
        context = self._context
        if type(context) is not Frozen:
            context = adopt(context)
            _set_context(self, context)
        return context

    @property
    def session(self) -> Session | None:
        """The session as it was carried, or None when there was none."""
        session = self._session
        if type(session) is dict:
            session = read_json(session)
            _set_session(self, session)
        return session if isinstance(session, Session) else None

    @property
    def malformed_session(self) -> str | None:
        """The JSON type of a `session` that was no object: such a Message must not be handled (SESSION-1 §2.5)."""
        session = self._session
        return json_type(session.carrier) if type(session) is _Broken else None

    @property
    def session_id(self) -> str:
        """The conversation this belongs to; without a session, the device's own."""
        session = self._session
        if type(session) is dict:
            session_id = session.get(SESSION_ID)
            if session_id and type(session_id) is str:
                return session_id
            session = self.session
        return session.session_id if isinstance(session, Session) else DEFAULT_SESSION_ID

    @property
    def utterance_id(self) -> str | None:
        """The lifecycle this belongs to, if any (PIPELINE-1 §9.1.1)."""
        value = self._context.get(UTTERANCE_ID)
        return value if type(value) is str else None

    def forward(self, type: str, data: Mapping[str, Any] = EMPTY) -> Message:
        """Another topic and payload in the same context (MSG-1 §5.1)."""
        return _derive(self, type, data, self._context)

    def reply(self, type: str, data: Mapping[str, Any] = EMPTY) -> Message:
        """As `forward`, on the way back: `source` and `destination` swapped (MSG-1 §5.2)."""
        return _derive(self, type, data, _swapped(self.context))

    def response(self, data: Mapping[str, Any] = EMPTY) -> Message:
        """The answer to a request, on its topic plus `.response` (MSG-1 §5.3)."""
        return self.reply(response_topic(self.type), data)

    def signal(self, type: str, data: Mapping[str, Any] = EMPTY) -> Message:
        """As `forward`, without a `destination`: for private topics, which are for no client (ruling R18)."""
        context = self._context
        if DESTINATION in context:
            context = Frozen({key: value for key, value in self.context.items() if key != DESTINATION})
        return _derive(self, type, data, context)

    def carrying(self, session: Session | None = _KEEP, /, **context: Any) -> Message:
        """The same Message with another session, or with context keys set; None removes a key, or the session."""
        if SESSION in context:
            session = context.pop(SESSION)
        if session is _KEEP:
            carried: Any = self._session
        else:
            carried = _checked_session(session)
        merged = self._context
        if context:
            merged = dict(self.context)
            for key, value in context.items():
                if value is None:
                    merged.pop(key, None)
                else:
                    merged[key] = freeze(value, 2)
            merged = _checked_routing(Frozen(merged))
        return _make(self.type, self._data, merged, carried)

    def within(self, context: Frozen, session: Session | None) -> Message:
        """The same Message in another context, with another session."""
        old = self._context
        # A null differs from an absent key: it would reach the wire.
        if context.get(SOURCE, _KEEP) != old.get(SOURCE, _KEEP) or (
            context.get(DESTINATION, _KEEP) != old.get(DESTINATION, _KEEP)
        ):
            context = _with_single_names(context)
        return _make(self.type, self._data, context, session)

    def with_data(self, data: Mapping[str, Any]) -> Message:
        """The same Message with another payload."""
        return _make(self.type, freeze_object(data), self._context, self._session)

    def wire(self) -> Frozen:
        """The object that is written to the wire."""
        session = self.session
        carrier = session.wire() if session is not None else getattr(self._session, "carrier", None)
        context = self.context if carrier is None else Frozen({**self.context, SESSION: carrier})
        parts = {"data": self.data, "context": context}
        return Frozen({"type": self.type, **{key: part for key, part in parts.items() if part}})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and _parts(self) == _parts(other)

    def __hash__(self) -> int:
        return hash((self.type, self.data))

    def __repr__(self) -> str:
        return f"Message({self.type!r}, {dict(self.data)!r}, session={self.session_id!r})"

    def __copy__(self) -> Message:
        return self

    def __deepcopy__(self, _memo: object) -> Message:
        return self


# A `Message` refuses every assignment; parts that are frozen on first read bypass that.
_set_data: Final[Any] = _Draft.__dict__["_data"].__set__
_set_context: Final[Any] = _Draft.__dict__["_context"].__set__
_set_session: Final[Any] = _Draft.__dict__["_session"].__set__


def from_wire(topic: str, data: dict[str, Any], context: dict[str, Any]) -> Message:
    """The Message a decoded envelope stands for; takes over the two dicts and freezes them on first read."""
    session = context.pop(SESSION, None)
    if session is not None and type(session) is not dict:
        session = _Broken(adopt(session))
    _normalize_names(context)
    return _make(topic if topic in _VALID_TOPICS else _checked_topic(topic), data, context, session)


def to_wire(message: Message) -> dict[str, Any]:
    """What an encoder writes for `message`; shares its parts, so it is for encoders only."""
    data, context, session = message._data, message._context, message._session
    wire: dict[str, Any] = {"type": message.type}
    if data:
        wire["data"] = data
    if isinstance(session, Session):
        wire["context"] = {**context, SESSION: wire_form(session)}
    elif session is not None:
        wire["context"] = {**context, SESSION: session.carrier if type(session) is _Broken else session}
    elif context:
        wire["context"] = context
    return wire


def _make(topic: str, data: dict[str, Any], context: dict[str, Any], session: Any) -> Message:
    # Assigned as a mutable class, then turned into the immutable one: half the time of bypassing `__setattr__`.
    draft: Any = _Draft()
    draft.type = topic
    draft._data = data
    draft._context = context
    draft._session = session
    draft.__class__ = Message
    message: Message = draft
    return message


def _derive(message: Message, topic: str, data: Mapping[str, Any], context: dict[str, Any]) -> Message:
    session = message._session
    if type(session) is _Broken:
        session = None
    if type(topic) is not str or topic not in _VALID_TOPICS:
        topic = _checked_topic(topic)
    # `_make` inlined: most Messages of a turn are made here, and a call costs as much as its body.
    draft: Any = _Draft()
    draft.type = topic
    draft._data = data if type(data) is Frozen else freeze_object(data)
    draft._context = context
    draft._session = session
    draft.__class__ = Message
    return draft  # type: ignore[no-any-return]


_MOST_CACHED: Final = 4096
_LONGEST_CACHED: Final = 200

_VALID_TOPICS: Final[set[str]] = set()
"""Topics that passed the check: few, and used again and again."""


def _checked_topic(topic: str) -> str:
    if not is_topic(topic):
        shown = repr(topic[:100]) if isinstance(topic, str) else f"a {type(topic).__name__}"
        raise MalformedMessage(f"{shown} is not a topic: words of letters, digits, '_', '-' joined by '.'")
    plain = topic if type(topic) is str else str.__str__(topic)
    if len(_VALID_TOPICS) < _MOST_CACHED and len(plain) < _LONGEST_CACHED:
        _VALID_TOPICS.add(plain)
    return plain


def _checked_session(session: object) -> Session | None:
    if session is None or isinstance(session, Session):
        return session
    raise MalformedMessage(f"a session is a Session, not {type(session).__name__}")


def _session_from(carrier: Any) -> Session | None:
    """The session in a context given to the constructor."""
    if carrier is None or isinstance(carrier, Session):
        return carrier
    if not isinstance(carrier, Mapping):
        raise MalformedMessage(f"a session is a JSON object, not {type(carrier).__name__}")
    return Session.read(carrier)


def _parts(message: Message) -> tuple[Any, ...]:
    session = message.session
    return message.type, message.data, message.context, message._session if session is None else session


# The pair `source` and `destination` by which a Message is routed (MSG-1 §3): each is one name, or absent.


def _checked_routing(context: Frozen) -> Frozen:
    """`context` as it may be sent: an empty name is left out, anything but one name is refused (MSG-1 §3.3)."""
    if _is_routable(context):
        return context
    for key in _PAIR:
        value = context.get(key)
        if value and type(value) is not str:
            raise MalformedMessage(f"{key} is one name, not {json_type(value)}: send one Message to each")
    return _with_single_names(context)


def _with_single_names(context: Frozen) -> Frozen:
    """`context` with each of the pair one name or absent; of a list, which older programs send, the first name."""
    if _is_routable(context):
        return context
    changed = dict(context)
    _normalize_names(changed)
    return Frozen(changed)


def _normalize_names(context: dict[str, Any]) -> None:
    """As `_with_single_names`, in place, for a context that is not shared yet."""
    if _is_routable(context):
        return
    for key in _PAIR:
        value = context.pop(key, None)
        names = value if isinstance(value, (list, tuple)) else (value,)
        name = next((item for item in names if item and isinstance(item, str)), None)
        if name is not None:
            context[key] = name
        else:
            log.debug("%s counts as absent, it is %s", key, json_type(value))


def _is_routable(context: dict[str, Any]) -> bool:
    source, destination = context.get(SOURCE, SOURCE), context.get(DESTINATION, DESTINATION)
    return type(source) is type(destination) is str and source != "" and destination != ""


def _swapped(context: Frozen) -> Frozen:
    """`context` for the way back: a half that has nothing to receive keeps the value it had (MSG-1 §5.2)."""
    source, destination = context.get(SOURCE), context.get(DESTINATION)
    if source is None and destination is None:
        return context
    changed = dict(context)
    if destination is not None:
        changed[SOURCE] = destination
    if source is not None:
        changed[DESTINATION] = source
    return Frozen(changed)
