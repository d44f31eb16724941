"""Those who take part in a conversation: skills that converse, askers, and strangers on the bus."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flow.stage import MakeAssistant, Work, members_for
from hark.builtin import Converse, Stop
from hark.model import Handler, Message, ResponseMode, Session
from hark.plugins import Plugin, Turn
from hark.plugins.handlers import ConversationPlugin
from hark.spec import topics
from hark.testing import Assistant

NOON = 1_767_268_800.0
"""When test clocks start."""


def in_dialogue(make: MakeAssistant) -> MakeAssistant:
    """Makes assistants in which conversations go on: those stages come first that answers and stops go through."""

    def furnished(*plugins: Plugin, **more: Any) -> Assistant:
        return make(Stop(), Converse(), *plugins, **more)

    return furnished


def says_so(turn: Turn) -> str:
    """A handler that tells who it is and what it heard."""
    return f"{turn.skill_id} heard {turn.utterance}"


def chatty(
    skill_id: str, wants: bool | Work = True, converse: Work = says_so, *, quick: bool | None = None, **handlers: Work
) -> Plugin:
    """A skill that converses: `wants` decides (or is the decision), `converse` handles."""

    def always(utterances: Sequence[str], lang: str, session: Session) -> bool | Work:
        return wants

    decide = wants if callable(wants) else always
    members = {
        "id": skill_id,
        "quick": not inspect.iscoroutinefunction(decide) if quick is None else quick,
        "can_converse": staticmethod(decide),
        "converse": staticmethod(converse),
        **members_for(handlers),
    }
    made: Plugin = type("MadeChatty", (ConversationPlugin,), members)()
    return made


def listed(
    *skill_ids: str, session_id: str = "x", waits: str | None = None, until: float = 30.0, **more: Any
) -> Session:
    """A session in which these were called, the first of them last; `waits` is waiting for an answer."""
    handlers = tuple(Handler(skill_id, NOON - place) for place, skill_id in enumerate(skill_ids))
    if waits is not None:
        more["response_mode"] = ResponseMode(waits, NOON + until)
    return Session(session_id, converse_handlers=handlers, **more)


def stranger(hark: Assistant, answers: Mapping[str, Any], topic: str = topics.CONVERSE_PING) -> None:
    """Somebody on the bus who answers polls, for each of these ids with this data, and handles nothing."""

    def answer(ping: Message) -> None:
        for skill_id, data in answers.items():
            hark.bus.emit(ping.reply(topics.answer_topic(topic), {"skill_id": skill_id, **data}))

    hark.bus.on(topic, answer, name="a stranger")


def ids(session: Session | None) -> list[str]:
    """Who is in `converse_handlers`."""
    assert session is not None
    return [one.skill_id for one in session.converse_handlers]


def dispatched(hark: Assistant) -> list[str]:
    """The calls of handlers, in order."""
    return [message.type for message in hark.messages if ":" in message.type]


def asks(question: str = "which one?", **how: Any) -> Callable[[Turn], Any]:
    """A handler that asks, and says what it got."""

    async def handler(turn: Turn) -> str:
        return f"{turn.skill_id} got {await turn.ask(question, **how)}"

    return handler
