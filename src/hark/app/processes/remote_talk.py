"""Talking to an assistant that is in other processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from hark.app.open_questions import is_question
from hark.app.processes.claims import holder_in
from hark.app.talk import OUTCOMES, Talk
from hark.bus import Bus, Subscription
from hark.model import Clock, Message
from hark.speak import Spoken
from hark.spec import DEFAULT_SESSION_ID, dispatch_topic, topics

_FOLLOWED: Final = (
    topics.UTTERANCE_SPEAK,
    topics.UTTERANCE_HANDLED,
    topics.SPEECH_RENDERED,
    topics.HANDLER_WAITING,
    *OUTCOMES,
)

_SHAKEN: Final = 10.0
"""Seconds in which turns that were open when the bus was lost are heard of again, or not at all."""


class RemoteTalk(Talk):
    """As `Talk`. It tells the room that speaks who is here, and is sent what there is to hear."""

    def __init__(self, bus: Bus, clock: Clock, aside: Callable[[str], None]) -> None:
        self._answers: set[str] = set()
        self._subscriptions: list[Subscription] = []
        super().__init__(bus, clock, aside)

    def _follow(self) -> None:
        # Not everything there is: that would be sent here from another process.
        self._subscriptions += (
            self._bus.on(_FOLLOWED, self._saw, name="talk"),
            self._bus.on(topics.SPEECH_SHOWN, self._shown, name="talk: shown"),
            self._bus.on(topics.ROLE_CLAIM, self._somebody_comes, name="talk: somebody comes"),
            self._bus.on(topics.BUS_AGAIN, self._shaken, name="talk: again"),
        )

    def close(self) -> None:
        """Hear nothing more, and say that nobody is here to."""
        for subscription in self._subscriptions:
            subscription.close()
        gone, self._present = list(self._present), Counter()
        for session_id in gone:
            self._tell(session_id)

    def _saw(self, message: Message) -> None:
        if is_question(message) and message.session is not None and message.session.response_mode is not None:
            self._follow_answer(dispatch_topic(message.session.response_mode.skill_id, "response"))
        super()._saw(message)

    def _follow_answer(self, topic: str) -> None:
        """Whether something is the answer to a question is seen by whom it is dispatched to."""
        if topic not in self._answers:
            self._answers.add(topic)
            self._subscriptions.append(self._bus.on(topic, self._saw, name="talk: answer"))

    def _shown(self, message: Message) -> None:
        text, lang = message.data.get("utterance"), message.data.get("lang")
        if isinstance(text, str):
            self.render(Spoken(text, lang if isinstance(lang, str) else None, message))

    def _come(self, session_id: str) -> None:
        super()._come(session_id)
        if self._present[session_id] == 1:
            self._tell(session_id)

    def _go(self, session_id: str) -> None:
        super()._go(session_id)
        if not self.serves(session_id):
            self._tell(session_id)

    def _shaken(self, _message: Message) -> None:
        """The bus was lost: what was on its way there is, too. A turn of which nothing is heard any more is over."""
        before = {mark: asked for mark, asked in self._open.items() if not asked.over}

        def give_up() -> None:
            for mark, asked in before.items():
                if self._open.get(mark) is asked:
                    asked.give_up("the bus was lost in the middle of this turn")

        self._clock.after(_SHAKEN, give_up)

    def _somebody_comes(self, message: Message) -> None:
        """Whoever is about to speak has to know who is there, before what waits to be said reaches it."""
        holder = holder_in(message)
        if holder is not None and "speak" in holder.rooms:
            for session_id in self._present:
                self._tell(session_id)

    def _tell(self, session_id: str) -> None:
        if session_id != DEFAULT_SESSION_ID:
            data = {"session_id": session_id, "here": self.serves(session_id)}
            self._bus.emit(Message(topics.PRESENCE, data))
