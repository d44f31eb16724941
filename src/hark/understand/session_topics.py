"""Messages that ask for a session, or what would match in it, or change it: the active list, previews, the context
topics, and what handlers show."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from hark.bus import Bus, Subscription
from hark.model import Clock, Match, Message, ResponseMode, Session, context_topics, converse
from hark.model.lang import resolve
from hark.model.session_merge import SessionChanges, SessionDifference
from hark.spec import split_dispatch, topics
from hark.spec.names import SKILL_ID
from hark.understand.turn_state import DefaultSession, TurnOptions, TurnState


class ActiveListQuery:
    """Answers `ovos.converse.active.list`: of the default session from the store, of others from the question."""

    def __init__(self, bus: Bus, clock: Clock, store: DefaultSession, options: Callable[[], TurnOptions]) -> None:
        self._bus = bus
        self._clock = clock
        self._store = store
        self._options = options
        self._subscription = bus.on(topics.CONVERSE_ACTIVE_LIST, self._asked, name="converse handlers")

    def close(self) -> None:
        """Listen no longer."""
        self._subscription.close()

    def _asked(self, message: Message) -> None:
        if not self._store.owned:  # of several workers, the one that holds the default session answers
            return
        session = message.session or Session()
        if session.is_default:
            session = self._store.current
        kept = converse.pruned(session, self._clock.wall(), self._options().converse_ttl).converse_handlers
        listed = [{"skill_id": one.skill_id, "activated_at": one.activated_at} for one in kept]
        self._bus.emit(message.response({"converse_handlers": listed}))


class PreviewQuery:
    """Answers which intent a text would match now: skills of OVOS ask that by `intent.service.intent.get`."""

    def __init__(
        self,
        bus: Bus,
        would_match: Callable[[Message, str, str, Session], Match | None],
        store: DefaultSession,
        options: Callable[[], TurnOptions],
    ) -> None:
        self._bus = bus
        self._would_match = would_match
        self._store = store
        self._options = options
        self._subscription = bus.on(topics.INTENT_PREVIEW, self._asked, name="understand: preview")

    def close(self) -> None:
        """Listen no longer."""
        self._subscription.close()

    def _asked(self, message: Message) -> None:
        if not self._store.owned:  # of several workers, the one that holds the default session answers
            return
        session, options, text = message.session or Session(), self._options(), message.data.get("utterance")
        if session.is_default:
            session = self._store.current
        found: Match | None = None
        if isinstance(text, str) and 0 < len(text) <= options.max_utterance:
            lang = resolve(message.data.get("lang"), session, options.langs, options.lang)
            found = self._would_match(message, text, lang, session)
        answer: dict[str, Any] = {"query": message.data.get("query")}
        if found is not None:
            answer |= {"topic": found.topic, "skill_id": found.skill_id, "slots": dict(found.slots)}
        self._bus.emit(message.reply(topics.INTENT_PREVIEW_RESPONSE, answer))


log = logging.getLogger("hark.understand")


class ContextTopics:
    """Applies `ovos.context.set`, `.unset` and `.clear` to the turn they come from, or to the default session."""

    def __init__(
        self,
        bus: Bus,
        clock: Clock,
        turns: Mapping[str, TurnState],
        store: DefaultSession,
        options: Callable[[], TurnOptions],
    ) -> None:
        self._clock = clock
        self._turns = turns
        self._store = store
        self._options = options
        self._subscriptions = [
            bus.on(topic, self._change, name=f"understand on {topic}") for topic in context_topics.TOPICS
        ]

    def close(self) -> None:
        """Listen no longer."""
        for subscription in self._subscriptions:
            subscription.close()

    def _change(self, message: Message) -> None:
        if not self._options().context_topics:
            return
        turn = self._turns.get(message.utterance_id or "")
        if turn is None and not self._store.owned:  # of several workers, another sees to it
            return
        session = turn.session if turn is not None else self._store.current
        if message.session_id != session.session_id:
            log.info("%s is of session %s, which is not here: its client has to remember",
                     message.type, message.session_id)  # fmt: skip
            return
        changed = context_topics.applied(session, message, self._clock.wall())
        if changed is None:
            return
        if turn is not None:
            turn.session = changed
        if session.is_default:
            now = self._store.bring(session, changed)
            if turn is not None:
                turn.session = turn.synced = now


class SpeechSessionChanges:
    """Applies what dialog and tts transformers changed in the device's session, as differences (ruling R22)."""

    def __init__(self, bus: Bus, store: DefaultSession) -> None:
        self._store = store
        self._subscription = bus.on(topics.SESSION_CHANGED, self._change, name="understand: session changed")

    def close(self) -> None:
        """Listen no longer."""
        self._subscription.close()

    def _change(self, message: Message) -> None:
        changed, removed = message.session, message.data.get("removed", ())
        if changed is None or not changed.is_default or not self._store.owned or not isinstance(removed, tuple):
            return
        before = self._store.current
        names = tuple(name for name in removed if isinstance(name, str))
        self._store.bring(before, SessionDifference(changed, names).applied_to(before))
        self._store.saved()


class WithdrawnQuestions:
    """Questions that were never asked, because their speech was cancelled (ruling R23).

    A client may have the session in which such a question is open: what it says next is no answer.
    """

    def __init__(self, bus: Bus, clock: Clock) -> None:
        self._clock = clock
        self._modes: dict[tuple[str, ResponseMode], None] = {}
        self._subscription = bus.on(topics.HANDLER_WAITING, self._heard, name="understand: questions")

    def close(self) -> None:
        """Listen no longer."""
        self._subscription.close()

    def removed_from(self, session: Session) -> Session:
        """`session`, without a question that was withdrawn."""
        mode = session.response_mode if self._modes else None
        is_withdrawn = mode is not None and (session.session_id, mode) in self._modes
        return session.without("response_mode") if is_withdrawn else session

    def _heard(self, message: Message) -> None:
        withdrawn = message.data.get("withdrawn")
        if not isinstance(withdrawn, Mapping):
            return
        now = self._clock.wall()
        self._modes = {known: None for known in self._modes if known[1].expires_at > now}
        mode = Session.read({"response_mode": withdrawn}).response_mode
        if mode is not None:
            self._modes[message.session_id, mode] = None


_OTHERS: Final = 1_000
"""Turns of other workers that are followed at once."""


class HandlerSessions:
    """Listens to what handlers say in open turns.

    A question stays open only in the session, and its answer comes while the handler waits, so the answer's turn has
    to find what the handler put on the wire (CONVERSE-1 §5.1, CONTEXT-1 trap T6). Clients adopt it from the same
    Message; here it goes to the store of the default session, and into the end of the handler's own turn.

    Turns of a named session that are open at once have no store in which they meet: each takes over what another's
    handler changes, or its end would take that back, a question above all. With `is_shared`, this goes for turns of
    other workers too.
    """

    def __init__(
        self,
        bus: Bus,
        turns: Mapping[str, TurnState],
        sync: Callable[[TurnState], None],
        store: DefaultSession,
        *,
        is_shared: bool,
    ) -> None:
        self._turns = turns
        self._sync = sync
        self._store = store
        self._others: dict[str, tuple[Session, str]] = {}
        """Turns of named sessions at other workers: the session their handlers last showed, and the skill."""
        self._subscriptions: list[Subscription] = [
            bus.on((topics.UTTERANCE_SPEAK, topics.HANDLER_WAITING), self._said, name="overheard")
        ]
        if is_shared:
            self._subscriptions += [
                bus.on(topics.HANDLER_START, self._started, name="overheard: start"),
                bus.on(topics.HANDLER_DONE, self._showed, name="overheard: done"),
                bus.on(topics.UTTERANCE_HANDLED, self._ended, name="overheard: handled"),
            ]

    def close(self) -> None:
        """Listen no longer."""
        for subscription in self._subscriptions:
            subscription.close()

    def take(self, turn: TurnState, dispatch: Message, session: Session) -> None:
        """Take over what the handler of a dispatch made of its session."""
        self._sync(turn)  # other turns may have moved the default session on meanwhile
        writes = turn.wrote(session, split_dispatch(dispatch.type)[0])
        if writes is None:
            return
        self._sync(turn)
        if not turn.session.is_default:
            self._tell_others(writes, turn.session.session_id, turn)
        elif "response_mode" in writes.fields:
            self._store.saved()  # a question may stay open for long

    def _tell_others(self, writes: SessionChanges, session_id: str, turn: TurnState | None = None) -> None:
        for other in self._turns.values():
            if other.session.session_id == session_id and other.dispatch is not None and other is not turn:
                other.session = writes.applied_to(other.session)

    def _said(self, message: Message) -> None:
        turn = self._turns.get(message.utterance_id or "")
        if turn is None:
            self._showed(message)
            return
        if turn.dispatch is None or turn.ended:
            return
        if message.context.get(SKILL_ID) != split_dispatch(turn.dispatch.type)[0]:
            return  # it is in the turn, but not of its handler
        session = message.session
        if session is None or session is turn.base or session.session_id != turn.session.session_id:
            return
        self.take(turn, turn.dispatch, session)

    # Turns of other workers.

    def _started(self, message: Message) -> None:
        utterance_id, session = message.utterance_id or "", message.session
        if utterance_id in self._turns or session is None or session.is_default:
            return
        self._others[utterance_id] = session, str(message.data.get("skill_id"))
        if len(self._others) > _OTHERS:
            del self._others[next(iter(self._others))]
        if message.data.get("intent_name") == "response":
            for turn in self._turns.values():
                if turn.session.session_id == session.session_id:
                    turn.answered()

    def _showed(self, message: Message) -> None:
        known, session = self._others.get(message.utterance_id or ""), message.session
        if known is None or session is None or session.session_id != known[0].session_id:
            return
        base, skill_id = known
        self._others[message.utterance_id or ""] = session, skill_id
        writes = SessionChanges.between(base, session, skill_id)
        if writes is not None:
            self._tell_others(writes, session.session_id)

    def _ended(self, message: Message) -> None:
        self._others.pop(message.utterance_id or "", None)
