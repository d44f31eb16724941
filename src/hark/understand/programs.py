"""Programs outside: skills that were registered over the bus and have no handler host of Hark (ruling R18)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from typing import Final, Protocol

from hark.bus import Bus
from hark.model import Clock, Message, Session, Timer
from hark.spec import DEFAULT_SESSION_ID, topics
from hark.understand.intent_registry import IntentRegistry

log = logging.getLogger("hark.understand")

KEPT: Final = 30.0
"""Seconds for which the registrations of a program that is gone are kept, though nothing matches them."""
_ANSWER: Final = 3.0
"""Seconds in which the server of the bus says which programs are connected."""
_MOST: Final = 10_000
"""Skills that are remembered; the server of the bus bounds what clients register, another bus does not."""


class ProgramListener(Protocol):
    """What is to know when programs come and go."""

    def programs_gone(self, skill_ids: Collection[str]) -> None:
        """The programs of these skills have lost their connection."""

    def programs_changed(self) -> None:
        """`absent` is another set."""


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
        self._timers: dict[str, Timer] = {}
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
        for timer in (*self._timers.values(), self._checking):
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
        for skill_id in gone:
            self._delete_later(skill_id)
        self._set_absent(self.absent.union(gone))
        for listener in self.listeners:
            listener.programs_gone(gone)

    def _delete_later(self, skill_id: str) -> None:
        before = self._timers.pop(skill_id, None)
        if before is not None:
            before.cancel()
        intents = {one.key: one.payload for one in self._manifest if one.key.skill_id == skill_id}
        entities = {key: data for key, data in self._manifest.entities.items() if key[1] == skill_id}
        skills = [session_id for session_id, one in self._manifest.skills if one == skill_id]
        sessions = dict.fromkeys([key.session_id for key in intents] + [key[0] for key in entities] + skills)

        def delete() -> None:
            del self._timers[skill_id]
            if skill_id in self.absent:
                self._completes.discard(skill_id)
                if self._is_owner():
                    log.info("the program of %s has not come back: its registrations are deleted", skill_id)
                    for session_id in sessions:
                        self._remove(topics.SKILL_DEREGISTER, session_id, skill_id=skill_id)
                    self._remove(topics.FALLBACK_DEREGISTER, DEFAULT_SESSION_ID, skill_id=skill_id)
                self._set_absent(self.absent - {skill_id})
            elif self._is_owner():  # it is back: what it has not registered again is the same object as before
                now = {one.key: one.payload for one in self._manifest if one.key.skill_id == skill_id}
                for key in [key for key, payload in intents.items() if now.get(key) is payload]:
                    name, lang = key.intent_name, key.lang
                    self._remove(
                        topics.INTENT_DEREGISTER, key.session_id, skill_id=skill_id, intent_name=name, lang=lang
                    )
                for where in [key for key, data in entities.items() if self._manifest.entities.get(key) is data]:
                    session_id, _, name, lang = where
                    self._remove(topics.ENTITY_DEREGISTER, session_id, skill_id=skill_id, entity_name=name, lang=lang)

        self._timers[skill_id] = self._clock.after(KEPT, delete)

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
