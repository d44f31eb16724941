"""What a handler holds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from hark.model import Clock, ContextEntry, Message, Session
from hark.model.context import private_key
from hark.model.frozen import Frozen
from hark.spec import topics
from hark.spec.topics import split_dispatch

Speak = Callable[[Message, bool], Awaitable[None]]
"""Emits a speak Message and, when told to, waits until it was rendered."""


class Turn:
    """One call of a handler: slots in; `speak` and `remember` out. What it emits belongs to the turn by itself."""

    def __init__(self, message: Message, clock: Clock, emit: Callable[[Message], None], speak: Speak) -> None:
        self.message = message
        """The dispatch."""
        self.skill_id, self.intent_name = split_dispatch(message.type)
        self._session = message.session or Session()
        self._clock = clock
        self._emit = emit
        self._speak = speak

    @property
    def slots(self) -> Mapping[str, str]:
        """What the utterance filled in; a slot that was not filled is not there."""
        slots: Mapping[str, str] = self.message.data["slots"]
        return slots

    @property
    def lang(self) -> str:
        """The language the utterance was matched in."""
        lang: str = self.message.data["lang"]
        return lang

    @property
    def utterance(self) -> str:
        """What the user said, as it was matched."""
        utterance: str = self.message.data["utterance"]
        return utterance

    @property
    def session(self) -> Session:
        """The conversation. Assign `turn.session.replace(...)` to change it; the change outlives the turn."""
        return self._session

    @session.setter
    def session(self, session: Session) -> None:
        if not isinstance(session, Session):
            raise TypeError(f"turn.session takes a Session, not {type(session).__name__}")
        if session.session_id != self._session.session_id:
            raise ValueError("a handler cannot move its turn to another session")
        self._session = session

    async def speak(self, text: str, *, lang: str | None = None, listen: bool = False, wait: bool = False) -> None:
        """Say `text`. `listen` opens the microphone afterwards; `wait` returns only when it was rendered."""
        if not isinstance(text, str):
            raise TypeError(f"speak takes text, not {type(text).__name__}")
        data: dict[str, object] = {"utterance": text, "lang": lang or self.lang}
        if listen:
            data["listen"] = True
        await self._speak(self.derive(topics.UTTERANCE_SPEAK, data), wait)

    def emit(self, topic: str, data: Mapping[str, object] | None = None) -> None:
        """Emit a Message of this turn."""
        self._emit(self.derive(topic, data or {}))

    def remember(
        self,
        key: str,
        value: str | None = None,
        *,
        turns: int | None = None,
        seconds: float | None = None,
        shared: bool = False,
    ) -> None:
        """Keep `value` (None: a mere flag) for `turns` utterances or `seconds`, for this skill unless `shared`."""
        if not key or ":" in key:
            raise ValueError(f"a context key is a word without colon, not {key!r}")
        entry = ContextEntry(value, None if seconds is None else self._clock.wall() + seconds, turns)
        entries = {**self._session.intent_context, self._stored(key, shared): entry}
        self._session = self._session.replace(intent_context=entries)

    def forget(self, key: str, *, shared: bool = False) -> None:
        """Drop what was remembered under `key`."""
        stored = self._stored(key, shared)
        entries = {name: entry for name, entry in self._session.intent_context.items() if name != stored}
        self._session = self._session.trusted(intent_context=Frozen(entries))

    def derive(self, topic: str, data: Mapping[str, object]) -> Message:
        """A Message of this turn, carrying the session as it is now."""
        derived = self.message.forward(topic, data)
        return derived if self._session is self.message.session else derived.carrying(self._session)

    def _stored(self, key: str, shared: bool) -> str:
        return key if shared else private_key(self.skill_id, key)
