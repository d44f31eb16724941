"""Skills elsewhere on the bus, and sessions in which they were called."""

from __future__ import annotations

from typing import Any

from flow.stage import MakeAssistant
from hark.builtin import CommonQuery, Converse, Fallback, Stop, TemplateMatcher
from hark.model import Message, Session
from hark.plugins import Plugin
from hark.spec import topics
from hark.testing import Assistant
from hark.testing.assistant import Hearing

NOON = 1_767_268_800.0
"""When the tests' clock starts."""


def with_all_stages(make: MakeAssistant) -> MakeAssistant:
    """Makes assistants with the stages that poll, in the order of the default pipeline; plugins come after converse."""

    def furnished(*plugins: Plugin, **more: Any) -> Assistant:
        return make(Stop(), Converse(), *plugins, TemplateMatcher(), CommonQuery(), Fallback(), **more)

    return furnished


class Outsider:
    """A skill in another process: it answers what it is told to answer, and takes what is dispatched to it."""

    def __init__(self, hark: Assistant, skill_id: str) -> None:
        self.id = skill_id
        self.asked: list[Message] = []
        """The polls it has heard."""
        self._hark = hark

    def answers(self, ping: str, *payloads: dict[str, Any], after: float | None = None, **context: Any) -> Outsider:
        """Reply to every `ping` with these payloads, in this order, perhaps later, perhaps in another context."""

        def asked(message: Message) -> None:
            self.asked.append(message)
            for payload in payloads:
                reply = message.reply(topics.answer_topic(ping), payload)
                if context:
                    reply = reply.carrying(**context)
                if after is None:
                    self._hark.bus.emit(reply)
                else:
                    self._hark.clock.after(after, lambda reply=reply: self._hark.bus.emit(reply))

        self._hark.bus.on(ping, asked)
        return self

    def pongs(self, ping: str, can_handle: Any = True, **how: Any) -> Outsider:
        """Claim, or whatever `can_handle` says."""
        return self.answers(ping, {"skill_id": self.id, "can_handle": can_handle}, **how)

    def takes(self, intent_name: str) -> Outsider:
        """Accept and complete what is dispatched to it."""

        def dispatched(message: Message) -> None:
            for topic, more in ((topics.HANDLER_ACCEPTED, {"host": self.id}), (topics.HANDLER_DONE, {})):
                self._hark.bus.emit(message.forward(topic, {"topic": message.type, **more}))

        self._hark.bus.on(f"{self.id}:{intent_name}", dispatched)
        return self


def called(*skill_ids: str, session_id: str = "x", **more: Any) -> Session:
    """A session in which these were called, the most recent first."""
    handlers = [{"skill_id": one, "activated_at": NOON - 1 - number} for number, one in enumerate(skill_ids)]
    return Session(session_id, active_handlers=handlers, **more)


async def heard(hark: Assistant, text: str | list[str], *, within: float = 20.0, **how: Any) -> Hearing:
    """Say something, and let time pass until its turn is over."""
    hearing = hark.say(text, **how)
    until = hark.clock.monotonic() + within
    await hark.clock.advance(0.0)
    while not hearing.over.is_set():
        due = hark.clock.due
        assert due is not None, hark.why()
        await hark.clock.advance(due)
        assert hark.clock.monotonic() < until, hark.why()
    return hearing


def dispatched(hark: Assistant) -> list[str]:
    """Whom the orchestrator called, in order."""
    return [message.type for message in hark.messages if ":" in message.type]


def last_dispatch(hark: Assistant) -> Message:
    """The last call of a handler."""
    return [message for message in hark.messages if ":" in message.type][-1]


def ids(session: Session | None, field: str = "active_handlers") -> list[str]:
    """The skills in a list of handlers."""
    return [] if session is None else [handler.skill_id for handler in session.get(field) or ()]
