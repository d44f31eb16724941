"""Reading a session off the wire: a bad field never costs more than itself (SESSION-1 §2)."""

from __future__ import annotations

import logging
import typing
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

import msgspec

from hark.model.errors import MalformedMessage
from hark.model.frozen import EMPTY, Frozen, Sealed, adopt, freeze
from hark.model.session_fields import (
    EMPTY_IS_OMITTED,
    NOWHERE,
    WIRE_TYPES,
    ContextEntry,
    Handler,
    Location,
    ResponseMode,
)
from hark.spec.names import DEFAULT_SESSION_ID, SESSION_ID

log = logging.getLogger("hark.session")

SESSION_DEPTH: Final = 3
"""What a session field stands in: the envelope, the context, the session."""

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
    """The fields of a carrier that is JSON, and the exact form of those that hold more than the typed value can."""
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
    """Of any mapping at all, the part that JSON can say, frozen."""
    with suppress(MalformedMessage):
        whole: Frozen = freeze(carrier, SESSION_DEPTH - 1)
        return whole
    fields: dict[str, Any] = {}
    for name, value in carrier.items():
        try:
            fields.update(freeze({name: value}, SESSION_DEPTH - 1))
        except MalformedMessage as error:
            log.warning("session: a field counts as omitted, because it is no JSON: %s", error)
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
    """What can be read of a field that is not in its strict form, and the form to pass on if that holds more."""
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
    # A bad key is dropped alone; keys nobody listed are tolerated without meaning (SESSION-1 §3.5).
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


@lru_cache(maxsize=1024)
def _log_unknown(name: str) -> None:
    # Once per name: such a field is carried on every Message of its conversation.
    log.debug("session: field %s is not known here and is carried along", name)
