"""Registering and taking back while a skill runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from hark.intents.locale import Locale
from hark.model import Session
from hark.model.lang import canonical
from hark.plugins.handlers import ConversationPlugin, capabilities_of, fallbacks_of, handlers_of
from hark.skills.definition import Definition
from hark.skills.entities import entity_definition
from hark.skills.intent import wording
from hark.skills.keywords import Vocabularies, read_keywords
from hark.skills.marks import Gate, Marked
from hark.skills.registrations import Registrations
from hark.skills.templates import template_definitions
from hark.skills.vocabularies import keyword_definitions
from hark.spec import DEFAULT_SESSION_ID


class Registering(ConversationPlugin):
    """A plugin with intents, which it may register, take back and switch at any time; the part of `Skill` that does it.

    What is registered lasts until the plugin stops. With `session`, it holds for that session alone.
    """

    lang: ClassVar[str] = "en-US"
    """The language of samples that name none, and of dialogs where there are none in a better one."""

    intents: ClassVar[Mapping[str, Marked]] = {}
    """What it understands, by intent name; filled from the marks."""

    locale: Locale = Locale()
    """The files of its locale folder; once it has begun, with what the user put in the place of some."""

    definitions: Sequence[Definition] = ()
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
            read = wording(
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
        read = read_keywords(where, required, optional, one_of, excluded, lang, requires, excludes)
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
    def _registrations(self) -> Registrations:
        # Not set in `__init__`, which is the author's as well.
        fallbacks = fallbacks_of(self)
        priority = fallbacks[0].priority if fallbacks else None
        return Registrations(self.id, self.host.emit, capabilities_of(self), priority)

    def _check_name(self, intent_name: str) -> None:
        known = {**self.intents, **handlers_of(self)}
        if intent_name not in known:
            raise ValueError(f"{self.id} has no intent {intent_name!r}; it has: {', '.join(known) or 'none'}")


def _session_id(session: Session | str | None) -> str:
    if session is None:
        return DEFAULT_SESSION_ID
    return session if isinstance(session, str) else session.session_id
