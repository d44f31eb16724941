"""Talking to an assistant in other processes: who listens in which session, and what is sent to whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from hark.app.client import Client
from hark.app.turn_follower import OUTCOMES, is_question
from hark.bus import Bus, Subscription
from hark.model import Clock, Message
from hark.speak import SpokenResponse
from hark.spec import DEFAULT_SESSION_ID, dispatch_topic, topics

_FOLLOWED: Final = (
    topics.UTTERANCE_HANDLE,
    topics.UTTERANCE_SPEAK,
    topics.UTTERANCE_HANDLED,
    topics.SPEECH_RENDERED,
    topics.HANDLER_WAITING,
    topics.QUESTION_WITHDRAWN,
    topics.REMARK_NONE,
    *OUTCOMES,
)

_SILENT: Final = 10.0
"""Seconds in which turns that were open when the bus was lost show a sign of life."""


class RemoteTalk(Client):
    """As `Client`. It reports its sessions to the service `speak`, which sends it what is to be heard in them."""

    def __init__(self, bus: Bus, clock: Clock, aside: Callable[[str], None]) -> None:
        self._answers: set[str] = set()
        self._subscriptions: list[Subscription] = []
        super().__init__(bus, clock, aside)

    def _subscribe(self) -> None:
        # Not everything there is: that would be sent here from another process.
        self._subscriptions += (
            self._bus.on(_FOLLOWED, self._saw, name="talk"),
            self._bus.on(topics.SPEECH_SHOWN, self._shown, name="talk: shown"),
            self._bus.on(topics.PRESENCE_ASK, self._speak_started, name="talk: speak started"),
            self._bus.on(topics.BUS_AGAIN, self._reconnected, name="talk: reconnected"),
        )

    def close(self) -> None:
        """Hear nothing more, and report so."""
        for subscription in self._subscriptions:
            subscription.close()
        gone, self._present = list(self._present), Counter()
        for session_id in gone:
            self._report(session_id)

    def _saw(self, message: Message) -> None:
        if is_question(message) and message.session is not None and message.session.response_mode is not None:
            self._follow_answer(dispatch_topic(message.session.response_mode.skill_id, "response"))
        super()._saw(message)

    def _follow_answer(self, topic: str) -> None:
        """Where an utterance is dispatched to shows whether it answers a question."""
        if topic not in self._answers:
            self._answers.add(topic)
            self._subscriptions.append(self._bus.on(topic, self._saw, name="talk: answer"))

    def _shown(self, message: Message) -> None:
        text, lang = message.data.get("utterance"), message.data.get("lang")
        if isinstance(text, str):
            self.render(SpokenResponse(text, lang if isinstance(lang, str) else None, message))

    def _enter(self, session_id: str) -> None:
        super()._enter(session_id)
        if self._present[session_id] == 1:
            self._report(session_id)

    def _leave(self, session_id: str) -> None:
        super()._leave(session_id)
        if not self.serves(session_id):
            self._report(session_id)

    def _reconnected(self, _message: Message) -> None:
        """What was on its way when the bus was lost is lost as well. A turn that is silent from now on is given up."""
        before = [turn for turn in self._turns if turn.is_open]

        def give_up() -> None:
            for turn in before:
                if turn in self._turns:
                    turn.give_up("the bus was lost in the middle of this turn")

        self._clock.after(_SILENT, give_up)

    def _speak_started(self, _message: Message) -> None:
        """A new `speak` knows no listeners yet, and will not render what the last one had."""
        for session_id in self._present:
            self._report(session_id)
        self._forget_unrendered()

    def _report(self, session_id: str) -> None:
        if session_id != DEFAULT_SESSION_ID:
            data = {"session_id": session_id, "here": self.serves(session_id)}
            self._bus.emit(Message(topics.PRESENCE, data))
