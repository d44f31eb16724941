"""Which client a skill belongs to: no other client may register, deregister or answer in its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from hark.bus.websocket.limits import ServerLimits
from hark.model import Clock, Message
from hark.spec import topics
from hark.spec.names import SKILL_ID

if TYPE_CHECKING:
    from hark.bus.websocket.connection import ClientConnection

KEPT: Final = 30.0
"""Seconds for which a skill stays its owner's after the connection is gone."""

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
_DEREGISTER: Final = _CHANGE - {topics.INTENT_ENABLE, topics.INTENT_DISABLE}
_ANSWER: Final = frozenset(
    {
        topics.CONVERSE_PONG,
        topics.STOP_PONG,
        topics.FALLBACK_PONG,
        topics.COMMON_QUERY_PONG,
        topics.COMMON_QUERY_RESPONSE,
    }
)
_LEGACY_DONE: Final = frozenset({"mycroft.skill.handler.complete", "mycroft.skill.handler.error"})
OF_SKILLS: Final = _REGISTER | _CHANGE | _ANSWER | _LEGACY_DONE | {topics.HANDLER_DONE}
"""The topics of Messages in the name of a skill, or about its registration."""
_SEEN: Final = _REGISTER | {topics.SKILL_DEREGISTER, topics.SKILL_DETACHED}

Key = tuple[object, ...]


class _OwnedSkill:
    def __init__(self, connection: ClientConnection | None) -> None:
        self.connection = connection
        """The one it was registered on last, also when that is gone; none for a skill that is not a client's."""
        self.registered: dict[Key, int] = {}
        """The bytes of each registration."""


class SkillOwners:
    """Remembers on which connection each skill was registered, and bounds what a client registers.

    A skill belongs to the connection it was registered on, until 30 seconds after that is gone. Another connection
    with the same token may take it over at any time, another local one without a token once the first is gone:
    programs come back. What is registered on the bus by no client is the assistant's own.

    `emit` gets `hark.skill.attached` and `hark.skill.detached` when skills have a connection, or have none any more.
    """

    def __init__(
        self, limits: ServerLimits, clock: Clock, emit: Callable[[Message], None], reserved: Iterable[str] = ()
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._emit = emit
        self._skills: dict[str, _OwnedSkill] = {skill_id: _OwnedSkill(None) for skill_id in reserved}
        self._bytes = 0
        """Of the registrations of all clients."""

    def refusal(self, connection: ClientConnection, message: Message, size: int) -> str | None:
        """Why a Message of `OF_SKILLS` from a client, of `size` bytes, is dropped; None when it may pass.

        Registrations are counted.
        """
        skill_id = _skill_of(message)
        if message.type in _REGISTER:
            return self._register(connection, message, skill_id, size) if skill_id is not None else None
        skill = self._skills.get(skill_id) if skill_id is not None else None
        if connection.permissions.private or (skill is not None and skill.connection is connection):
            if skill is not None and skill_id is not None and message.type in _DEREGISTER:
                self._deregister(skill_id, skill, message)
            return None
        if skill_id is None and message.type in _CHANGE:
            return "it names no skill"
        if message.type in _CHANGE or message.type == topics.HANDLER_DONE:
            return "its skill was not registered on this connection"
        return "it is in the name of a skill that is not this client's" if skill is not None else None

    def seen(self, message: Message) -> None:
        """Take note of what is said on the bus, by the assistant itself or by clients of another server."""
        if message.type not in _SEEN:
            return
        if message.type in _REGISTER:
            skill_id = _skill_of(message)
            if skill_id is not None and getattr(self._skills.get(skill_id), "connection", None) is None:
                self._skills[skill_id] = _OwnedSkill(None)  # another object: it is not released, if it was to be
        elif message.type == topics.SKILL_DEREGISTER:
            skill_id = _skill_of(message)
            self._release_later([skill_id] if skill_id is not None else [], None)
        else:
            listed = message.data.get("skill_ids")
            self._release_later([one for one in listed if isinstance(one, str)] if listed else [], None)

    def disconnected(self, connection: ClientConnection) -> None:
        """Keep the skills of a connection that is gone for a while, then release them."""
        gone = [skill_id for skill_id, skill in self._skills.items() if skill.connection is connection]
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
            or usage.registration_bytes + size - before > limits.registration_bytes
            or self._bytes + size - before > limits.all_registration_bytes
        ):
            return "the client has registered as much as it may"
        if skill is None:
            skill = self._skills[skill_id] = _OwnedSkill(None)
        if skill.connection is not connection:
            self._move(skill, connection)
            if not connection.permissions.private:
                self._emit(Message(topics.SKILL_ATTACHED, {"skill_ids": [skill_id]}))
        skill.registered[key] = size
        self._count(connection, int(not before), size - before)
        return None

    def _move(self, skill: _OwnedSkill, connection: ClientConnection) -> None:
        count, size = len(skill.registered), sum(skill.registered.values())
        self._count(skill.connection, -count, -size)
        self._count(connection, count, size)
        skill.connection = connection

    def _deregister(self, skill_id: str, skill: _OwnedSkill, message: Message) -> None:
        for key in [key for key in skill.registered if _is_deregistered(key, message)]:
            self._count(skill.connection, -1, -skill.registered.pop(key))
        if not skill.registered and skill.connection is not None:
            del self._skills[skill_id]

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
    elif message.type in _LEGACY_DONE:
        found = message.context.get(SKILL_ID)
    else:
        found = message.data.get(SKILL_ID)
    return found if isinstance(found, str) and found else None


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
    if session_id != message.session_id:
        return False
    if message.type == topics.SKILL_DEREGISTER:
        return True
    if message.type == topics.FALLBACK_DEREGISTER:
        return topic == topics.FALLBACK_REGISTER
    is_entity = message.type == topics.ENTITY_DEREGISTER
    if (topic == topics.ENTITY_REGISTER) != is_entity or topic in (topics.SKILL_LOADED, topics.FALLBACK_REGISTER):
        return False
    wanted = message.data.get("lang")
    return name == message.data.get("entity_name" if is_entity else "intent_name") and wanted in (None, lang)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
