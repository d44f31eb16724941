"""An immutable snapshot of a conversation."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypedDict

import msgspec

from hark.model.errors import MalformedMessage, MalformedSession
from hark.model.frozen import EMPTY, Frozen, check_text, freeze
from hark.model.session_fields import (
    FIELD_ORDER,
    ContextEntry,
    Entries,
    Field,
    Handlers,
    Location,
    ResponseMode,
    text,
    texts,
)
from hark.spec.names import DEFAULT_SESSION_ID

log = logging.getLogger("hark.session")


class Session:
    """What a conversation carries along (SESSION-1). Reads tolerantly, writes minimally, drops nothing it does not know.

    A field that was omitted reads as None, or as its empty value where the field is a record of state. Nothing is
    ever changed: `replace` and `without` return another snapshot.
    """

    __slots__ = ("_fields", "_wire")

    lang = text()
    secondary_langs = texts()
    output_lang = text()
    stt_lang = text()
    request_lang = text()
    detected_lang = text()
    pipeline = texts()
    intent_context: Field[Mapping[str, ContextEntry | None], Frozen] = Field(Entries, "state", EMPTY)
    active_handlers: Field[Handlers, tuple[()]] = Field(Handlers, "state", ())
    converse_handlers: Field[Handlers, tuple[()]] = Field(Handlers, "state", ())
    response_mode: Field[ResponseMode, None] = Field(ResponseMode, "state", None)
    fallback_handlers = texts()
    persona_id: Field[str, None] = Field(str, "state", None)
    audio_transformers = texts()
    utterance_transformers = texts()
    metadata_transformers = texts()
    intent_transformers = texts()
    dialog_transformers = texts()
    tts_transformers = texts()
    blacklisted_skills = texts()
    blacklisted_intents = texts()
    blacklisted_pipelines = texts()
    blacklisted_audio_transformers = texts()
    blacklisted_utterance_transformers = texts()
    blacklisted_metadata_transformers = texts()
    blacklisted_intent_transformers = texts()
    blacklisted_dialog_transformers = texts()
    blacklisted_tts_transformers = texts()
    site_id: Field[str, None] = Field(str, "identity", None)
    location: Field[Location, None] = Field(Location, "override", None)

    def __init__(self, session_id: str = DEFAULT_SESSION_ID, **fields: Any) -> None:
        """A session with these fields; raises `MalformedSession` for a known field of the wrong type."""
        if session_id != DEFAULT_SESSION_ID:
            fields["session_id"] = session_id
        _set_fields(self, _checked(fields))
        _set_wire(self, EMPTY)

    def __setattr__(self, name: str, _value: object) -> None:
        raise AttributeError(f"a Session does not change; session.replace({name}=...) returns another one")

    @classmethod
    def read(cls, carrier: Mapping[str, Any]) -> Session:
        """The session a wire object stands for; a field that is null or of the wrong type counts as omitted."""
        try:
            known = msgspec.convert(carrier, _KNOWN)
            wire: dict[str, Any] = EMPTY
        except (msgspec.ValidationError, RecursionError):
            known, wire = _read_tolerantly(carrier)
        fields: dict[str, Any] = _normalised(known)
        for name in carrier.keys() - FIELDS.keys() if len(known) != len(carrier) else ():
            if name != "session_id":
                fields[name] = freeze(carrier[name])
        return _make(fields, wire)

    @property
    def session_id(self) -> str:
        """Which conversation this is; the one of the device itself is `default`."""
        session_id: str = self._fields.get("session_id", DEFAULT_SESSION_ID)
        return session_id

    @property
    def is_default(self) -> bool:
        """Whether this is the device's own session."""
        return "session_id" not in self._fields

    def get(self, name: str, default: Any = None) -> Any:
        """The value of any field, known or not, or `default` when it is omitted."""
        if name == "session_id":
            return self.session_id
        return self._fields.get(name, default)

    def replace(self, **changes: Any) -> Session:
        """This session with some fields set; raises `MalformedSession` for a known field of the wrong type."""
        fields = {**self._fields, **_checked(changes)}
        if changes.get("session_id") == DEFAULT_SESSION_ID:
            fields.pop("session_id", None)
        for name in changes.keys() & EMPTY_IS_OMITTED:
            if not fields.get(name, True):
                del fields[name]
        return _make(fields, self._wire_without(changes))

    def without(self, *names: str) -> Session:
        """This session with some fields omitted."""
        if not any(name in self._fields for name in names):
            return self
        fields = {name: value for name, value in self._fields.items() if name not in names}
        return _make(fields, self._wire_without(names))

    def trusted(self, **changes: Any) -> Session:
        """As `replace`, without checking: for values that come from another session or are typed already."""
        return _make({**self._fields, **changes}, self._wire_without(changes))

    def wire(self) -> dict[str, Any]:
        """What is written to the wire: the present fields, as they came where nobody changed them."""
        return {**self._fields, **self._wire} if self._wire else self._fields

    def __contains__(self, name: object) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Session) and self._fields == other._fields and self._wire == other._wire

    def __hash__(self) -> int:
        return hash(self.session_id)

    def __repr__(self) -> str:
        rest = "".join(f", {name}={value!r}" for name, value in self._fields.items() if name != "session_id")
        return f"Session({self.session_id!r}{rest})"

    def __copy__(self) -> Session:
        return self

    def __deepcopy__(self, _memo: object) -> Session:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (self._fields, self._wire)

    def _wire_without(self, names: Any) -> dict[str, Any]:
        if not self._wire:
            return EMPTY
        return {name: value for name, value in self._wire.items() if name not in names}


FIELDS: Final[Mapping[str, Field[Any, Any]]] = {field.name: field for field in FIELD_ORDER}
EMPTY_IS_OMITTED: Final = frozenset(name for name, field in FIELDS.items() if field.omits_empty)

_KNOWN: Any = TypedDict(  # type: ignore[misc]
    "_KNOWN", {"session_id": str, **{name: field.wire for name, field in FIELDS.items()}}, total=False
)
_NULL_RECORDS = frozenset({"skill_id", "activated_at", "expires_at"})

# The slots are written once, here: `Session` itself refuses every assignment.
_set_fields = Session._fields.__set__  # type: ignore[attr-defined]
_set_wire = Session._wire.__set__  # type: ignore[attr-defined]
_new = Session.__new__


def _make(fields: dict[str, Any], wire: dict[str, Any]) -> Session:
    session = _new(Session)
    _set_fields(session, fields)
    _set_wire(session, wire)
    return session


def _normalised(known: dict[str, Any]) -> dict[str, Any]:
    """Omission in its one form: no empty override list, no empty id, no spelt-out default id."""
    if known.get("session_id") in ("", DEFAULT_SESSION_ID):
        del known["session_id"]
    for name in EMPTY_IS_OMITTED & known.keys():
        if not known[name]:
            del known[name]
    if "intent_context" in known:
        known["intent_context"] = Frozen(known["intent_context"])
    return known


def _checked(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields an author sets, as typed values; raises for what would be malformed on the wire."""
    checked: dict[str, Any] = {}
    for name, value in fields.items():
        if not name.isidentifier() or value is None:
            raise MalformedSession(
                f"session field {name!r} cannot be {value!r}: leave it out, or use without({name!r})"
            )
        field = FIELDS.get(name)
        wire = field.wire if field is not None else str if name == "session_id" else None
        try:
            # Through plain values and back: typed structs are checked as strictly as what comes from the wire.
            plain = msgspec.to_builtins(value)
            frozen = freeze(plain)
            checked[name] = frozen if wire is None else msgspec.convert(plain, wire)
        except (msgspec.ValidationError, MalformedMessage, TypeError, RecursionError) as error:
            raise MalformedSession(f"session field {name!r} cannot be {value!r:.80}: {error}") from None
        if name == "session_id" and not value:
            raise MalformedSession("session_id cannot be empty")
    if "intent_context" in checked:
        checked["intent_context"] = Frozen(checked["intent_context"])
    return checked


def _read_tolerantly(carrier: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Field by field: (typed values, wire forms of fields that hold more than the typed value can)."""
    known: dict[str, Any] = {}
    wire: dict[str, Any] = {}
    for name, value in carrier.items():
        field = FIELDS.get(name)
        if field is None:
            if name == "session_id":
                if isinstance(value, str):
                    known[name] = value
                else:
                    _warn(name, value)
            continue
        try:
            known[name] = msgspec.convert(value, field.wire)
            continue
        except (msgspec.ValidationError, RecursionError):
            pass
        rescued = _rescue(name, value)
        if rescued is None:
            _warn(name, value)
        else:
            known[name], exact = rescued
            if exact is not None:
                wire[name] = exact
    return known, wire


def _rescue(name: str, value: Any) -> tuple[Any, Any] | None:
    """A field whose records hold unlisted or broken keys: (what can be read of it, its wire form if worth keeping)."""
    if name == "intent_context" and isinstance(value, dict):
        entries = {}
        for key, entry in value.items():
            read = None if entry is None else _read_entry(key, entry)
            if entry is None or read is not None:
                entries[key] = read
        return entries, None
    if name == "location" and isinstance(value, dict):
        kept = {}
        for key in ("lat", "lon", "tz"):
            try:
                kept[key] = getattr(msgspec.convert({key: value.get(key)}, Location), key)
            except msgspec.ValidationError:
                _warn(f"location.{key}", value.get(key))
        exact = freeze({k: v for k, v in value.items() if k not in ("lat", "lon", "tz") or kept.get(k) is not None})
        return Location(**kept), exact
    plain = _without_unlisted(value)
    if plain is not None:
        try:
            return msgspec.convert(plain, FIELDS[name].wire), freeze(value)
        except msgspec.ValidationError:
            return None
    return None


def _without_unlisted(value: Any) -> Any:
    """Records reduced to the keys the specifications list; None where there is no record."""
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if key in _NULL_RECORDS}
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, dict) for item in value):
        return [_without_unlisted(item) for item in value]
    return None


def _read_entry(key: str, entry: Any) -> ContextEntry | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("value", 0), (str, type(None))):
        log.warning("session: intent_context entry %r is malformed and was dropped", key)
        return None
    timers: dict[str, Any] = {}
    for name in ("expires_at", "turns_remaining"):
        try:
            timers[name] = getattr(msgspec.convert({"value": None, name: entry.get(name)}, ContextEntry), name)
        except msgspec.ValidationError:
            log.warning("session: intent_context entry %r has a malformed %s, which counts as absent", key, name)
    return ContextEntry(value=entry["value"], **timers)


_JSON_TYPES: Final = {str: "string", bool: "boolean", int: "number", float: "number", dict: "object", type(None): "null"}


def json_type(value: Any) -> str:
    """What JSON calls the type of `value`."""
    return "object" if isinstance(value, dict) else _JSON_TYPES.get(type(value), "array")


def _warn(name: str, value: Any) -> None:
    log.warning("session: field %s is a %s on the wire, which counts as omitted", name, json_type(value))


__all__ = ["EMPTY_IS_OMITTED", "FIELDS", "Session", "check_text", "json_type"]
