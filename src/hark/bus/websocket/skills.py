"""Which client a skill belongs to: no other client may register, deregister or answer in its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from hark.bus.websocket.limits import ServerLimits
from hark.model import Clock, Message
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.spec.names import SKILL_ID, UTTERANCE_ID

if TYPE_CHECKING:
    from hark.bus.websocket.connection import ClientConnection

KEPT: Final = 30.0
"""Seconds for which a skill stays its owner's after the connection is gone."""

_MOST_EMPTY: Final = 1_000
"""Skills that stay their owner's although nothing of them is registered any more."""
_LONGEST_EXCEPTION: Final = 1_000
"""Characters of what a client says went wrong."""

_REGISTER: Final = frozenset(
    {
        topics.REGISTER_KEYWORD,
        topics.REGISTER_TEMPLATE,
        topics.ENTITY_REGISTER,
        topics.SKILL_LOADED,
        topics.FALLBACK_REGISTER,
    }
)
_CHANGE: Final = frozenset(
    {
        topics.INTENT_DEREGISTER,
        topics.ENTITY_DEREGISTER,
        topics.SKILL_DEREGISTER,
        topics.FALLBACK_DEREGISTER,
        topics.INTENT_ENABLE,
        topics.INTENT_DISABLE,
    }
)
_ANSWER: Final = frozenset(
    {
        topics.CONVERSE_PONG,
        topics.STOP_PONG,
        topics.FALLBACK_PONG,
        topics.COMMON_QUERY_PONG,
        topics.COMMON_QUERY_RESPONSE,
    }
)
_REMEMBER: Final = frozenset({topics.CONTEXT_SET, topics.CONTEXT_UNSET, topics.CONTEXT_CLEAR})
_LEGACY_DONE: Final = frozenset({topics.LEGACY_HANDLER_COMPLETE, topics.LEGACY_HANDLER_ERROR})
ENDS_HANDLERS: Final = _LEGACY_DONE | {topics.HANDLER_DONE}
"""The topics by which a program says that a handler has ended; they are not relayed (ruling R18)."""
OF_SCHEDULES: Final = frozenset(
    {topics.SCHEDULER_SCHEDULE, topics.SCHEDULER_CANCEL, topics.SCHEDULER_GET, topics.SCHEDULER_LIST}
)
"""The requests about the schedules of the skill that the context names."""
OF_SKILLS: Final = _REGISTER | _CHANGE | _ANSWER | _REMEMBER | ENDS_HANDLERS
"""The topics of Messages in the name of a skill, or about its registration."""
_SEEN: Final = _REGISTER | {
    topics.SKILL_DEREGISTER,
    topics.SKILL_DETACHED,
    topics.READY,
    topics.SKILL_ASK,
    topics.PLUGINS,
}

Key = tuple[object, ...]


class _OwnedSkill:
    def __init__(self, connection: ClientConnection | None) -> None:
        self.connection = connection
        """The one it was registered on last, also when that is gone; none for a skill that is not a client's."""
        self.registered: dict[Key, int] = {}
        """The bytes of each registration."""
        self.completes = False
        """Whether its program says when a handler has ended: it has done so, or has announced it."""
        self.is_empty = False
        """Whether it is looked at whether anything is registered again."""


class SkillOwners:
    """Remembers on which connection each skill was registered, and bounds what a client registers.

    A skill belongs to the connection it was registered on, until 30 seconds after that is gone. Another connection
    with the same token may take it over at any time, another local one without a token once the first is gone:
    programs come back. What is registered on the bus by no client is the assistant's own.

    `emit` gets `hark.skill.attached` and `hark.skill.detached` when skills have a connection, or have none any more,
    and how the turns of these skills go: `hark.handler.active` and `hark.handler.done` (ruling R18).
    """

    def __init__(
        self, limits: ServerLimits, clock: Clock, emit: Callable[[Message], None], reserved: Iterable[str] = ()
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._emit = emit
        self._skills: dict[str, _OwnedSkill] = {skill_id: _OwnedSkill(None) for skill_id in reserved}
        self._empty = 0
        """Skills of which everything was deregistered lately."""
        self._bytes = 0
        """Of the registrations of all clients."""
        self._local = 0
        """Registrations of all clients without a token."""

    def refusal(self, connection: ClientConnection, message: Message, size: int) -> str | None:
        """Why a Message of `OF_SKILLS` from a client, of `size` bytes, is dropped; None when it may pass.

        Registrations are counted.
        """
        skill_id = _skill_of(message)
        if message.type in _REGISTER:
            return self._register(connection, message, skill_id, size) if skill_id is not None else None
        skill = self._skills.get(skill_id) if skill_id is not None else None
        if not connection.permissions.private and message.type in ENDS_HANDLERS and UTTERANCE_ID not in message.context:
            return "it ends a handler of no turn: it has no utterance_id"
        if connection.permissions.private or (skill is not None and skill.connection is connection):
            if skill is not None and skill_id is not None:
                is_own = skill.connection is connection
                if message.type == topics.INTENT_DISABLE and is_own:  # kept for each session, as intents are
                    return self._register(connection, message, skill_id, size)
                if message.type in _CHANGE:
                    self._deregister(skill_id, skill, message)
            return None
        if skill_id is None and message.type in _CHANGE:
            return "it names no skill"
        if message.type in _CHANGE or message.type == topics.HANDLER_DONE:
            return "its skill was not registered on this connection"
        return "it is in the name of a skill that is not this client's" if skill is not None else None

    def schedule_refusal(self, connection: ClientConnection, message: Message) -> str | None:
        """Why a Message about schedules is dropped: a request about those of another's skill, or an event of such a
        skill that claims to be fired by the scheduler; None when it may pass.
        """
        if connection.permissions.private:
            return None
        if message.type in OF_SCHEDULES:
            skill_id = message.context.get(SKILL_ID)
            named = [skill_id] if isinstance(skill_id, str) else []
        else:
            parts = message.type.split(".")
            named = [".".join(parts[:count]) for count in range(1, len(parts))]
        skills = [self._skills[one] for one in named if one in self._skills]
        if all(skill.connection is connection for skill in skills):
            return None
        return "it is about the schedules of a skill that is not this client's"

    def call_refusal(self, connection: ClientConnection, topic: str) -> str | None:
        """Why a client's call of a handler is dropped; None for one of its own, or of no skill."""
        skill = self._skills.get(topics.split_dispatch(topic)[0])
        own = skill is None or skill.connection is connection
        return None if own else "it calls a handler of a skill that is not this client's, which only the assistant does"

    def may_speak_as(self, connection: ClientConnection, skill_id: object) -> bool:
        """Whether what a client says counts as that of the skill that its context names."""
        skill = self._skills.get(skill_id) if isinstance(skill_id, str) else None
        return skill is None or skill.connection is connection

    def seen(self, message: Message, service: ClientConnection | None = None) -> None:
        """Take note of what is said on the bus, by the assistant itself, its services or clients of another server;
        `service` is the connection of the service that said it, where it has one here.
        """
        if message.type not in _SEEN:
            return
        if message.type in (topics.READY, topics.SKILL_ASK):
            self.report()
        elif message.type == topics.PLUGINS:
            self._reserve(message.data.get("skill_ids"), service)
        elif message.type in _REGISTER:
            skill_id = _skill_of(message)
            if skill_id is not None and getattr(self._skills.get(skill_id), "connection", None) is None:
                self._skills[skill_id] = _OwnedSkill(None)  # another object: it is not released, if it was to be
        elif message.type == topics.SKILL_DEREGISTER:
            skill_id = _skill_of(message)
            self._release_later([skill_id] if skill_id is not None else [], None)
        else:
            listed = message.data.get("skill_ids")
            self._release_later([one for one in listed if isinstance(one, str)] if listed else [], None)

    def report(self, *, started: bool = False) -> None:
        """Emit which skills have a connection; `started` asks other processes to check what they took for connected."""
        listed = {
            skill_id: skill
            for skill_id, skill in self._skills.items()
            if skill.connection is not None and skill.connection.is_open and not skill.connection.permissions.private
        }
        completes = [skill_id for skill_id, skill in listed.items() if skill.completes]
        if listed or started:
            data = {"skill_ids": [*listed], "completes": completes, "started": started}
            self._emit(Message(topics.SKILL_ATTACHED, data))

    def worked(self, connection: ClientConnection, message: Message) -> Message | None:
        """Report how the turn goes that a Message of a client belongs to: it comes from the handler of a skill.

        Returns what goes on the bus in place of a Message that ends a handler; those are not relayed.
        """
        is_done = message.type in ENDS_HANDLERS
        skill_id = _skill_of(message) if is_done else message.context.get(SKILL_ID)
        skill = self._skills.get(skill_id) if isinstance(skill_id, str) else None
        if skill is None or skill.connection is not connection or connection.permissions.private:
            return None
        if (is_done or message.type == topics.LEGACY_HANDLER_START) and not skill.completes:
            skill.completes = True
            self._emit(Message(topics.SKILL_ATTACHED, {"skill_ids": [skill_id], "completes": [skill_id]}))
        if is_done:
            return handler_done(message, str(skill_id))
        waits, session = None, message.session
        if session is not None and session.response_mode is not None and session.response_mode.skill_id == skill_id:
            waits = session.response_mode.expires_at
        turn = {UTTERANCE_ID: message.utterance_id}
        self._emit(Message(topics.HANDLER_ACTIVE, {"skill_id": skill_id, "waits_until": waits}, turn))
        return None

    def disconnected(self, connection: ClientConnection) -> None:
        """Keep the skills of a connection that is gone for a while, then release them."""
        gone = [
            skill_id
            for skill_id in connection.skills
            if skill_id in self._skills and self._skills[skill_id].connection is connection
        ]
        if gone:
            self._release_later(gone, connection)
            if not connection.permissions.private:
                self._emit(Message(topics.SKILL_DETACHED, {"skill_ids": gone}))

    def _register(self, connection: ClientConnection, message: Message, skill_id: str, size: int) -> str | None:
        skill = self._skills.get(skill_id)
        if skill is not None and not _may_take(connection, skill):
            return "it registers in the name of a skill that is not this client's"
        key, usage, limits = _key(message), connection.usage, self._limits
        before = skill.registered.get(key, 0) if skill is not None else 0
        if not connection.permissions.private and (
            usage.registrations + (not before) > limits.registrations
            or (not connection.has_token and self._local + (not before) > 2 * limits.registrations)
            or usage.registration_bytes + size - before > limits.registration_bytes
            or self._bytes + size - before > limits.all_registration_bytes
        ):
            return "the client has registered as much as it may"
        if skill is None:
            skill = self._skills[skill_id] = _OwnedSkill(None)
        completes = skill.completes or message.data.get("completes") is True
        if skill.connection is not connection or completes is not skill.completes:
            skill.completes = completes
            self._move(skill, skill_id, connection)
            if not connection.permissions.private:
                listed = {"skill_ids": [skill_id], "completes": [skill_id] if completes else []}
                self._emit(Message(topics.SKILL_ATTACHED, listed))
        skill.registered[key] = size
        self._count(connection, int(not before), size - before)
        return None

    def _reserve(self, ids: object, service: ClientConnection | None) -> None:
        """These are plugins of the assistant: their ids are taken from whoever has them."""
        for skill_id in ids if isinstance(ids, tuple) else ():
            if isinstance(skill_id, str):
                self._move(self._skills.setdefault(skill_id, _OwnedSkill(None)), skill_id, service)

    def _move(self, skill: _OwnedSkill, skill_id: str, connection: ClientConnection | None) -> None:
        count, size = len(skill.registered), sum(skill.registered.values())
        self._count(skill.connection, -count, -size)
        self._count(connection, count, size)
        skill.connection = connection
        if connection is not None:
            connection.skills.add(skill_id)

    def _deregister(self, skill_id: str, skill: _OwnedSkill, message: Message) -> None:
        for key in [key for key in skill.registered if _is_deregistered(key, message)]:
            self._count(skill.connection, -1, -skill.registered.pop(key))
        if skill.registered or skill.connection is None:
            return
        if skill.connection.permissions.private:
            del self._skills[skill_id]
        elif self._empty >= _MOST_EMPTY:
            self._drop(skill_id)
        elif not skill.is_empty:  # its handlers may be under way, and it may register again
            skill.is_empty = True
            self._empty += 1
            self._clock.after(KEPT, lambda: self._drop_empty(skill_id, skill))

    def _drop_empty(self, skill_id: str, skill: _OwnedSkill) -> None:
        self._empty -= 1
        skill.is_empty = False
        if self._skills.get(skill_id) is skill and not skill.registered:
            self._drop(skill_id)

    def _drop(self, skill_id: str) -> None:
        skill = self._skills.pop(skill_id)
        if skill.connection is not None:
            skill.connection.skills.discard(skill_id)
        self._emit(Message(topics.SKILL_DETACHED, {"skill_ids": [skill_id]}))

    def _release_later(self, skill_ids: Sequence[str], connection: ClientConnection | None) -> None:
        owned = {skill_id: self._skills[skill_id] for skill_id in skill_ids if skill_id in self._skills}

        def release() -> None:
            for skill_id, skill in owned.items():
                if self._skills.get(skill_id) is skill and skill.connection is connection:
                    self._count(connection, -len(skill.registered), -sum(skill.registered.values()))
                    del self._skills[skill_id]

        if owned:
            self._clock.after(KEPT, release)

    def _count(self, connection: ClientConnection | None, count: int, size: int) -> None:
        if connection is not None:
            connection.usage.registrations += count
            connection.usage.registration_bytes += size
            self._bytes += size
            self._local += 0 if connection.has_token else count


def _may_take(connection: ClientConnection, skill: _OwnedSkill) -> bool:
    owner = skill.connection
    if connection.permissions.private or owner is connection:
        return True
    if owner is None or owner.permissions.private:
        return False
    if owner.credential != connection.credential:
        return False
    return connection.has_token or not owner.is_open


def _skill_of(message: Message) -> str | None:
    if message.type == topics.HANDLER_DONE:
        topic = message.data.get("topic")
        found: object = topics.split_dispatch(topic)[0] if isinstance(topic, str) else None
    elif message.type in _LEGACY_DONE or message.type in _REMEMBER:
        found = message.context.get(SKILL_ID)
    else:
        found = message.data.get(SKILL_ID)
    return found if isinstance(found, str) and found else None


def handler_done(message: Message, skill_id: str) -> Message:
    """That a handler of a client's skill has ended, for the process that waits for it."""
    data: dict[str, object] = {SKILL_ID: skill_id}
    failed = message.type == topics.LEGACY_HANDLER_ERROR
    exception = message.data.get("exception")
    if failed or exception is not None:
        data["exception"] = _text(exception)[:_LONGEST_EXCEPTION] or "the handler failed"
        if message.data.get("said") is True:
            data["said"] = True
    elif message.data.get("declined") is True:
        data["declined"] = True
    done = message.signal(topics.HANDLER_DONE, data)
    # An OVOS program has the session of its own configuration in every Message (ruling R16).
    return done if message.type == topics.HANDLER_DONE else done.carrying(None)


def _key(message: Message) -> Key:
    data = message.data
    return (
        message.type,
        _text(data.get("intent_name") or data.get("entity_name")),
        _text(data.get("lang")),
        message.session_id,
    )


def _is_deregistered(key: Key, message: Message) -> bool:
    """Whether a Message that deregisters covers a registration; one without a language covers all of them."""
    topic, name, lang, session_id = key
    wanted = message.data.get("lang")
    is_switch, is_shared = topic == topics.INTENT_DISABLE, message.session_id == DEFAULT_SESSION_ID
    if session_id != message.session_id and not (is_switch and is_shared):  # an intent that is gone has no switches
        return False
    if message.type == topics.SKILL_DEREGISTER:
        return True
    if message.type == topics.INTENT_ENABLE:
        is_same = is_switch and session_id == message.session_id
        return is_same and name == message.data.get("intent_name") and wanted in (None, lang)
    if message.type == topics.FALLBACK_DEREGISTER:
        return topic == topics.FALLBACK_REGISTER
    is_entity = message.type == topics.ENTITY_DEREGISTER
    if (topic == topics.ENTITY_REGISTER) != is_entity or topic in (topics.SKILL_LOADED, topics.FALLBACK_REGISTER):
        return False
    return name == message.data.get("entity_name" if is_entity else "intent_name") and wanted in (None, lang)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
