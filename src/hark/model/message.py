"""The envelope that travels on the bus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hark.model.errors import MalformedMessage
from hark.model.frozen import EMPTY, Frozen, freeze, freeze_object
from hark.model.session import Session, json_type
from hark.spec.names import DESTINATION, SESSION, SOURCE
from hark.spec.topics import is_topic, response_topic

_KEEP: Any = object()


class Message:
    """A topic, its `data`, and the `context` of the conversation it belongs to (MSG-1). Never changed; derived from.

    `context` holds every context key but `session`, which is `message.session`.
    """

    __slots__ = ("_context", "_data", "_session", "malformed_session", "type")

    type: str
    malformed_session: str | None
    """The JSON type of a `session` that was no object; such a Message is not for handling (SESSION-1 §2.5)."""

    def __init__(
        self,
        type: str,
        data: Mapping[str, Any] = EMPTY,
        context: Mapping[str, Any] = EMPTY,
        session: Session | None = None,
    ) -> None:
        """A fresh Message; raises `MalformedMessage` for a bad topic or anything JSON cannot say."""
        if not isinstance(type, str) or not is_topic(type):
            raise MalformedMessage(f"{type!r:.100} is no topic: words of letters, digits, '_', '-' joined by '.'")
        malformed = None
        if SESSION in context:
            rest = dict(context)
            carrier = rest.pop(SESSION)
            context = rest
            if isinstance(carrier, Session):
                session = session or carrier
            elif isinstance(carrier, dict):
                session = session or Session.read(freeze_object(carrier))
            elif carrier is not None:
                malformed = json_type(carrier)
        _fill(self, type, freeze_object(data), _routed(freeze_object(context)), session, malformed)

    def __setattr__(self, name: str, _value: object) -> None:
        raise AttributeError(f"a Message does not change ({name}); derive another one")

    @property
    def data(self) -> Frozen:
        """The payload, as its topic's specification describes it."""
        data = self._data
        if type(data) is not Frozen:
            data = freeze(data)
            _set_data(self, data)
        return data  # type: ignore[no-any-return]

    @property
    def context(self) -> Frozen:
        """What belongs to the conversation and survives every derivation, `session` apart."""
        context = self._context
        if type(context) is not Frozen:
            context = freeze(context)
            _set_context(self, context)
        return context  # type: ignore[no-any-return]

    @property
    def session(self) -> Session | None:
        """The session as it was carried, or None when there was none."""
        session = self._session
        if type(session) is dict:
            session = Session.read(session)
            _set_session(self, session)
        return session  # type: ignore[no-any-return]

    @property
    def session_id(self) -> str:
        """The conversation this belongs to; no session means the device's own."""
        session = self.session
        return "default" if session is None else session.session_id

    @property
    def utterance_id(self) -> str | None:
        """The lifecycle this belongs to, if any (PIPELINE-1 §9.1.1)."""
        value = self._context.get("utterance_id")
        return value if isinstance(value, str) else None

    def forward(self, type: str, data: Mapping[str, Any] = EMPTY) -> Message:
        """Another topic and payload in the same context (MSG-1 §5.1)."""
        return _derived(self, type, data, self._context, self._session)

    def reply(self, type: str, data: Mapping[str, Any] = EMPTY) -> Message:
        """As `forward`, on the way back: `source` and `destination` swapped (MSG-1 §5.2)."""
        source, destination = _ident(self._context.get(SOURCE)), _ident(self._context.get(DESTINATION))
        context = self._context
        if source is not None or destination is not None:
            context = dict(self.context)
            if destination is not None:
                context[SOURCE] = destination
            if source is not None:
                context[DESTINATION] = source
            context = Frozen(context)
        return _derived(self, type, data, context, self._session)

    def response(self, data: Mapping[str, Any] = EMPTY) -> Message:
        """The answer to a request, on its topic plus `.response` (MSG-1 §5.3)."""
        return self.reply(response_topic(self.type), data)

    def carrying(self, session: Session | None = _KEEP, **context: Any) -> Message:
        """The same Message with another session, or with context keys set; None removes a key."""
        merged: Any = self._context
        if context:
            merged = {**self.context, **{key: freeze(value) for key, value in context.items()}}
            merged = Frozen({key: value for key, value in merged.items() if value is not None or key not in context})
        message = _new(Message)
        _fill(message, self.type, self._data, merged, self._session if session is _KEEP else session, None)
        return message

    def with_data(self, data: Mapping[str, Any]) -> Message:
        """The same Message with another payload."""
        return _derived(self, self.type, data, self._context, self._session)

    def wire(self) -> dict[str, Any]:
        """The object that is written to the wire."""
        wire: dict[str, Any] = {"type": self.type}
        if self._data:
            wire["data"] = self._data
        session = self._session
        if session is not None:
            carrier = session if type(session) is dict else session.wire()
            wire["context"] = {**self._context, SESSION: carrier}
        elif self._context:
            wire["context"] = self._context
        return wire

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.type, self.data, self.context, self.session) == (
            other.type,
            other.data,
            other.context,
            other.session,
        )

    def __hash__(self) -> int:
        return hash((self.type, self.data))

    def __repr__(self) -> str:
        return f"Message({self.type!r}, {dict(self.data)!r}, session={self.session_id!r})"

    def __copy__(self) -> Message:
        return self

    def __deepcopy__(self, _memo: object) -> Message:
        return self


# The slots are written once, here: `Message` itself refuses every assignment.
_new = Message.__new__
_set_type = Message.type.__set__  # type: ignore[attr-defined]
_set_data = Message._data.__set__  # type: ignore[attr-defined]
_set_context = Message._context.__set__  # type: ignore[attr-defined]
_set_session = Message._session.__set__  # type: ignore[attr-defined]
_set_malformed = Message.malformed_session.__set__  # type: ignore[attr-defined,union-attr]


def _fill(message: Message, type: str, data: Any, context: Any, session: Any, malformed: str | None) -> None:
    _set_type(message, type)
    _set_data(message, data)
    _set_context(message, context)
    _set_session(message, session)
    _set_malformed(message, malformed)


def _derived(source: Message, topic: str, data: Mapping[str, Any], context: Any, session: Any) -> Message:
    if not is_topic(topic):
        raise MalformedMessage(f"{topic!r:.100} is no topic")
    message = _new(Message)
    _fill(message, topic, data if type(data) is Frozen else freeze_object(data), context, session, None)
    return message


def from_wire(topic: str, data: dict[str, Any], context: dict[str, Any]) -> Message:
    """The Message a decoded envelope stands for; takes over the two dicts and opens them on first use."""
    if not is_topic(topic):
        raise MalformedMessage(f"{topic!r:.100} is no topic")
    malformed = None
    session = context.pop(SESSION, None)
    if session is not None and type(session) is not dict:
        malformed, session = json_type(session), None
    message = _new(Message)
    _fill(message, topic, data, context, session, malformed)
    return message


def _ident(value: Any) -> str | None:
    """One routing value, or None; a list is an older form, of which the first name counts (MSG-1 §3)."""
    if isinstance(value, (list, tuple)):
        value = next((item for item in value if item and isinstance(item, str)), None)
    return value if value and isinstance(value, str) else None


def _routed(context: Frozen) -> Frozen:
    """`context` without empty routing keys, which nobody may send (MSG-1 §3.3)."""
    if context.get(SOURCE, 1) and context.get(DESTINATION, 1):
        return context
    return Frozen({key: value for key, value in context.items() if value or key not in (SOURCE, DESTINATION)})
