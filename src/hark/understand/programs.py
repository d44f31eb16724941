"""Programs outside: skills that were registered over the bus and have no handler host of Hark (ruling R18)."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Final, Protocol

from hark.bus import Bus
from hark.model import Clock, Frozen, Message, Session, Timer
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.understand.intent_registry import EntityKey, IntentKey, IntentRegistry

log = logging.getLogger("hark.understand")

KEPT: Final = 30.0
"""Seconds for which the registrations of a program that is gone are kept, though nothing matches them."""
_ANSWER: Final = 3.0
"""Seconds in which the server of the bus says which programs are connected."""
_MOST: Final = 10_000
"""Skills that are remembered; the server of the bus bounds what clients register, another bus does not."""
_AT_ONCE: Final = 20
"""Skills whose registrations are deleted before the event loop does other things."""


class ProgramListener(Protocol):
    """What is to know when programs come and go."""

    def programs_gone(self, skill_ids: Collection[str]) -> None:
        """The programs of these skills have lost their connection."""

    def programs_changed(self) -> None:
        """`absent` is another set."""


class _Registered:
    """What a skill had registered when its program went."""

    def __init__(self) -> None:
        self.intents: dict[IntentKey, Frozen] = {}
        self.entities: dict[EntityKey, Frozen] = {}
        self.announced: list[str] = []
        """Sessions in which the skill said that it is loaded."""

    def sessions(self) -> Iterable[str]:
        """Every session in which anything of the skill is registered."""
        named = [key.session_id for key in self.intents] + [key[0] for key in self.entities]
        return dict.fromkeys(named + self.announced)


class Programs:
    """The skills of programs outside: whose connection lives, and whose program says when a handler has ended.

    The server of the bus reports it (`hark.skill.attached`, `.detached`). A skill whose program is gone is `absent`:
    it does not match. After 30 seconds its registrations are deleted, unless the program has come back, which is to
    register again; what it has not registered again by then is deleted all the same.
    """

    def __init__(self, bus: Bus, clock: Clock, manifest: IntentRegistry, is_owner: Callable[[], bool]) -> None:
        self._bus = bus
        self._clock = clock
        self._manifest = manifest
        self._is_owner = is_owner
        """Whether this process deletes registrations, where several see them."""
        self.absent: frozenset[str] = frozenset()
        self.attached: set[str] = set()
        self._completes: set[str] = set()
        self._gone: dict[str, _Registered] = {}
        """What the skills of programs that are gone had registered, to be deleted unless they come back."""
        self._timers: set[Timer] = set()
        self._checking: Timer | None = None
        self._unconfirmed: set[str] = set()
        """Skills of which a check has not heard yet."""
        self.listeners: list[ProgramListener] = []
        self._subscriptions = (
            bus.on(topics.SKILL_ATTACHED, self._on_attached, name="programs: attached"),
            bus.on(topics.SKILL_DETACHED, self._on_detached, name="programs: detached"),
            bus.on(topics.BUS_AGAIN, self._on_again, name="programs: reconnected"),
        )

    def close(self) -> None:
        """Listen no longer."""
        for subscription in self._subscriptions:
            subscription.close()
        for timer in (*self._timers, self._checking):
            if timer is not None:
                timer.cancel()

    @property
    def is_any(self) -> bool:
        """Whether there is any such skill, connected or not."""
        return bool(self.attached or self.absent)

    def completes(self, skill_id: str) -> bool:
        """Whether the program of a skill says when a handler has ended: it announced that, or has done it before."""
        return skill_id in self._completes

    def attach(self, skill_ids: Iterable[str], completes: Iterable[str] = ()) -> None:
        """The programs of these skills are connected; those of `completes` say when their handlers have ended."""
        for skill_id in skill_ids:
            if len(self.attached) >= _MOST:
                break
            self.attached.add(skill_id)
        self._completes.update(one for one in completes if one in self.attached)
        self._set_absent(self.absent - self.attached)

    def detach(self, skill_ids: Iterable[str]) -> None:
        """The programs of these skills are gone."""
        gone = [one for one in dict.fromkeys(skill_ids) if one in self.attached]
        if not gone:
            return
        self.attached.difference_update(gone)
        self._delete_later(gone)
        self._set_absent(self.absent.union(gone))
        for listener in self.listeners:
            listener.programs_gone(gone)

    def _delete_later(self, skill_ids: Collection[str]) -> None:
        found = {skill_id: _Registered() for skill_id in skill_ids}
        for one in self._manifest:
            if one.key.skill_id in found:
                found[one.key.skill_id].intents[one.key] = one.payload
        for where, data in self._manifest.entities.items():
            if where[1] in found:
                found[where[1]].entities[where] = data
        for session_id, skill_id in self._manifest.skills:
            if skill_id in found:
                found[skill_id].announced.append(session_id)
        self._gone |= found
        self._after(KEPT, deque(found.items()))

    def _after(self, seconds: float, waiting: deque[tuple[str, _Registered]]) -> None:
        timer: Timer

        def delete() -> None:
            """Some at a time: a client may have registered thousands of skills, and others wait meanwhile."""
            self._timers.discard(timer)
            for _ in range(min(_AT_ONCE, len(waiting))):
                skill_id, registered = waiting.popleft()
                if self._gone.get(skill_id) is registered:  # not where it was gone once more
                    del self._gone[skill_id]
                    self._delete(skill_id, registered)
            if waiting:
                self._after(0.0, waiting)

        timer = self._clock.after(seconds, delete)
        self._timers.add(timer)

    def _delete(self, skill_id: str, registered: _Registered) -> None:
        """Delete what was registered: all of it, or what the program has not registered again."""
        if skill_id in self.absent:
            self._completes.discard(skill_id)
            if self._is_owner():
                log.info("the program of %s has not come back: its registrations are deleted", skill_id)
                for session_id in registered.sessions():
                    self._remove(topics.SKILL_DEREGISTER, session_id, skill_id=skill_id)
                self._remove(topics.FALLBACK_DEREGISTER, DEFAULT_SESSION_ID, skill_id=skill_id)
            self._set_absent(self.absent - {skill_id})
        elif self._is_owner():  # it is back: what it has not registered again is the same object as before
            definitions = self._manifest.registrations
            for key in [key for key, payload in registered.intents.items() if definitions.payload(key) is payload]:
                name, lang = key.intent_name, key.lang
                self._remove(topics.INTENT_DEREGISTER, key.session_id, skill_id=skill_id, intent_name=name, lang=lang)
            entities = self._manifest.entities
            for where in [key for key, data in registered.entities.items() if entities.get(key) is data]:
                session_id, _, name, lang = where
                self._remove(topics.ENTITY_DEREGISTER, session_id, skill_id=skill_id, entity_name=name, lang=lang)

    def _remove(self, topic: str, session_id: str, **data: str) -> None:
        session = None if session_id == DEFAULT_SESSION_ID else Session(session_id)
        self._bus.emit(Message(topic, data, session=session))

    def _set_absent(self, absent: frozenset[str]) -> None:
        if absent != self.absent:
            self.absent = absent
            for listener in self.listeners:
                listener.programs_changed()

    def check(self) -> None:
        """Ask the servers of the bus which programs are connected: one that died has not said whose connections end."""
        if self._checking is None and self.attached and not self._bus.is_foreign:
            self._unconfirmed = set(self.attached)
            self._checking = self._clock.after(_ANSWER, self._checked)
            self._bus.emit(Message(topics.SKILL_ASK))

    def _checked(self) -> None:
        self._checking = None
        self.detach(self._unconfirmed)

    def _on_attached(self, message: Message) -> None:
        listed = _ids(message, "skill_ids")
        self._unconfirmed.difference_update(listed)
        self.attach(listed, _ids(message, "completes"))
        if message.data.get("started") is True:
            self.check()

    def _on_detached(self, message: Message) -> None:
        self.detach(_ids(message, "skill_ids"))

    def _on_again(self, _message: Message) -> None:
        self.check()


def _ids(message: Message, field: str) -> list[str]:
    listed = message.data.get(field)
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, tuple) else []
