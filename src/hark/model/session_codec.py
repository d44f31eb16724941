"""The fields of a session: the wire type of each, what its absence means, and how a carrier is read (SESSION-1 §2)."""

from __future__ import annotations

import logging
import typing
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, Final, Generic, Literal, TypeVar, overload

import msgspec

from hark.model.errors import MalformedMessage
from hark.model.frozen import EMPTY, Frozen, Sealed, adopt, freeze
from hark.model.text_cache import cached_by_text
from hark.spec.names import DEFAULT_SESSION_ID, SESSION_ID

log = logging.getLogger("hark.session")

T = TypeVar("T")
E = TypeVar("E")

Resolution = Literal["override", "state", "identity"]
"""How an omission reads: override as the reader's configuration, state as its empty value, identity as unknown."""

_INT64: Final = msgspec.Meta(ge=-(2**63), le=2**63 - 1)
_LATITUDE: Final = msgspec.Meta(ge=-90, le=90)
_LONGITUDE: Final = msgspec.Meta(ge=-180, le=180)

# An integer stays one on the wire; it must fit into 64 bits.
Seconds = Annotated[int, _INT64] | float


class Handler(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `active_handlers` or `converse_handlers`; `activated_at` is in Unix seconds."""

    skill_id: str
    activated_at: Seconds


class ResponseMode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The skill that waits for the user's next utterance, and until when, in Unix seconds."""

    skill_id: str
    expires_at: Seconds


class Location(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where the conversation takes place; `tz` is an IANA zone name."""

    lat: Annotated[int, _LATITUDE] | Annotated[float, _LATITUDE] | None = None
    lon: Annotated[int, _LONGITUDE] | Annotated[float, _LONGITUDE] | None = None
    tz: str | None = None


class ContextEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One entry of the intent context. A `value` of None makes it a flag (CONTEXT-1 §2)."""

    value: str | None
    expires_at: Seconds | None = None
    turns_remaining: Annotated[int, _INT64] | None = None


Texts = tuple[str, ...]
Handlers = tuple[Handler, ...]
Entries = dict[str, ContextEntry | None]
IntentContext = Mapping[str, ContextEntry | None]
"""Entries by key; None in place of an entry marks a key for removal."""

NOWHERE: Final = Location()
"""A location without content, which counts as omitted."""


class Field(Generic[T, E]):
    """A session field as an attribute: its value if present, else `empty`."""

    name: str

    def __init__(self, wire: Any, resolution: Resolution, empty: E, omits_empty: bool = False) -> None:
        self.wire = wire
        self.resolution = resolution
        self.empty: E = empty
        self.omits_empty = omits_empty
        """Whether `[]` on the wire means the same as omitting the field (SESSION-1 §3.4)."""

    def __set_name__(self, _owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, session: None, owner: type) -> Field[T, E]: ...
    @overload
    def __get__(self, session: Any, owner: type) -> T | E: ...
    def __get__(self, session: Any, owner: type) -> Field[T, E] | T | E:
        if session is None:
            return self
        value: T | E = session._fields.get(self.name, self.empty)
        return value


def _text() -> Field[str, None]:
    return Field(str, "override", None)


def _texts() -> Field[Texts, None]:
    return Field(Annotated[Texts, msgspec.Meta(min_length=1)], "override", None, omits_empty=True)


def _handlers() -> Field[Handlers, Handlers]:
    return Field(Handlers, "state", ())


class SessionFields:
    """Every field that a specification defines, except `session_id`."""

    __slots__ = ("_exact", "_fields")

    _fields: dict[str, Any]
    """The present fields, typed; a field that no specification defines is frozen JSON."""
    _exact: Mapping[str, Any]
    """The wire form of unchanged fields that have more in it than the typed value."""

    lang = _text()
    secondary_langs = _texts()
    output_lang = _text()
    stt_lang = _text()
    request_lang = _text()
    detected_lang = _text()
    pipeline = _texts()
    intent_context: Field[IntentContext, IntentContext] = Field(Entries, "state", EMPTY)
    active_handlers = _handlers()
    converse_handlers = _handlers()
    response_mode: Field[ResponseMode, None] = Field(ResponseMode, "state", None)
    fallback_handlers = _texts()
    persona_id: Field[str, None] = Field(str, "state", None)
    audio_transformers = _texts()
    utterance_transformers = _texts()
    metadata_transformers = _texts()
    intent_transformers = _texts()
    dialog_transformers = _texts()
    tts_transformers = _texts()
    blacklisted_skills = _texts()
    blacklisted_intents = _texts()
    blacklisted_pipelines = _texts()
    blacklisted_audio_transformers = _texts()
    blacklisted_utterance_transformers = _texts()
    blacklisted_metadata_transformers = _texts()
    blacklisted_intent_transformers = _texts()
    blacklisted_dialog_transformers = _texts()
    blacklisted_tts_transformers = _texts()
    site_id: Field[str, None] = Field(str, "identity", None)
    location: Field[Location, None] = Field(Location, "override", None)


FIELDS: Final[Mapping[str, Field[Any, Any]]] = {
    name: field for name, field in vars(SessionFields).items() if isinstance(field, Field)
}
EMPTY_IS_OMITTED: Final = frozenset(name for name, field in FIELDS.items() if field.omits_empty)

WIRE_TYPES: Final[Mapping[str, Any]] = {
    "session_id": Annotated[str, msgspec.Meta(min_length=1)],
    **{name: field.wire for name, field in FIELDS.items()},
}
"""The strict type of each field; `read` accepts other forms by its tolerant path."""

SESSION_DEPTH: Final = 3
"""The nesting around a session field: envelope, context, session."""

_CARRIER: Final[Any] = typing.TypedDict("_CARRIER", WIRE_TYPES, total=False)  # type: ignore[misc]

_RECORDS: Final[Mapping[str, type[msgspec.Struct]]] = {
    "active_handlers": Handler,
    "converse_handlers": Handler,
    "response_mode": ResponseMode,
}

_JSON_TYPES: Final = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}


def json_type(value: object) -> str:
    """What JSON calls the type of `value`."""
    return "object" if isinstance(value, dict) else _JSON_TYPES.get(type(value), "array")


def read(carrier: Mapping[str, Any]) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The typed fields of a JSON carrier, and the wire form of those that have more in it than the typed value."""
    exact: Mapping[str, Any] = EMPTY
    try:
        fields: dict[str, Any] = msgspec.convert(carrier, _CARRIER)
    except msgspec.ValidationError:
        fields, exact = _read_tolerantly(carrier)
    if fields.get(SESSION_ID) == DEFAULT_SESSION_ID:
        del fields[SESSION_ID]
    if "intent_context" in fields:
        fields["intent_context"] = Sealed(fields["intent_context"])
    if fields.get("location") == NOWHERE:
        del fields["location"]
    if len(fields) != len(carrier):
        for name in carrier.keys() - WIRE_TYPES.keys():
            _log_unknown(name[:80])
            if carrier[name] is None:
                _log_omitted(name, None)
            else:
                fields[name] = adopt(carrier[name])
    return fields, exact


def json_fields(carrier: Mapping[Any, Any]) -> dict[str, Any]:
    """The part of any mapping that is JSON, frozen."""
    with suppress(MalformedMessage):
        whole: Frozen = freeze(carrier, SESSION_DEPTH - 1)
        return whole
    fields: dict[str, Any] = {}
    for name, value in carrier.items():
        try:
            fields.update(freeze({name: value}, SESSION_DEPTH - 1))
        except MalformedMessage as error:
            log.warning("session: a field counts as omitted, because it is not JSON: %s", error)
    return fields


def _read_tolerantly(carrier: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    fields: dict[str, Any] = {}
    exact: dict[str, Any] = {}
    for name, value in carrier.items():
        wire = WIRE_TYPES.get(name)
        if wire is None or (name in EMPTY_IS_OMITTED and value in ([], ())):
            continue
        try:
            fields[name] = msgspec.convert(value, wire)
        except msgspec.ValidationError as error:
            typed, kept = _salvage(name, value)
            if typed is not None:
                fields[name] = typed
            if kept is not None:
                exact[name] = adopt(kept)
            if typed is None and kept is None:
                _log_omitted(name, value, error)
    return fields, exact


def _salvage(name: str, value: Any) -> tuple[Any, Any]:
    """The typed value of a field that is not in its strict form, and its wire form if that has more in it."""
    if isinstance(value, dict) and name == "location":
        return _salvage_location(value)
    if isinstance(value, dict) and name == "intent_context":
        return _salvage_context(value)
    if name in _RECORDS:
        try:
            return msgspec.convert(_listed(value, _RECORDS[name]), WIRE_TYPES[name]), value
        except msgspec.ValidationError:
            pass
    return None, None


def _listed(value: Any, record: type[msgspec.Struct]) -> Any:
    """A record, or each record of an array, reduced to the keys its specification lists."""
    if isinstance(value, (list, tuple)):
        return [_listed(item, record) for item in value]
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if key in record.__struct_fields__}
    return value


def _salvage_location(value: Mapping[str, Any]) -> tuple[Any, Any]:
    # A malformed key is dropped alone; unlisted keys are kept without meaning (SESSION-1 §3.5).
    kept = dict(value)
    for key in Location.__struct_fields__:
        try:
            msgspec.convert({key: value.get(key)}, Location)
        except msgspec.ValidationError as error:
            _log_omitted(f"location.{key}", kept.pop(key), error)
    listed = _listed(kept, Location)
    return msgspec.convert(listed, Location), kept if len(kept) > len(listed) else None


def _salvage_context(value: Mapping[str, Any]) -> tuple[Any, Any]:
    entries: dict[str, ContextEntry | None] = {}
    kept: dict[str, Any] = {}
    unlisted = False
    for key, entry in value.items():
        if entry is None:
            entries[key] = kept[key] = None
            continue
        if not isinstance(entry, dict) or not isinstance(entry.get("value", 0), str | None):
            log.warning("session: intent_context entry %.80r is malformed and was dropped", key)
            continue
        kept[key] = _without_bad_timers(key, entry)
        listed = _listed(kept[key], ContextEntry)
        entries[key] = msgspec.convert(listed, ContextEntry)
        unlisted = unlisted or len(kept[key]) > len(listed)
    return entries, kept if unlisted else None


def _without_bad_timers(key: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    kept = dict(entry)
    for timer in ("expires_at", "turns_remaining"):
        try:
            msgspec.convert({"value": None, timer: entry.get(timer)}, ContextEntry)
        except msgspec.ValidationError as error:
            log.warning("session: intent_context entry %.80r: %s counts as absent: %s", key, timer, error)
            del kept[timer]
    return kept


def _log_omitted(name: str, value: Any, error: object = None) -> None:
    reason = f": {error}" if error is not None else ""
    log.warning("session: field %.80s counts as omitted, it is %s on the wire%s", name, json_type(value), reason)


@cached_by_text(1024)
def _log_unknown(name: str) -> None:
    # Once per name: such a field is carried on every Message of its conversation.
    log.debug("session: field %.80s is unknown and is passed on", name)
