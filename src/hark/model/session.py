"""An immutable snapshot of a conversation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from hark.model.errors import MalformedMessage, MalformedSession
from hark.model.frozen import EMPTY, Frozen, Sealed, freeze
from hark.model.session_codec import (
    EMPTY_IS_OMITTED,
    NOWHERE,
    SESSION_DEPTH,
    WIRE_TYPES,
    SessionFields,
    json_fields,
    read,
)
from hark.spec.names import DEFAULT_SESSION_ID, SESSION_ID


class Session(SessionFields):
    """What a conversation carries along (SESSION-1).

    It reads tolerantly, writes minimally, and keeps fields it does not know. An omitted field reads as None, or as its
    empty value if the field records state. Sessions are immutable: `replace` and `without` return another one.
    """

    __slots__ = ()

    def __new__(cls, session_id: str = DEFAULT_SESSION_ID, **fields: Any) -> Session:
        """A session with these fields; raises `MalformedSession` for a known field of the wrong type."""
        if session_id != DEFAULT_SESSION_ID:
            fields[SESSION_ID] = session_id
        return _make(_written({}, fields), EMPTY)

    def __setattr__(self, name: str, _value: object) -> None:
        raise AttributeError(f"a Session is immutable; session.replace({name}=...) returns another one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Session is immutable; session.without({name!r}) returns another one")

    @classmethod
    def read(cls, carrier: Mapping[str, Any]) -> Session:
        """The session in a wire object; a field that is null or of the wrong type counts as omitted."""
        return read_json(carrier if type(carrier) is Frozen else json_fields(carrier))

    @property
    def session_id(self) -> str:
        """The id of the conversation; the device's own is `default`."""
        session_id: str = self._fields.get(SESSION_ID, DEFAULT_SESSION_ID)
        return session_id

    @property
    def is_default(self) -> bool:
        """Whether this is the device's own session."""
        return SESSION_ID not in self._fields

    def get(self, name: str, default: Any = None) -> Any:
        """The value of any field, known or not, or `default` when it is omitted."""
        if name == SESSION_ID:
            return self.session_id
        return self._fields.get(name, default)

    def present(self, names: Iterable[str]) -> dict[str, Any]:
        """The named fields that are present, with their values."""
        fields = self._fields
        return {name: fields[name] for name in names if name in fields}

    def replace(self, **changes: Any) -> Session:
        """This session with some fields set; raises `MalformedSession` for a known field of the wrong type."""
        return _make(_written(self._fields, changes), self._exact_without(changes))

    def without(self, *names: str) -> Session:
        """This session with some fields omitted."""
        fields = dict(self._fields)
        for name in names:
            fields.pop(name, None)
        if len(fields) == len(self._fields) and not self._exact:
            return self
        return _make(fields, self._exact_without(names))

    def trusted(self, **changes: Any) -> Session:
        """As `replace`, without checks: for values that are typed already."""
        return _make({**self._fields, **changes}, self._exact_without(changes) if self._exact else EMPTY)

    def taking(self, other: Session, names: Iterable[str]) -> Session:
        """This session with some fields as `other` has them: present there, or omitted."""
        names = tuple(names)
        exact = self._exact
        if exact or other._exact:
            exact = _taken(exact, other._exact, names)
        return _make(_taken(self._fields, other._fields, names), exact)

    def wire(self) -> Frozen:
        """The object that is written to the wire: the present fields, unchanged ones exactly as they were read."""
        wire: Frozen = freeze(msgspec.to_builtins(wire_form(self)), SESSION_DEPTH - 1)
        return wire

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Session) and self._fields == other._fields and self._exact == other._exact

    def __hash__(self) -> int:
        return hash(self.session_id)

    def __repr__(self) -> str:
        rest = "".join(f", {name}={value!r}" for name, value in self._fields.items() if name != SESSION_ID)
        return f"Session({self.session_id!r}{rest})"

    def __copy__(self) -> Session:
        return self

    def __deepcopy__(self, _memo: object) -> Session:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (self._fields, self._exact)

    def _exact_without(self, names: Collection[str]) -> Mapping[str, Any]:
        return {name: value for name, value in self._exact.items() if name not in names} if self._exact else EMPTY


def read_json(carrier: Mapping[str, Any]) -> Session:
    """As `Session.read`, for a carrier that is JSON already."""
    return _make(*read(carrier))


def wire_form(session: Session) -> Mapping[str, Any]:
    """What an encoder writes for `session`; shares its parts, so it is for encoders only."""
    return {**session._fields, **session._exact} if session._exact else session._fields


def _make(fields: dict[str, Any], exact: Mapping[str, Any]) -> Session:
    # Assigned as a mutable class, then turned into the immutable one: half the time of bypassing `__setattr__`.
    session: Any = SessionFields()
    session._fields = fields
    session._exact = exact
    session.__class__ = Session
    made: Session = session
    return made


def _taken(mine: Mapping[str, Any], theirs: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    taken = dict(mine)
    for name in names:
        if name in theirs:
            taken[name] = theirs[name]
        else:
            taken.pop(name, None)
    return taken


def _written(fields: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`fields` with checked changes; raises `MalformedSession`."""
    written = dict(fields)
    for name, value in changes.items():
        typed = _checked(name, value)
        if typed is None:
            written.pop(name, None)
        else:
            written[name] = typed
    if "secondary_langs" in written and ("lang" in changes or "secondary_langs" in changes):
        others = tuple(dict.fromkeys(lang for lang in written["secondary_langs"] if lang != written.get("lang")))
        written["secondary_langs"] = others
        if not others:
            del written["secondary_langs"]
    return written


def _checked(name: str, value: Any) -> Any:
    """`value` in the type of the field `name`, or None if it is the same as omitting the field."""
    if value is None:
        raise MalformedSession(f"session field {name!r} cannot be null: leave it out, or use without({name!r})")
    if not name.isidentifier():
        raise MalformedSession(f"{name[:80]!r} is not a name for a session field")
    wire = WIRE_TYPES.get(name)
    try:
        # Frozen first, so that typed values are checked as strictly as wire values.
        frozen = freeze(value, SESSION_DEPTH)
        if wire is None or (wire is str and type(frozen) is str):
            return frozen
        if name == SESSION_ID and type(frozen) is str and frozen:
            return None if frozen == DEFAULT_SESSION_ID else frozen
        if name in EMPTY_IS_OMITTED and frozen == ():
            return None
        typed = msgspec.convert(frozen, wire)
    except (msgspec.ValidationError, MalformedMessage) as error:
        raise MalformedSession(f"session field {name!r}: {error}") from None
    if name == "intent_context":
        return Sealed(typed)
    return None if name == "location" and typed == NOWHERE else typed
