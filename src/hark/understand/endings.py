"""How a turn ends: every way there is, through one function, with exactly one end marker."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from hark.model import Frozen, Message, Session
from hark.model.session_merge import size_of
from hark.spec import topics
from hark.spec.names import CANCEL_BY, CANCEL_REASON, DECLINED, SAID
from hark.trace import TraceStore
from hark.understand.dispatches import HandlerOutcome
from hark.understand.turn_source import TurnSource
from hark.understand.turn_state import TurnState

log = logging.getLogger("hark.understand")

_LARGEST_SENT: Final = 1_048_576
"""Bytes of a session that what ends a turn still carries; what plugins make of a session is not bounded otherwise."""


class Endings:
    """Makes the last Messages of turns. Nothing else makes an end marker."""

    def __init__(self, source: TurnSource, traces: TraceStore) -> None:
        self._source = source
        self._store = source.store
        self._traces = traces

    def unmatched(self, turn: TurnState) -> None:
        """No plugin claimed the utterance; the language is named when any was asked."""
        self._settle(turn)
        data = Frozen(utterances=turn.utterances)
        if turn.lang is not None:
            data = Frozen(data, lang=turn.lang)
        closing = turn.current().reply(topics.INTENT_UNMATCHED, data)
        self._end(turn, "unmatched", closing, closing.forward)

    def cancelled(self, turn: TurnState) -> None:
        """A transformer cancelled the utterance."""
        self._settle(turn)
        context = turn.message.context
        data = {CANCEL_REASON: context[CANCEL_REASON], CANCEL_BY: context[CANCEL_BY]}
        closing = turn.current().reply(topics.UTTERANCE_CANCELLED, data)
        self._end(turn, "cancelled", closing, closing.forward)

    def handled(self, turn: TurnState, dispatch: Message, done: HandlerOutcome, intent: Frozen) -> None:
        """A handler is done, or there is no hope of it."""
        self._settle(turn)
        last = dispatch.carrying(turn.session)
        if done.outcome == "complete":
            if done.declined:
                last = last.carrying(**{DECLINED: True})
            self._end(turn, "complete", last.forward(topics.HANDLER_COMPLETE, intent), last.forward)
        else:
            data = {**intent, "exception": done.exception}
            if done.said:
                last = last.carrying(**{SAID: True})
            self._end(turn, "error", last.forward(topics.HANDLER_ERROR, data), last.forward)

    def refused(self, turn: TurnState, msg_type: str) -> None:
        """The session carrier was no object: the marker alone, without a session (ruling R9)."""
        note = Message(topics.SESSION_REJECTED, {"msg_type": msg_type, "reason": "malformed_carrier"},
                       {"utterance_id": turn.utterance_id})  # fmt: skip
        self._end(turn, "refused", note, turn.message.forward)

    def broken(self, turn: TurnState) -> None:
        """The turn broke: at least the marker. No effect on a turn that has ended."""
        if not turn.ended:
            turn.session = turn.after(turn.session)
            last = turn.current() if turn.dispatch is None else turn.dispatch
            if turn.lasting:
                last = last.carrying(turn.session)
            self._end(turn, "broken", None, last.forward if turn.dispatch else last.reply)

    def without_turn(self, entry: Message, utterance_id: str) -> None:
        """Not even a turn could be opened: the marker alone."""
        self._source.end(utterance_id, None, entry.reply(topics.UTTERANCE_HANDLED))

    def sync(self, turn: TurnState) -> None:
        """Bring what the turn changed to the store of the default session, and the turn up to date with it."""
        if not turn.session.is_default or turn.is_applied:
            return
        if turn.synced.is_default and turn.lasting:
            kept = self._store.bring(turn.after(turn.synced), turn.after(turn.session))
            turn.session = turn.synced = kept.taking(turn.session, turn.lasting)
        elif turn.synced.is_default:
            turn.session = turn.synced = self._store.bring(turn.synced, turn.session)
        else:  # a transformer moved the turn here: it finds the default session as an utterance would
            turn.session = turn.synced = self._store.open(turn.session)

    def _settle(self, turn: TurnState) -> None:
        """Bring the turn's session to the store; from now on it is as it will be for the next turn."""
        self.sync(turn)
        if turn.lasting:
            turn.session = turn.after(turn.session)

    def _end(self, turn: TurnState, outcome: str, closing: Message | None, derive: Callable[[str], Message]) -> None:
        if turn.ended:
            return
        turn.ended = True
        try:
            # Before the marker is out: who sees it may ask for the trace at once.
            self._traces.ended(turn.trace, outcome)
            if turn.session.is_default:
                self._store.saved()
        finally:
            marker = _sendable(derive(topics.UTTERANCE_HANDLED))
            self._source.end(turn.utterance_id, None if closing is None else _sendable(closing), marker)


def _sendable(message: Message) -> Message:
    """The Message, with no more than the id of a session that would make it too large for the bus."""
    session = message.session
    if session is None or size_of(session) <= _LARGEST_SENT:
        return message
    log.warning("%s goes out without its session, which has more than %d bytes", message.type, _LARGEST_SENT)
    return message.carrying(Session(session.session_id))
