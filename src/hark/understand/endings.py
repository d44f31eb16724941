"""How a turn ends: every way there is, through one function, with exactly one end marker."""

from __future__ import annotations

from collections.abc import Callable

from hark.model import Frozen, Message
from hark.spec import topics
from hark.spec.names import CANCEL_BY, CANCEL_REASON
from hark.trace import TraceStore
from hark.understand.dispatches import Done
from hark.understand.lifecycle import Lifecycle
from hark.understand.turn_source import TurnSource


class Endings:
    """Makes the last Messages of turns. Nothing else makes an end marker."""

    def __init__(self, source: TurnSource, traces: TraceStore) -> None:
        self._source = source
        self._store = source.store
        self._traces = traces

    def unmatched(self, life: Lifecycle) -> None:
        """Nobody claimed the utterance; the language is named when anybody was asked."""
        self.sync(life)
        data = Frozen(utterances=life.utterances)
        if life.lang is not None:
            data = Frozen(data, lang=life.lang)
        closing = life.current().reply(topics.INTENT_UNMATCHED, data)
        self._end(life, "unmatched", closing, closing.forward)

    def cancelled(self, life: Lifecycle) -> None:
        """A transformer cancelled the utterance."""
        self.sync(life)
        context = life.message.context
        data = {CANCEL_REASON: context[CANCEL_REASON], CANCEL_BY: context[CANCEL_BY]}
        closing = life.current().reply(topics.UTTERANCE_CANCELLED, data)
        self._end(life, "cancelled", closing, closing.forward)

    def handled(self, life: Lifecycle, dispatch: Message, done: Done, intent: Frozen) -> None:
        """A handler is done, or there is no hope of it."""
        self.sync(life)
        last = dispatch.carrying(life.session)
        if done.outcome == "complete":
            self._end(life, "complete", last.forward(topics.HANDLER_COMPLETE, intent), last.forward)
        else:
            data = {**intent, "exception": done.exception}
            self._end(life, "error", last.forward(topics.HANDLER_ERROR, data), last.forward)

    def refused(self, life: Lifecycle, msg_type: str) -> None:
        """The session carrier was no object: the marker alone, without a session (ruling R9)."""
        note = Message(topics.SESSION_REJECTED, {"msg_type": msg_type, "reason": "malformed_carrier"},
                       {"utterance_id": life.utterance_id})  # fmt: skip
        self._end(life, "refused", note, life.message.forward)

    def broken(self, life: Lifecycle) -> None:
        """Something nobody foresaw: at least the marker. No effect on a turn that has ended."""
        if not life.ended:
            last = life.current() if life.dispatch is None else life.dispatch
            self._end(life, "broken", None, last.forward if life.dispatch else last.reply)

    def unborn(self, entry: Message, utterance_id: str) -> None:
        """Not even a lifecycle could be opened: the marker alone."""
        self._source.end(utterance_id, None, entry.reply(topics.UTTERANCE_HANDLED))

    def sync(self, life: Lifecycle) -> None:
        """Bring what the turn changed to the store of the default session, and the turn up to date with it."""
        if not life.session.is_default or life.is_applied:
            return
        if life.synced.is_default:
            life.session = life.synced = self._store.bring(life.synced, life.session)
        else:  # a transformer moved the turn here: it finds the default session as an utterance would
            life.session = life.synced = self._store.open(life.session)

    def _end(self, life: Lifecycle, outcome: str, closing: Message | None, derive: Callable[[str], Message]) -> None:
        if life.ended:
            return
        life.ended = True
        try:
            # Noted before the marker is out: whoever sees it may ask at once.
            self._traces.ended(life.trace, outcome)
            if life.session.is_default:
                self._store.saved()
        finally:
            self._source.end(life.utterance_id, closing, derive(topics.UTTERANCE_HANDLED))
