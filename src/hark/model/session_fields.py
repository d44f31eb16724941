"""The table of session fields: each one's wire type and what its absence means (SESSION-1 §2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Generic, Literal, TypeVar, overload

import msgspec

from hark.model.frozen import EMPTY

T = TypeVar("T")
E = TypeVar("E")

Resolution = Literal["override", "state", "identity"]
"""How an omission reads: override as the reader's configuration, state as its empty value, identity as unknown."""

_INT64: Final = msgspec.Meta(ge=-(2**63), le=2**63 - 1)
_LATITUDE: Final = msgspec.Meta(ge=-90, le=90)
_LONGITUDE: Final = msgspec.Meta(ge=-180, le=180)

# A whole number stays one on the wire. One that no float can hold is no time.
Seconds = Annotated[int, _INT64] | float


class Handler(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `active_handlers` or `converse_handlers`; `activated_at` is in Unix seconds."""

    skill_id: str
    activated_at: Seconds


class ResponseMode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who is waiting for the user's next utterance, and until when, in Unix seconds."""

    skill_id: str
    expires_at: Seconds


class Location(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where the conversation takes place; `tz` is an IANA zone name."""

    lat: Annotated[int, _LATITUDE] | Annotated[float, _LATITUDE] | None = None
    lon: Annotated[int, _LONGITUDE] | Annotated[float, _LONGITUDE] | None = None
    tz: str | None = None


class ContextEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing to remember. A `value` of None makes it a flag (CONTEXT-1 §2)."""

    value: str | None
    expires_at: Seconds | None = None
    turns_remaining: Annotated[int, _INT64] | None = None


Texts = tuple[str, ...]
Handlers = tuple[Handler, ...]
Entries = dict[str, ContextEntry | None]
IntentContext = Mapping[str, ContextEntry | None]
"""What is remembered, by key; None in place of an entry marks a key that is to be removed."""

NOWHERE: Final = Location()
"""A location that says nothing, which is as good as none."""


class Field(Generic[T, E]):
    """A session field as an attribute: its value where it is present, else `empty`."""

    name: str

    def __init__(self, wire: Any, resolution: Resolution, empty: E, omits_empty: bool = False) -> None:
        self.wire = wire
        self.resolution = resolution
        self.empty: E = empty
        self.omits_empty = omits_empty
        """Whether `[]` on the wire says the same as leaving the field out (SESSION-1 §3.4)."""

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
    """Every field a specification claims, but `session_id`."""

    __slots__ = ("_exact", "_fields")

    _fields: dict[str, Any]
    """The fields that are present, typed; one that no specification claims is frozen JSON."""
    _exact: Mapping[str, Any]
    """How fields came that hold more than the typed value can; nobody has changed them since."""

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
"""The form in which a field says something: `read` takes any other one by its tolerant path."""
