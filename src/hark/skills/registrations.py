"""Registering intents and entities, taking them back and switching them while a skill runs (INTENT-4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

from hark.intents.locale import Locale
from hark.model import Session
from hark.model.lang import canonical
from hark.plugins.handlers import ConversationPlugin, capabilities_of, fallbacks_of, handlers_of
from hark.skills.decorators import Gate, MethodMarks, Vocabularies, read_intent_mark, read_keywords_mark
from hark.skills.definitions import (
    Method,
    SkillDefinition,
    entity_definition,
    keyword_definitions,
    template_definitions,
)
from hark.spec import DEFAULT_SESSION_ID, topics


class Emit(Protocol):
    """As `Host.emit`."""

    def __call__(self, topic: str, data: dict[str, Any], *, session: Session | None = None) -> None:
        """Emit a Message."""


class _Key(NamedTuple):
    session_id: str
    method: Method
    name: str
    lang: str


class SkillRegistrations:
    """Registers, takes back, switches; before `announce` is called for the first time all that is only noted."""

    def __init__(
        self, skill_id: str, emit: Emit, capabilities: Iterable[str] = (), fallback: int | None = None
    ) -> None:
        self._skill_id = skill_id
        self._emit = emit
        self._capabilities = list(capabilities)
        self._fallback = fallback
        """The priority with which the skill takes what nobody understood, if it does."""
        self._registered: dict[_Key, SkillDefinition] = {}
        self._disabled: dict[tuple[str, str], None] = {}
        """Session id and intent name."""
        self._announced = False

    def add(self, definitions: Iterable[SkillDefinition], session_id: str = DEFAULT_SESSION_ID) -> None:
        """Register these; one with the same name, language and method is replaced."""
        for definition in definitions:
            self._registered[_Key(session_id, definition.method, definition.name, definition.lang)] = definition
            self._say(definition.topic, session_id, definition.payload(self._skill_id))

    def remove(self, is_entity: bool, name: str, lang: str | None, session_id: str = DEFAULT_SESSION_ID) -> None:
        """Take back an intent (both methods) or an entity, in one language or, with None, in all."""
        for key in list(self._registered):
            same = (key.session_id, key.name, key.method == "entity") == (session_id, name, is_entity)
            if same and lang in (None, key.lang):
                del self._registered[key]
        topic = topics.ENTITY_DEREGISTER if is_entity else topics.INTENT_DEREGISTER
        data = {"entity_name" if is_entity else "intent_name": name, **({} if lang is None else {"lang": lang})}
        self._say(topic, session_id, {"skill_id": self._skill_id, **data})

    def switch(self, intent_name: str, on: bool, session_id: str = DEFAULT_SESSION_ID) -> None:
        """Enable or disable an intent."""
        self._disabled.pop((session_id, intent_name), None)
        if not on:
            self._disabled[session_id, intent_name] = None
        topic = topics.INTENT_ENABLE if on else topics.INTENT_DISABLE
        self._say(topic, session_id, {"skill_id": self._skill_id, "intent_name": intent_name})

    def announce(self) -> None:
        """Say everything there is to know, under the same keys as before."""
        self._announced = True
        self._say(topics.SKILL_LOADED, DEFAULT_SESSION_ID, self._loaded())
        if self._fallback is not None:
            data = {"skill_id": self._skill_id, "priority": self._fallback}
            self._say(topics.FALLBACK_REGISTER, DEFAULT_SESSION_ID, data)
        for key, definition in list(self._registered.items()):
            self._say(definition.topic, key.session_id, definition.payload(self._skill_id))
        # A switch thrown before there was anything to switch had no effect.
        for session_id, intent_name in list(self._disabled):
            self.switch(intent_name, False, session_id)

    def withdraw(self) -> None:
        """Take everything back, in every session."""
        if self._fallback is not None:
            self._say(topics.FALLBACK_DEREGISTER, DEFAULT_SESSION_ID, {"skill_id": self._skill_id}, anyway=True)
        for session_id in dict.fromkeys((DEFAULT_SESSION_ID, *(key.session_id for key in self._registered))):
            self._say(topics.SKILL_DEREGISTER, session_id, {"skill_id": self._skill_id}, anyway=True)

    def _loaded(self) -> dict[str, Any]:
        return {"skill_id": self._skill_id, "capabilities": self._capabilities}

    def _say(self, topic: str, session_id: str, data: dict[str, Any], anyway: bool = False) -> None:
        if self._announced or anyway:
            self._emit(topic, data, session=None if session_id == DEFAULT_SESSION_ID else Session(session_id))


class Registering(ConversationPlugin):
    """A plugin with intents, which it may register, take back and switch at any time; the part of `Skill` that does it.

    What is registered lasts until the plugin stops. With `session`, it holds for that session alone.
    """

    lang: ClassVar[str] = "en-US"
    """The language of samples that name none, and of dialogs where there are none in a better one."""

    intents: ClassVar[Mapping[str, MethodMarks]] = {}
    """What it understands, by intent name; filled from the marks."""

    locale: Locale = Locale()
    """The files of its locale folder; once it has begun, with what the user put in the place of some."""

    definitions: Sequence[SkillDefinition] = ()
    """What it registers when it begins."""

    def enable(self, intent_name: str, *, session: Session | str | None = None) -> None:
        """Let one of the skill's intents be matched again."""
        self._check_name(intent_name)
        self._registrations.switch(intent_name, True, _session_id(session))

    def disable(self, intent_name: str, *, session: Session | str | None = None) -> None:
        """Keep one of the skill's intents from being matched, everywhere or in one session, until `enable`."""
        self._check_name(intent_name)
        self._registrations.switch(intent_name, False, _session_id(session))

    def register(
        self,
        intent_name: str,
        *samples: str,
        lang: str | None = None,
        session: Session | str | None = None,
        required_slots: Sequence[str] = (),
        blacklist: Sequence[str] = (),
        requires: Sequence[Gate] = (),
        excludes: Sequence[Gate] = (),
    ) -> None:
        """Let people say this from now on, everywhere or in one session. The options are those of `@intent`.

        A method has to handle the intent: mark it with `@intent` or with `@handles`. Without samples, what the marks
        say is registered: again, after `deregister`, or for a session. Lasts until the skill stops.
        """
        self._check_name(intent_name)
        if samples:
            read = read_intent_mark(
                f"register({intent_name!r})", samples, None, lang, required_slots, blacklist, requires, excludes
            )
            found = list(template_definitions(intent_name, [read], self.locale, self.lang, handlers_of(self)))
        else:
            found = [one for one in self.definitions if one.name == intent_name and one.method != "entity"]
            found = [one for one in found if lang is None or one.lang == canonical(lang)]
        if not found:
            raise ValueError(f"{self.id}: {intent_name!r} has no samples to register; give some")
        self._registrations.add(found, _session_id(session))

    def register_keywords(
        self,
        intent_name: str,
        *,
        required: Vocabularies = (),
        optional: Vocabularies = (),
        one_of: Sequence[Vocabularies] = (),
        excluded: Vocabularies = (),
        lang: str | None = None,
        session: Session | str | None = None,
        requires: Sequence[Gate] = (),
        excludes: Sequence[Gate] = (),
    ) -> None:
        """As `register`, with the options of `@keywords`."""
        self._check_name(intent_name)
        where = f"register_keywords({intent_name!r})"
        read = read_keywords_mark(where, required, optional, one_of, excluded, lang, requires, excludes)
        found = keyword_definitions(intent_name, [read], self.locale, self.lang)
        self._registrations.add(found, _session_id(session))

    def register_entity(
        self, slot: str, *values: str, lang: str | None = None, session: Session | str | None = None
    ) -> None:
        """Tell what a slot is usually filled with, such as the names of the lamps. Other values still match."""
        found = entity_definition(slot, values, self.locale.language(lang or self.lang))
        self._registrations.add([found], _session_id(session))

    def deregister(self, intent_name: str, *, lang: str | None = None, session: Session | str | None = None) -> None:
        """Take an intent back, in one language or in all, for everybody or for one session."""
        self._check_name(intent_name)
        self._registrations.remove(False, intent_name, lang and canonical(lang), _session_id(session))

    def deregister_entity(self, slot: str, *, lang: str | None = None, session: Session | str | None = None) -> None:
        """Take back what a slot is usually filled with."""
        self._registrations.remove(True, slot, lang and canonical(lang), _session_id(session))

    @cached_property
    def _registrations(self) -> SkillRegistrations:
        # Not set in `__init__`, which is the author's as well.
        fallbacks = fallbacks_of(self)
        priority = fallbacks[0].priority if fallbacks else None
        return SkillRegistrations(self.id, self.host.emit, capabilities_of(self), priority)

    def _check_name(self, intent_name: str) -> None:
        known = {**self.intents, **handlers_of(self)}
        if intent_name not in known:
            raise ValueError(f"{self.id} has no intent {intent_name!r}; it has: {', '.join(known) or 'none'}")


def _session_id(session: Session | str | None) -> str:
    if session is None:
        return DEFAULT_SESSION_ID
    return session if isinstance(session, str) else session.session_id
