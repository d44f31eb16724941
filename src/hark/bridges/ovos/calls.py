"""Handlers of OVOS skills that are called, in the words of either line, and the sessions they are called with."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from hark.bus.websocket.translation import ClientLink
from hark.model import Clock, Message, ResponseMode, Session, converse
from hark.spec import RESERVED_INTENT_NAMES, split_dispatch, topics
from hark.spec.names import DENYLISTS, SKILL_ID

REMEMBERED: Final = 1_000
"""Skills, and calls of handlers, that are remembered for one client."""
_SESSIONS: Final = 250
"""Sessions that are remembered for one client: each may have 64 kB."""
_QUESTION: Final = 45.0
"""Seconds for which a question of a skill stays open; a skill asks again before that."""
_ROUTING: Final = ("pipeline", "active_skills", "utterance_states", "context", "is_speaking", "is_recording")
"""Fields of an OVOS session that say nothing here, or that only the device's own settings say."""
_OF_THE_ASSISTANT: Final = ("response_mode", "converse_handlers", "active_handlers", "intent_context")
"""Fields of a session that only the assistant changes."""
_RESERVED: Final[Mapping[str, str]] = {
    "converse": "{}.converse.request",
    "response": "{}.converse.get_response",
    "fallback": "ovos.skills.fallback.{}.request",
    "stop": "{}.stop",
}
"""By reserved intent name, how its handler is called."""
_ANSWERS: Final = (("ovos.skills.fallback.", ".response", "fallback"), ("ovos.skills.fallback.", ".killed", "fallback"),
                   ("", ".stop.response", "stop"))  # fmt: skip
"""How the topics begin and end, around the skill, by which such handlers report their end."""


def skill_in(message: Message) -> str:
    """The skill that a payload names; empty where it names none."""
    return str(message.data.get(SKILL_ID, ""))


def sender_of(message: Message) -> str:
    """The skill that has sent a Message; empty where none has."""
    return str(message.context.get(SKILL_ID, ""))


class _Call:
    """A handler of a skill that was called."""

    def __init__(self, dispatch: Message) -> None:
        self.dispatch = dispatch
        self.session = dispatch.session or Session()
        """As the handler may have changed it: what an OVOS client says of a session is not all of it."""
        self.has_spoken = False
        """Whether the skill has said something: one that fails says so itself before it reports that."""


class SkillCalls:
    """The calls of one client's skills that have not ended, and its named sessions as they were last sent to it."""

    def __init__(self, link: ClientLink, clock: Clock) -> None:
        self._link = link
        self._clock = clock
        self._calls: OrderedDict[tuple[str | None, str], _Call] = OrderedDict()
        """By `utterance_id` and skill."""
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    # Sessions.

    def sent(self, session: Session | None) -> None:
        """Take note of a session that is sent to the client."""
        if session is not None and not session.is_default:
            remember(self._sessions, session.session_id, session, _SESSIONS)

    def cleaned(self, session: Session | None) -> Session:
        """What an OVOS client says of a session, on top of what it was last told; nothing of the device's own."""
        if session is None or session.is_default:
            return Session()
        known = self._sessions.get(session.session_id, Session(session.session_id))
        left_out = {*_ROUTING, *DENYLISTS, *_OF_THE_ASSISTANT}
        fields = {name: session.get(name) for name in session if name not in left_out}
        fields = {name: value for name, value in fields.items() if not name.endswith("_transformers")}
        return known.trusted(**fields) if fields else known

    def in_session(self, message: Message) -> Message:
        """A Message of a skill with the session its handler was called with: the client's own is not all of it."""
        call = self._call_of(message, sender_of(message))
        if call is None:
            return message.carrying(self.cleaned(message.session))
        call.has_spoken = call.has_spoken or message.type == topics.UTTERANCE_SPEAK
        return message.carrying(call.session)

    # From the call to its end.

    def begin(self, dispatch: Message) -> Message:
        """The call of a handler as a skill of either line expects it."""
        skill_id, intent_name = split_dispatch(dispatch.type)
        call = _Call(dispatch)
        if intent_name == "response":
            # The skill's first handler goes on: nothing reports the end of this one.
            for done in self._end(call, None):
                self._link.emit(done)
        else:
            remember(self._calls, (dispatch.utterance_id, skill_id), call)
        data = {**dispatch.data, "utterances": [dispatch.data.get("utterance", "")]}
        if intent_name in _RESERVED:
            # Skills of both lines turn the routing of a request to converse round themselves, of no other.
            derive = dispatch.reply if intent_name == "converse" else dispatch.forward
            return derive(_RESERVED[intent_name].format(skill_id), {"skill_id": skill_id, **data})
        return dispatch.with_data({**data.get("slots", {}), **data})

    def completed(self, message: Message) -> Iterable[Message]:
        """A handler says that it has ended, or failed."""
        call = self._call_of(message, sender_of(message))
        if call is None or split_dispatch(call.dispatch.type)[1] in RESERVED_INTENT_NAMES:
            return ()  # a method that the skill called by itself
        exception = message.data.get("exception") or message.data.get("error")
        failed = message.type.endswith(".error")
        return self._end(call, str(exception or "the handler failed") if failed else None)

    def answered(self, message: Message) -> Iterable[Message] | None:
        """The same of a handler with a reserved name; None for a Message that is about none."""
        for begin, end, intent_name in _ANSWERS:
            if message.type.startswith(begin) and message.type.endswith(end):
                return self._done(message, message.type.removeprefix(begin).removesuffix(end), intent_name)
        return None

    def conversed(self, message: Message) -> Iterable[Message]:
        """The same of `converse`, whose topic does not name the skill."""
        return self._done(message, skill_in(message), "converse")

    def _done(self, message: Message, skill_id: str, intent_name: str) -> Iterable[Message]:
        call = self._call_of(message, skill_id)
        if call is None or split_dispatch(call.dispatch.type)[1] != intent_name:
            return ()
        error = message.data.get("error")
        # It was asked before whether it can answer; most of them say so of everything.
        declines = intent_name == "fallback" and not message.data.get("result") and not call.has_spoken
        return self._end(call, str(error) if isinstance(error, str) and error else None, declines=declines)

    def _end(self, call: _Call, exception: str | None, *, declines: bool = False) -> Iterable[Message]:
        dispatch = call.dispatch
        self._calls.pop((dispatch.utterance_id, split_dispatch(dispatch.type)[0]), None)
        data: dict[str, Any] = {"topic": dispatch.type, "outcome": "complete" if exception is None else "error"}
        if exception is not None:
            data |= {"exception": exception, "said": call.has_spoken}
        elif declines:
            data["declined"] = True
        return (dispatch.carrying(call.session).forward(topics.HANDLER_DONE, data),)

    def _call_of(self, message: Message, skill_id: str) -> _Call | None:
        return self._calls.get((message.utterance_id, skill_id))

    # What a handler changes in its session.

    def question_opens(self, message: Message) -> Iterable[Message]:
        call = self._call_of(message, skill_in(message))
        if call is not None:
            mode = ResponseMode(skill_in(message), self._clock.wall() + _QUESTION)
            call.session = call.session.trusted(response_mode=mode)
        return ()

    def question_closes(self, message: Message) -> Iterable[Message]:
        call = self._call_of(message, skill_in(message))
        if call is not None:
            call.session = call.session.without("response_mode")
        return ()

    def activates(self, message: Message) -> Iterable[Message]:
        skill_id = skill_in(message)
        call = self._call_of(message, sender_of(message) or skill_id)
        if call is not None:
            handlers = converse.with_activated(call.session, skill_id, self._clock.wall())
            call.session = call.session.trusted(converse_handlers=handlers)
            self._link.send(message.forward("intent.service.skills.activated", {"skill_id": skill_id}))
        return ()

    def deactivates(self, message: Message) -> Iterable[Message]:
        skill_id = skill_in(message)
        call = self._call_of(message, sender_of(message) or skill_id)
        if call is not None:
            kept = tuple(one for one in call.session.converse_handlers if one.skill_id != skill_id)
            call.session = call.session.trusted(converse_handlers=kept)
            self._link.send(message.forward("intent.service.skills.deactivated", {"skill_id": skill_id}))
        return ()


def remember(where: OrderedDict[Any, Any], key: object, value: object, most: int = REMEMBERED) -> None:
    """Keep something, and drop what was kept longest when there is too much."""
    where[key] = value
    where.move_to_end(key)
    if len(where) > most:
        where.popitem(last=False)
