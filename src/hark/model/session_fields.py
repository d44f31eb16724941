"""The table of session fields: each one's wire type and what its absence means (SESSION-1 §2.2)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Generic, Literal, TypeVar, overload

import msgspec

from hark.spec.names import DENYLISTS, TRANSFORMER_PREFERENCES

T = TypeVar("T")
E = TypeVar("E")

Class = Literal["identity", "override", "state"]
"""How an omission reads: identity and override fall back to configuration, state to its empty value."""


class Handler(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `active_handlers` or `converse_handlers`."""

    skill_id: str
    activated_at: float


class ResponseMode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who is waiting for the user's next utterance, and until when."""

    skill_id: str
    expires_at: float


class Location(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where the conversation takes place; `tz` is an IANA zone name."""

    lat: Annotated[float, msgspec.Meta(ge=-90, le=90)] | None = None
    lon: Annotated[float, msgspec.Meta(ge=-180, le=180)] | None = None
    tz: str | None = None


class ContextEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing to remember. A `value` of None makes it a flag (CONTEXT-1 §2)."""

    value: str | None
    expires_at: float | None = None
    turns_remaining: int | None = None


class Field(Generic[T, E]):
    """A session field as an attribute: its value when present, else `empty`."""

    name: str

    def __init__(self, wire: Any, resolution: Class, empty: E) -> None:
        self.wire = wire
        self.resolution = resolution
        self.empty: E = empty
        FIELD_ORDER.append(self)

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

    @property
    def omits_empty(self) -> bool:
        """Whether `[]` on the wire says the same as leaving the field out (SESSION-1 §3.4)."""
        return self.resolution == "override" and self.wire == Texts


FIELD_ORDER: Final[list[Field[Any, Any]]] = []

Texts = tuple[str, ...]
Handlers = tuple[Handler, ...]
Entries = dict[str, ContextEntry | None]


def text() -> Field[str, None]:
    """A text that falls back to configuration when omitted."""
    return Field(str, "override", None)


def texts() -> Field[Texts, None]:
    """A list of texts that falls back to configuration when omitted or empty."""
    return Field(Texts, "override", None)


LIST_OVERRIDES: Final = ("pipeline", "secondary_langs", "fallback_handlers", *TRANSFORMER_PREFERENCES, *DENYLISTS)
