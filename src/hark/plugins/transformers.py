"""The six kinds of transformer, and the context each may change beside its artifact."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Iterator, Mapping
from typing import Any, ClassVar

from hark.model import Audio, Frozen, MalformedMessage, Match, Session
from hark.model.frozen import EMPTY, check_text, freeze, freeze_object
from hark.model.lang import is_tag
from hark.plugins.plugin import Plugin
from hark.spec.names import RUNTIME_KEYS, TransformerType
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


class Ctx:
    """The Message's context during one `transform`.

    Changes take effect when `transform` returns; if it raises, they are dropped. The keys that list the transformers a
    Message passed, and those of a cancellation, are written by Hark: a transformer can neither forget nor forge them.
    """

    # `hark.chains` reads these when it accepts the result of the transformer.
    __slots__ = ("_cancel_reason", "_changes", "_context", "_emitted", "_has_lang", "_lang", "_session")

    def __init__(self, context: Frozen, session: Session, lang: str | None, has_lang: bool) -> None:
        self._context = context
        self._session = session
        self._lang = lang
        self._has_lang = has_lang
        self._changes: dict[str, Any] | None = None
        self._emitted: list[tuple[str, Frozen]] | None = None
        self._cancel_reason: str | None = None

    @property
    def lang(self) -> str | None:
        """The language of the artifact, or None when it is not stated. Assignable; None withdraws it."""
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
        """The session as it is now; assign `ctx.session.replace(...)` to change it."""
        return self._session

    @session.setter
    def session(self, session: Session) -> None:
        if not isinstance(session, Session):
            raise TypeError(f"ctx.session takes a Session, not {type(session).__name__}")
        self._session = session

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a context key."""
        if self._changes is not None and key in self._changes:
            value = self._changes[key]
            return default if value is _REMOVED else value
        return self._context.get(key, default)

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
        """Emit a Message, stamped with this transformer's id, once its output is accepted."""
        if not is_topic(topic) or is_dispatch_topic(topic):
            raise MalformedMessage(f"{topic!r:.100} is not a topic a transformer may emit")
        if self._emitted is None:
            self._emitted = []
        self._emitted.append((topic, freeze_object(data)))

    def cancel(self, reason: str = "other") -> None:
        """Cancel this utterance; in dialog and tts chains, this response. See `hark.spec.CANCEL_REASONS`."""
        if not isinstance(reason, str) or not reason:
            raise ValueError("a cancellation needs a reason")
        self._cancel_reason = check_text(reason)

    def _write(self, key: str, value: Any) -> None:
        if not isinstance(key, str) or not key:
            raise TypeError(f"a context key is non-empty text, not {key!r}")
        if key in RUNTIME_KEYS:
            raise PermissionError(f"context key {key!r} is written by Hark; see ctx.session and ctx.cancel")
        check_text(key)
        if self._changes is None:
            self._changes = {}
        self._changes[key] = value

    def _merged(self) -> dict[str, Any]:
        """The context with the changes in it."""
        merged = {**self._context, **(self._changes or {})}
        return {key: value for key, value in merged.items() if value is not _REMOVED}
