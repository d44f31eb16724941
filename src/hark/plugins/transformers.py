"""The six kinds of transformer, and the context each may change beside its artifact."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, ClassVar, Final

import msgspec

from hark.model import Audio, ContextEntry, Frozen, MalformedMessage, Match, Session
from hark.model.frozen import EMPTY, check_text, freeze, freeze_object, thaw
from hark.model.intent_context import is_live, private_key
from hark.model.lang import is_tag
from hark.plugins.plugin import Plugin
from hark.spec.names import RUNTIME_KEYS, TRACE_KEEP, TransformerType
from hark.spec.topics import is_dispatch_topic, is_topic


class Transformer(Plugin):
    """Base of the six kinds. Subclass one of them; `transform` may be `def` or `async def`."""

    type: ClassVar[TransformerType]
    """Which chain it belongs to; set by the six classes below."""

    priority: ClassVar[int] = 50
    """Its place in the chain: 1 runs first, 100 last."""


class AudioTransformer(Transformer):
    """Works on recorded speech before it is recognised."""

    type = "audio"

    chunked: ClassVar[bool] = False
    """Whether it can work on a recording chunk by chunk, whatever the length of a chunk.

    Where every transformer of the chain can and the engine recognises during the recording, `transform` is called with
    each chunk as it comes: `ctx.recording_id` and `ctx.position` say which, and the last chunk, which may be empty, has
    `ctx.is_last`. Everywhere else it is called once, with the whole recording.
    """

    @abstractmethod
    def transform(self, audio: Audio, ctx: Ctx) -> Audio | Awaitable[Audio]:
        """The audio that replaces it."""


class UtteranceTransformer(Transformer):
    """Works on the candidate texts of an utterance; the first is the likeliest."""

    type = "utterance"

    @abstractmethod
    def transform(self, utterances: list[str], ctx: Ctx) -> list[str] | Awaitable[list[str]]:
        """The candidates that replace them; an empty list means that there was no speech."""


class MetadataTransformer(Transformer):
    """Works on the context alone: session, routing, anything a later stage reads."""

    type = "metadata"

    @abstractmethod
    def transform(self, ctx: Ctx) -> Awaitable[None] | None:
        """Change `ctx`."""


class IntentTransformer(Transformer):
    """Works on an accepted match: adds slots, looks things up."""

    type = "intent"

    @abstractmethod
    def transform(self, match: Match, ctx: Ctx) -> Match | Awaitable[Match]:
        """The match that replaces it, with the same `skill_id` and `intent_name`."""


class DialogTransformer(Transformer):
    """Works on a response text before it is spoken."""

    type = "dialog"

    @abstractmethod
    def transform(self, text: str, ctx: Ctx) -> str | Awaitable[str]:
        """The text that replaces it."""


class TTSTransformer(Transformer):
    """Works on synthesised speech before it is played."""

    type = "tts"

    @abstractmethod
    def transform(self, audio: Audio, ctx: Ctx) -> Audio | Awaitable[Audio]:
        """The audio that replaces it."""


_REMOVED: Any = object()
_OWN_PREFIX: Final = "hark_"
"""How the context keys begin by which Hark's own parts find each other's Messages."""


class ArtifactPart(msgspec.Struct, frozen=True):
    """Which part of what an artifact is: a sentence of a response, a chunk of a recording, or all of it."""

    whole_id: str | None = None
    """The id of the response or recording."""
    index: int = 0
    is_last: bool = True


WHOLE: Final = ArtifactPart()


class Ctx:
    """The Message's context during one `transform`.

    Changes take effect when `transform` returns; if it raises, they are dropped. The keys that list the transformers a
    Message passed, those of a cancellation, and those that begin with "hark_" except `hark_trace`, are written by Hark:
    a transformer can neither forget nor forge them.
    """

    # `hark.chains` reads these when it accepts the result of the transformer.
    __slots__ = (
        "_cancel_reason",
        "_changes",
        "_context",
        "_emitted",
        "_for_turn",
        "_has_lang",
        "_lang",
        "_owner",
        "_part",
        "_session",
        "_ticked",
        "_wall",
    )

    def __init__(
        self,
        context: Frozen,
        session: Session,
        lang: str | None,
        has_lang: bool,
        owner: str = "",
        part: ArtifactPart = WHOLE,
        wall: Callable[[], float] = time.time,
        ticked: bool = False,
    ) -> None:
        self._context = context
        self._session = session
        self._lang = lang
        self._has_lang = has_lang
        self._owner = owner
        self._part = part
        self._wall = wall
        self._ticked = ticked
        self._changes: dict[str, Any] | None = None
        self._emitted: list[tuple[str, Frozen, bool]] | None = None
        self._for_turn: tuple[str, ...] = ()
        self._cancel_reason: str | None = None

    @property
    def lang(self) -> str | None:
        """The language of the artifact, or None when it is not stated. Assignable; None withdraws it.

        In the metadata chain it is what the utterance states, to be read alone; in the intent chain see `Match.lang`.
        """
        return self._lang

    @lang.setter
    def lang(self, tag: str | None) -> None:
        if not self._has_lang:
            raise AttributeError("metadata and intent transformers have no artifact whose language could be set")
        if tag is not None and not is_tag(tag):
            raise ValueError(f"{tag!r} is not a BCP-47 language tag")
        self._lang = tag

    @property
    def session(self) -> Session:
        """The session as it is now; assign `ctx.session.replace(...)` to change it.

        Such a change lasts: the conversation goes on with it. See `for_this_turn` for one that does not.
        """
        return self._session

    @session.setter
    def session(self, session: Session) -> None:
        if not isinstance(session, Session):
            raise TypeError(f"ctx.session takes a Session, not {type(session).__name__}")
        self._session = session

    def for_this_turn(self, **fields: Any) -> None:
        """Set session fields for this utterance alone: `ctx.for_this_turn(lang="es-ES", pipeline=["persona"])`.

        The rest of the turn sees them; afterwards the session is as it was. None omits a field for this turn. In the
        dialog and tts chains they hold for this response alone. Raises `MalformedSession` for a value of the wrong
        type.
        """
        if "session_id" in fields:
            raise PermissionError("the session of a turn cannot be changed for one turn")
        set_fields = {name: value for name, value in fields.items() if value is not None}
        session = self._session.replace(**set_fields) if set_fields else self._session
        self._session = session.without(*(name for name, value in fields.items() if value is None))
        self._for_turn = tuple(dict.fromkeys((*self._for_turn, *fields)))

    def remember(
        self,
        key: str,
        value: str | None = None,
        *,
        turns: int | None = None,
        seconds: float | None = None,
        shared: bool = False,
        skill_id: str | None = None,
    ) -> None:
        """Keep `value` (None: just a flag) in the intent context for `turns` utterances or `seconds`.

        The entry is private to this transformer, or to `skill_id`, whose intents can then ask for it; `shared`, all
        intents can. What an utterance or metadata transformer remembers counts for this very utterance, as its first
        turn.
        """
        entry = ContextEntry(value, None if seconds is None else self._wall() + seconds, turns)
        entries = {**self._session.intent_context, self._stored_key(key, shared, skill_id): entry}
        self._session = self._session.replace(intent_context=entries)

    def forget(self, key: str, *, shared: bool = False, skill_id: str | None = None) -> None:
        """Remove what was remembered under `key`."""
        stored = self._stored_key(key, shared, skill_id)
        entries = {name: entry for name, entry in self._session.intent_context.items() if name != stored}
        self._session = self._session.trusted(intent_context=Frozen(entries))

    def recall(self, key: str, *, shared: bool = False, skill_id: str | None = None) -> ContextEntry | None:
        """What is remembered under `key`, or None; what has expired is no longer remembered."""
        entry = self._session.intent_context.get(self._stored_key(key, shared, skill_id))
        return entry if is_live(entry, self._wall(), ticked=self._ticked) else None

    @property
    def response_id(self) -> str | None:
        """In the dialog and tts chains, the id of the response: the same for all its sentences."""
        return self._part.whole_id

    @property
    def recording_id(self) -> str | None:
        """In the audio chain, the id of the recording: the same for all its chunks."""
        return self._part.whole_id

    @property
    def position(self) -> int:
        """In the tts chain, which sentence of the response this is, from 0; of a chunked recording, which chunk."""
        return self._part.index

    @property
    def is_first(self) -> bool:
        """Whether this is the first sentence or chunk; always, where the artifact comes whole."""
        return self._part.index == 0

    @property
    def is_last(self) -> bool:
        """Whether this is the last sentence or chunk; always, where the artifact comes whole."""
        return self._part.is_last

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a context key; lists and dicts are copies, so that changing one changes nothing."""
        if self._changes is not None and key in self._changes:
            value = self._changes[key]
            return default if value is _REMOVED else thaw(value)
        value = self._context.get(key, _REMOVED)
        return default if value is _REMOVED else thaw(value)

    def set(self, key: str, value: Any) -> None:
        """Set a context key. Keys of your own are best named `<transformer id>.<name>`."""
        self._write(key, freeze(value, 2))

    def unset(self, key: str) -> None:
        """Remove a context key."""
        self._write(key, _REMOVED)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key, _REMOVED) is not _REMOVED

    def __iter__(self) -> Iterator[str]:
        changes = self._changes or {}
        yield from (key for key in self._context if changes.get(key) is not _REMOVED)
        yield from (key for key, value in changes.items() if key not in self._context and value is not _REMOVED)

    def emit(self, topic: str, data: Mapping[str, Any] = EMPTY) -> None:
        """Emit a Message of this turn, stamped with this transformer's id, once its result is accepted.

        What a later transformer does, a cancellation too, does not undo it. `ovos.context.set`, `.unset` and `.clear`
        take effect at once: the next transformer finds the session changed.
        """
        self._emit(topic, data, False)

    def reply(self, topic: str, data: Mapping[str, Any] = EMPTY) -> None:
        """As `emit`, addressed to the client that spoke: `source` and `destination` are swapped."""
        self._emit(topic, data, True)

    def _emit(self, topic: str, data: Mapping[str, Any], is_reply: bool) -> None:
        if not is_topic(topic) or is_dispatch_topic(topic):
            raise MalformedMessage(f"{topic!r:.100} is not a topic a transformer may emit")
        if self._emitted is None:
            self._emitted = []
        self._emitted.append((topic, freeze_object(data), is_reply))

    def cancel(self, reason: str = "other") -> None:
        """Cancel this utterance; in dialog and tts chains, this response. See `hark.spec.CANCEL_REASONS`."""
        if not isinstance(reason, str) or not reason:
            raise ValueError("a cancellation needs a reason")
        self._cancel_reason = check_text(reason)

    def _stored_key(self, key: str, shared: bool, skill_id: str | None) -> str:
        if not key or ":" in key:
            raise ValueError(f"a context key is a word without colon, not {key!r}")
        if shared:
            return key
        return private_key(skill_id or self._owner, key)

    def _write(self, key: str, value: Any) -> None:
        if not isinstance(key, str) or not key:
            raise TypeError(f"a context key is non-empty text, not {key!r}")
        # A client finds its answer by a key of Hark's own: without it, it would wait for one that has been given.
        if key in RUNTIME_KEYS or (key.startswith(_OWN_PREFIX) and key != TRACE_KEEP):
            raise PermissionError(f"context key {key!r} is written by Hark; see ctx.session and ctx.cancel")
        check_text(key)
        if self._changes is None:
            self._changes = {}
        self._changes[key] = value

    def _merged(self) -> dict[str, Any]:
        """The context with the changes in it."""
        merged = {**self._context, **(self._changes or {})}
        return {key: value for key, value in merged.items() if value is not _REMOVED}
