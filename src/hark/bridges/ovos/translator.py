"""One OVOS client's connection, translated: older names, whole sessions, and the calls of skills (R16, R18)."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from hark.bridges.ovos import names
from hark.bridges.ovos.calls import REMEMBERED, SkillCalls, remember, sender_of, skill_in
from hark.bridges.ovos.registration import (
    OVERHEAD,
    PIECES,
    SPEC_FORMS,
    LegacyRegistrations,
    MemoryBudget,
)
from hark.bridges.ovos.schedule import FIRED, PREFIXES, LegacySchedule
from hark.bus.websocket.translation import ClientLink
from hark.model import Message, Session, Timer, encode
from hark.spec import DEFAULT_SESSION_ID, split_dispatch, topics
from hark.spec.names import SKILL_ID

if TYPE_CHECKING:
    from hark.bridges.ovos.bridge import OvosBridge

log = logging.getLogger("hark.bridges.ovos")

_RECONNECTED: Final = 2.0
"""Seconds after which a client that has asked for nothing is one that was connected before: a launcher asks at once
whether it may load its skill, but only once, and loads it again only when it hears that all is ready."""
_SMALL: Final = 2_000
"""Bytes of a registration that is kept besides being passed on."""
_GATHER: Final = 0.1
"""Seconds in which the pieces of a registration come together."""
TWINS: Final = 0.6
"""The same for a client that may send the specification's form as well."""
_SILENT: Final = 0.45
"""Seconds after which a skill that does not answer whether it converses is taken not to: just before the poll ends,
once for each skill. Skills that converse always answer; an answer that comes later counts from the next time on."""
_SILENT_WHEN_LOADED: Final = 3.0
"""The same for the question that a skill is asked when it is loaded: no turn waits for that answer."""

_DROPPED: Final = frozenset(
    {
        "ovos.session.update_default",
        "mycroft.skill.handler.start",
        "mycroft.skills.settings.changed",
        topics.UTTERANCE_HANDLED,
    }
)
"""What only an orchestrator says; skills of the older line say some of it for themselves."""
_ORCHESTRATION: Final = frozenset(
    {
        "mycroft.skills.initialized",
        "mycroft.skills.train",
        "intent.service.pipelines.reload",
        "complete_intent_failure",
        topics.INTENT_MATCHED,
        topics.INTENT_UNMATCHED,
        "ovos.skills.fallback.ping",
        topics.FALLBACK_PING,
        topics.CONVERSE_PING,
    }
)
"""What only ovos-core emits: it understands utterances itself, and there is one assistant for each bus."""
_SYNC: Final = "ovos.session.sync"
"""What a client of the older line sends each time that it is connected."""
OF_OVOS: Final = ("mycroft.", "padatious:", "register_", _SYNC, "intent.service.", "skill.converse.")
"""How topics begin that only programs of OVOS use."""
READY: Final = "mycroft.ready"
"""What a launcher waits for to load its skill. It loads it again each time that it hears this."""
_STATES: Final = (".is_ready", ".is_alive", ".is_loaded", ".all_loaded")
_CALLED_BACK: Final = ("mycroft.skill.handler.complete", "mycroft.skill.handler.error")
_OF_HANDLERS: Final = frozenset({"mycroft.skill.handler.start", *_CALLED_BACK})
_CONTEXT: Final[Mapping[str, tuple[str, str]]] = {
    "add_context": (topics.CONTEXT_SET, "private"),
    "remove_context": (topics.CONTEXT_UNSET, "private"),
    "clear_context": (topics.CONTEXT_CLEAR, "private"),
    "mycroft.skill.set_cross_context": (topics.CONTEXT_SET, "shared"),
    "mycroft.skill.remove_cross_context": (topics.CONTEXT_UNSET, "shared"),
}
SWITCHES: Final = {
    "mycroft.skill.enable_intent": topics.INTENT_ENABLE,
    "mycroft.skill.disable_intent": topics.INTENT_DISABLE,
    "detach_intent": topics.INTENT_DEREGISTER,
}


class OvosTranslator:
    """Translates for one connection; see `ClientTranslator`.

    The generation of a client shows: one of the older line asks for the session when it connects, and uses only older
    names; it gets copies under older names besides each Message. One of the newer line translates by itself.
    """

    def __init__(self, link: ClientLink, bridge: OvosBridge) -> None:
        self.link = link
        self.bridge = bridge
        self.is_older = False
        """Whether the client was seen to be one of the older line."""
        self.is_orchestrator = False
        """Whether the client was seen to be another orchestrator."""
        self.is_of_ovos = False
        """Whether the client was seen to be a program of OVOS: their skills say when a handler has ended."""
        self._has_said_ready = False
        self._unmarked: dict[str, Message] = {}
        """A registration of each skill from before that was seen, unless it is large."""
        self.skills: set[str] = set()
        """The skills that were registered on this connection."""
        self._budget = MemoryBudget(shared=bridge.budget)
        self._registrations = LegacyRegistrations(self._budget)
        self._schedule = LegacySchedule(link, bridge.clock)
        self._capabilities: dict[str, set[str]] = {}
        """What the skills of the older line have shown that they can do; they do not list it."""
        self._reported: set[str] = set()
        """Those of them that were reported as loaded."""
        self._gathering: Timer | None = None
        self._reconnected = bridge.clock.after(_RECONNECTED, self._has_reconnected)
        self._calls = SkillCalls(link, bridge.clock)
        self._converse: dict[str, bool] = {}
        """Whether a skill answers when it is asked whether it converses."""
        self._asked: dict[tuple[str | None, str], Message] = {}
        """Skills that were asked that, and have not answered."""
        self._queried: OrderedDict[tuple[str | None, int], None] = OrderedDict()
        """Common queries the client was asked, by turn and hash: all of its skills answer one, whichever it is for."""
        self._up: dict[str, Callable[[Message], Iterable[Message]]] = {
            _SYNC: self._wants_session,
            READY: self.says_ready,
            "recognizer_loop:utterance": self._utterance,
            topics.UTTERANCE_SPEAK: self._spoken,
            topics.UTTERANCE_HANDLE: self._utterance,
            "skill.converse.get_response.enable": self._calls.question_opens,
            "skill.converse.get_response.disable": self._calls.question_closes,
            "skill.converse.response": self._calls.conversed,
            "skill.converse.pong": self._converse_pong,
            "question:query.response": self._query_response,
            topics.COMMON_QUERY_PONG: self._query_pong,
            "ovos.skills.fallback.register": self._fallback,
            "mycroft.skills.loaded": self._loaded,
            topics.SKILL_LOADED: self._listed,
            "skillmanager.list": self._wants_skills,
            "intent.service.intent.get": self._wants_intent,
            "intent.service.skills.activate": self._calls.activates,
            "intent.service.skills.deactivate": self._calls.deactivates,
            **dict.fromkeys(_CALLED_BACK, self._calls.completed),
            **dict.fromkeys(_CONTEXT, self._context),
            **dict.fromkeys(SWITCHES, self._switch),
            **dict.fromkeys(PIECES, self._piece),
            **dict.fromkeys(SPEC_FORMS, self._registered),
        }

    orchestrator_warning = (
        "%s is another orchestrator (it sent %s), probably ovos-core: it gets no utterances, so that each is answered "
        "once. Stop it, and start its skills with ovos-skill-launcher (docs/from-ovos.md)"
    )
    answers_for: str | tuple[str, ...] = "mycroft."
    """How the questions begin that are answered for the services of OVOS that Hark stands for."""

    @property
    def gathering_time(self) -> float:
        """Seconds for which the pieces of a registration are gathered."""
        return _GATHER if self.is_older else TWINS

    def is_of_older_line(self, skill_id: str) -> bool:  # noqa: ARG002 - where several clients share a connection
        """Whether the program of a skill is one of the older line."""
        return self.is_older

    # From the client to the bus.

    def from_client(self, message: Message) -> Iterable[Message]:
        """See `ClientTranslator`."""
        if message.type != _SYNC:
            self._reconnected.cancel()
        if any(mark in message.context for mark in names.TWIN_MARKS):
            self.is_older = False
            self.shows_ovos()
            return ()  # the Message itself came before it
        if message.type in names.NEW_NAMES:
            self.is_older = False
        if message.type in _OF_HANDLERS and not self.is_skill_of_ovos(sender_of(message)):
            return (message,)  # programs that follow docs/outside.md say so as well, and nothing is translated for them
        if message.type.startswith(OF_OVOS):
            self.shows_ovos()
        return self.translated(message)

    def shows_ovos(self) -> None:
        """Take note that the client is a program of OVOS."""
        if not self.is_of_ovos:
            self.is_of_ovos = True
            for skill_id in list(self._unmarked):
                self.mark(skill_id)

    def mark(self, skill_id: str) -> None:
        """Say of a skill that registered before that it reports when its handlers have ended."""
        registration = self._unmarked.pop(skill_id, None)
        if registration is not None:
            self.link.emit(self._marked(registration))

    def is_skill_of_ovos(self, skill_id: str) -> bool:  # noqa: ARG002 - where several clients share a connection
        """Whether the program of a skill was seen to be one of OVOS."""
        return self.is_of_ovos

    def translated(self, message: Message) -> Iterable[Message]:
        """What goes to the bus in the place of a Message that is no copy of another."""
        if message.type in _DROPPED:
            return ()
        if message.type in _ORCHESTRATION:
            return self._orchestrates(message)
        translate = self._up.get(message.type)
        if translate is not None:
            return translate(message)
        if message.type in names.RENAMED:
            return (self._renamed(message),)
        return self._by_pattern(message)

    def _orchestrates(self, message: Message) -> Iterable[Message]:
        """A client that understands utterances itself. It gets none any more; the skills it has loaded are served."""
        if not self.is_orchestrator:
            self.is_orchestrator = True
            log.warning(self.orchestrator_warning, self.link, message.type)
        return ()

    def _by_pattern(self, message: Message) -> Iterable[Message]:
        """What has the name of a skill or of a service in its topic."""
        topic, skill_id = message.type, sender_of(message)
        if topic.startswith(self.answers_for) and topic.endswith(_STATES):
            self.link.send(message.reply(f"{topic}.response", {"status": True}))
            return ()
        ended = self._calls.answered(message)
        if ended is not None:
            return ended
        if topic.startswith(PREFIXES):
            return self._schedule.request(message, newer=not self.is_of_older_line(skill_id))
        if skill_id in self.skills:
            return (self._in_turn(message),)
        return (message,)

    def _renamed(self, message: Message) -> Message:
        topic = names.RENAMED[message.type]
        return self._in_turn(
            Message(topic, names.payload_up(message.type, message.data), message.context, message.session)
        )

    def _spoken(self, message: Message) -> Iterable[Message]:
        return (self._in_turn(message.with_data(names.payload_up(message.type, message.data))),)

    def _in_turn(self, message: Message) -> Message:
        """A Message of a skill with the session its handler was called with."""
        return self._calls.in_session(message) if self.is_skill_of_ovos(sender_of(message)) else message

    def _utterance(self, message: Message) -> Iterable[Message]:
        entry = Message(topics.UTTERANCE_HANDLE, message.data, message.context, self._calls.cleaned(message.session))
        return (entry,)

    def _wants_session(self, message: Message) -> Iterable[Message]:
        self.is_older = True
        self.link.send(message.reply("ovos.session.update_default", {"session_data": self.bridge.default_session()}))
        return ()

    def says_ready(self, message: Message) -> Iterable[Message]:
        """A skill says it that announces it as well: once, because its launcher loads it again when it hears that."""
        if self._has_said_ready:
            return ()
        self._has_said_ready = True
        self.link.send(message)
        return (message,)

    def _has_reconnected(self) -> None:
        """Have a client that was connected to another run of Hark load its skills again."""
        if not self._has_said_ready:
            self._has_said_ready = True
            self.link.send(Message(READY, session=Session()))

    def _wants_skills(self, message: Message) -> Iterable[Message]:
        listed = {skill_id: {"id": skill_id, "active": True} for skill_id in sorted(self.bridge.skills)}
        self.link.send(message.reply("mycroft.skills.list", listed))
        return ()

    def _wants_intent(self, message: Message) -> Iterable[Message]:
        self.bridge.preview(message, self._calls.cleaned(message.session), self.link)
        return ()

    # Registration.

    def _piece(self, message: Message) -> Iterable[Message]:
        skill_id = self._registrations.add(message)
        if skill_id is not None:
            self._own(skill_id)
            if self._gathering is None:
                self._gathering = self.bridge.clock.after(self.gathering_time, self._gathered)
        return ()

    def _gathered(self) -> None:
        self._gathering = None
        for registration in self._registrations.pending():
            self.link.emit(self._marked(registration))

    def _registered(self, message: Message) -> Iterable[Message]:
        self._registrations.seen(message)
        skill_id = skill_in(message)
        is_owned = self._own(skill_id)
        message = message.carrying(Session())
        if self.is_skill_of_ovos(skill_id):
            return (self._marked(message),)
        # A program that follows the specifications need not say so.
        if is_owned and message.data.get("completes") is not True and len(encode(message)) <= _SMALL:
            self._unmarked[skill_id] = message
        return (message,)

    def _marked(self, registration: Message) -> Message:
        """Say that the skill reports when its handlers have ended (R18)."""
        return registration.with_data({**registration.data, "completes": True})

    def _loaded(self, message: Message) -> Iterable[Message]:
        skill_id = str(message.data.get("id", ""))
        if not skill_id or not self.is_of_older_line(skill_id):
            return (message,)
        if not self._own(skill_id):
            return ()
        self._gathered()
        self._reported.add(skill_id)
        if skill_id not in self._converse:
            # Only a skill that converses answers, and in no hurry here: in a turn a busy machine may be too late.
            ping = {"skill_id": skill_id, "utterances": [], "lang": self.bridge.default_session()["lang"]}
            self.ping(skill_id, "converse", ping)
            self.bridge.clock.after(_SILENT_WHEN_LOADED, partial(self._converse.setdefault, skill_id, False))
        return (message, self._report(skill_id))

    def ping(self, skill_id: str, kind: str, data: Mapping[str, Any]) -> None:
        """Ask a skill outside a turn what it can do."""
        self.link.send(Message(f"{skill_id}.{kind}.ping", data, {SKILL_ID: skill_id}, Session()))

    def _listed(self, message: Message) -> Iterable[Message]:
        self._own(skill_in(message))
        if message.data.get("capabilities") == ():
            # It says that it can do none of these; here nothing would be known then.
            message = message.with_data({**message.data, "capabilities": ["converse"]})
        return (message.carrying(Session()),)

    def _report(self, skill_id: str) -> Message:
        # Every skill may converse; a list that is empty would say that nothing is known.
        known = sorted({"converse"} | self._capabilities.get(skill_id, set()))
        return Message(
            topics.SKILL_LOADED, {"skill_id": skill_id, "capabilities": known}, {SKILL_ID: skill_id}, Session()
        )

    def _can(self, skill_id: str, capability: str) -> Iterable[Message]:
        """Take note of what a skill can do; a new report, if it was reported without."""
        if skill_id not in self.skills or not self.is_of_older_line(skill_id):
            return
        known = self._capabilities.setdefault(skill_id, set())
        if capability not in known:
            known.add(capability)
            if skill_id in self._reported:
                yield self._report(skill_id)

    def _fallback(self, message: Message) -> Iterable[Message]:
        self._own(skill_in(message))
        return (self._renamed(message), *self._can(skill_in(message), "fallback"))

    def _own(self, skill_id: str) -> bool:
        """Take note of a skill of this client; false where it cannot be kept, because the client has too many."""
        if skill_id in self.skills:
            return True
        if not skill_id or len(self.skills) >= REMEMBERED or not self._budget.take(OVERHEAD + _SMALL + len(skill_id)):
            return False
        self.skills.add(skill_id)
        return True

    def _switch(self, message: Message) -> Iterable[Message]:
        named, sender = str(message.data.get("intent_name", "")), sender_of(message)
        skill_id, name = names.split_name(named)
        skill_id = skill_id or sender
        if not skill_id:
            log.warning("%s was dropped: it names no skill: %.200r", message.type, dict(message.data))
            return ()
        if message.type == "detach_intent":
            self._registrations.detach(skill_id, name)
        data = {"skill_id": skill_id, "intent_name": name}
        return (Message(SWITCHES[message.type], data, {SKILL_ID: skill_id}, Session()),)

    def _context(self, message: Message) -> Iterable[Message]:
        topic, scope = _CONTEXT[message.type]
        skill_id = sender_of(message)
        data: dict[str, Any] = {}
        if topic != topics.CONTEXT_CLEAR:
            named = message.data.get("key") or message.data.get("context")
            data = {"key": names.own_name(skill_id, str(named)), "scope": scope}
        if topic == topics.CONTEXT_SET:
            data["value"] = message.data.get("word")
        return (self._in_turn(message.forward(topic, data)),)

    # Polls.

    def _converse_pong(self, message: Message) -> Iterable[Message]:
        skill_id = skill_in(message)
        if skill_id in self.skills:
            self._converse[skill_id] = True
        self._asked.pop((message.utterance_id, skill_id), None)
        return (self._renamed(message),) if message.utterance_id is not None else ()

    def _query_pong(self, message: Message) -> Iterable[Message]:
        if message.utterance_id is None:  # sent when the skill was loaded
            return self._can(skill_in(message), "common_query")
        return (self._in_turn(message.with_data({"can_answer": True, **message.data})),)

    def _query_response(self, message: Message) -> Iterable[Message]:
        data = message.data
        if data.get("searching") is True:
            return ()
        answer: dict[str, Any] = {"skill_id": data.get("skill_id"), "utterance": data.get("phrase")}
        if isinstance(data.get("answer"), str) and type(data.get("conf")) in (int, float):
            answer |= {"answer": data["answer"], "conf": min(1.0, max(0.0, float(data["conf"])))}
        return (self._in_turn(message.forward(topics.COMMON_QUERY_RESPONSE, answer)),)

    # From the bus to the client.

    def to_client(self, message: Message) -> Iterable[Message] | None:
        """See `ClientTranslator`."""
        self._calls.sent(message.session)
        topic = message.type
        if self.is_orchestrator and topic == topics.UTTERANCE_HANDLE:
            return ()
        if topics.is_dispatch_topic(topic):
            skill_id = split_dispatch(topic)[0]
            if skill_id not in self.skills or not self.is_skill_of_ovos(skill_id):
                return None  # as it is, for a program that follows the specifications
            return [self._calls.begin(message)]
        if topic == topics.COMMON_QUERY_REQUEST:
            return self._query(message)
        if topic.endswith(FIRED) and topic.removesuffix(FIRED) in self.skills:
            self._schedule.fired(message)
            return ()
        if topic == topics.INTENTS_READY:  # launchers load their skills, or load them again
            self._has_said_ready = True
            return [message, Message(READY, session=Session())]
        if topic == READY and (self.skills or self._has_said_ready):
            return ()  # another client says it, and the skills here are loaded
        if topic == topics.CONVERSE_PING:
            return self.converse_poll(message) if self.is_of_ovos else None
        if not self.is_older:
            return None
        if topic == topics.STOP_PING:
            active = {one.skill_id for one in (message.session or Session()).active_handlers} & self.skills
            asked = [one for one in active if self.is_of_older_line(one)]
            return [message, *(message.forward(f"{one}.stop.ping", message.data) for one in asked)]
        legacy = names.LEGACY.get(topic)
        return None if legacy is None else self.with_copy(message, legacy)

    def with_copy(self, message: Message, legacy: str) -> list[Message]:
        """A Message, and its copy for clients of the older line."""
        return [message, message.forward(legacy, names.payload_down(message.type, message.data))]

    def converse_poll(self, ping: Message) -> list[Message] | None:
        """How a client is asked which of its skills converse."""
        if not self.is_older and ping.session_id != DEFAULT_SESSION_ID:
            return None
        # A client of the newer line looks for its skill in a default session of its own, so it is asked by name.
        asked = list(self.converse_pings(ping, self.skills))
        return [ping, *asked] if self.is_older or not asked else asked

    def converse_pings(self, ping: Message, skills: Collection[str]) -> Iterable[Message]:
        """The same question for each of these skills, if it is to be asked."""
        session = ping.session or Session()
        for handler in session.converse_handlers:
            skill_id = handler.skill_id
            if skill_id not in skills:
                continue
            if self._converse.get(skill_id) is False:
                self.link.emit(ping.reply(topics.CONVERSE_PONG, _declined(skill_id)))
                continue
            if self.is_of_older_line(skill_id) and skill_id not in self._converse:
                self._asked[ping.utterance_id, skill_id] = ping
                self.bridge.clock.after(_SILENT, partial(self._is_silent, ping.utterance_id, skill_id))
            yield ping.forward(f"{skill_id}.converse.ping", {"skill_id": skill_id, **ping.data})

    def _is_silent(self, utterance_id: str | None, skill_id: str) -> None:
        ping = self._asked.pop((utterance_id, skill_id), None)
        if ping is not None:
            self._converse[skill_id] = False
            self.link.emit(ping.reply(topics.CONVERSE_PONG, _declined(skill_id)))

    def _query(self, request: Message) -> list[Message] | None:
        if request.data.get("skill_id") not in self.skills:
            return None
        phrase = request.data.get("utterance")
        question = request.utterance_id, hash(str(phrase))
        if question in self._queried:
            return [request]
        remember(self._queried, question, None)
        return [request, request.forward("question:query", {**request.data, "phrase": phrase})]

    def rendered(self, message: Message, seconds: float) -> None:
        """Say that what a skill said is heard, and after `seconds` that it has ended: skills wait for that."""
        about = message.carrying(message.session or Session())
        self.link.send(about.forward("recognizer_loop:audio_output_start"))
        self.bridge.clock.after(seconds, lambda: self.link.send(about.forward("recognizer_loop:audio_output_end")))

    def close(self) -> None:
        """See `ClientTranslator`."""
        if self._gathering is not None:
            self._gathering.cancel()
        self._reconnected.cancel()
        self._asked.clear()
        self._registrations.close()
        self._budget.give_back(sum(OVERHEAD + _SMALL + len(skill_id) for skill_id in self.skills))
        self.bridge.closed(self)


def _declined(skill_id: str) -> dict[str, Any]:
    return {"skill_id": skill_id, "can_handle": False, "error_code": "done"}
