"""The base class of skills: intents, and the methods that handle them."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, cast

from hark.intents.locale import Locale, MalformedResource, Renderer
from hark.model import Message, Session
from hark.model.lang import canonical
from hark.plugins.handlers import ConversationPlugin, capabilities_of, fallbacks_of, handlers_of
from hark.plugins.schedules import Schedules
from hark.skills.decorators import (
    Gate,
    MalformedIntent,
    MethodMarks,
    Vocabularies,
    intents_of,
    read_intent_mark,
    read_keywords_mark,
)
from hark.skills.definitions import (
    SkillDefinition,
    definitions_of,
    entity_definition,
    keyword_definitions,
    template_definitions,
)
from hark.skills.registrations import SkillRegistrations
from hark.spec import DEFAULT_SESSION_ID, topics


class _DefinitionsOnUse:
    """The definitions of a class in all languages, computed when they are used: a class that reads late needs few."""

    def __get__(self, _skill: Skill | None, owner: type[Skill]) -> tuple[SkillDefinition, ...]:
        return definitions_of(owner.intents, owner.locale, owner.lang)


class Skill(ConversationPlugin):
    """Handles the utterances that its `@intent` and `@keywords` methods describe.

    It is announced on the bus when it has started, again whenever an assistant gets ready that has not heard it, and
    withdrawn before it stops; `start` and `stop` are the author's alone and need no `super()`.

    Intents and entities can also be registered, taken back and switched while the skill runs. What is registered lasts
    until the skill stops; with `session`, it holds for that session alone.
    """

    lang: ClassVar[str] = "en-US"
    """The language of samples without one, and of dialogs that exist in no language near the session's."""

    locale_dir: ClassVar[Path | str | None] = None
    """The skill's locale folder; by default `locale` beside the module that defines the class."""

    reads_late: ClassVar[bool] = False
    """Whether its files are read when it starts, and only in the languages the assistant understands.

    For skills in many languages whose files are checked otherwise, as by `hark lint`: a mistake is not reported when
    the class is created.
    """

    intents: ClassVar[Mapping[str, MethodMarks]] = {}
    """What it understands, by intent name; filled from the decorators."""

    locale: Locale = Locale()
    """The files of its locale folder; once it has begun, with the user's files in the place of some."""

    definitions: Sequence[SkillDefinition] = cast("Any", _DefinitionsOnUse())
    """What it registers when it begins."""

    dialogs: Renderer
    """Renders its `.dialog` files."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "locale_dir" not in vars(cls):
            beside = _folder_beside(cls.__module__)
            if beside is not None:
                cls.locale_dir = beside
        cls.intents = intents_of(cls)
        # Read now, because a mistake in a file belongs to loading the skill; the user's files are known at the start.
        cls.locale = _locale(cls.locale_dir, late=cls.reads_late)
        on_use = cast("Any", _DefinitionsOnUse())
        cls.definitions = on_use if cls.reads_late else definitions_of(cls.intents, cls.locale, cls.lang)
        cls.dialogs = Renderer(cls.locale, cls.lang)

    async def begin(self) -> None:
        """Start the skill, then announce what it understands."""
        langs = getattr(self.host, "langs", None) if self.reads_late else None
        if self.reads_late:
            self.definitions = definitions_of(self.intents, self.locale, self.lang, langs, check=False)
        self._read_user_files(langs)
        self._registrations.add(self.definitions)
        await super().begin()
        self.host.on(topics.READY, self._assistant_ready)
        self._registrations.announce()

    async def end(self) -> None:
        """Withdraw what the skill registered, then stop it."""
        self._registrations.withdraw()
        await super().end()

    def say_dialog(
        self,
        name: str,
        values: Mapping[str, Any] | None = None,
        /,
        *,
        session: Session | None = None,
        lang: str | None = None,
        **more: Any,
    ) -> None:
        """Say a dialog outside a turn: in the device's own session unless one is given, in the session's language."""
        wanted = lang or (session.lang if session is not None else None) or self.lang
        rendered = self.dialogs.render(name, wanted, {**(values or {}), **more})
        self.host.speak(rendered.text, session=session, lang=rendered.lang)

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
        """Register samples for an intent, everywhere or in one session. The options are those of `@intent`.

        A method has to handle the intent: mark it with `@intent` or with `@handles`. Without samples, those of the
        decorators are registered: again, after `deregister`, or for a session. Raises `MalformedIntent`, or
        `ValueError` for an intent that the skill does not handle or that has no samples.
        """
        self._check_name(intent_name)
        if samples:
            where = f"register({intent_name!r})"
            mark = read_intent_mark(where, samples, None, lang, required_slots, blacklist, requires, excludes)
            found = list(template_definitions(intent_name, [mark], self.locale, self.lang, handlers_of(self)))
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
        mark = read_keywords_mark(where, required, optional, one_of, excluded, lang, requires, excludes)
        found = keyword_definitions(intent_name, [mark], self.locale, self.lang)
        self._registrations.add(found, _session_id(session))

    def register_entity(
        self, slot: str, *values: str, lang: str | None = None, session: Session | str | None = None
    ) -> None:
        """Register the usual values of a slot, such as the names of the lamps. Other values still match."""
        found = entity_definition(slot, values, self.locale.language(lang or self.lang))
        self._registrations.add([found], _session_id(session))

    def deregister(self, intent_name: str, *, lang: str | None = None, session: Session | str | None = None) -> None:
        """Take an intent back, in one language or in all, everywhere or in one session."""
        self._check_name(intent_name)
        self._registrations.remove(False, intent_name, lang and canonical(lang), _session_id(session))

    def deregister_entity(self, slot: str, *, lang: str | None = None, session: Session | str | None = None) -> None:
        """Take the usual values of a slot back."""
        self._registrations.remove(True, slot, lang and canonical(lang), _session_id(session))

    @cached_property
    def schedules(self) -> Schedules:
        """Calls of the skill's `@scheduled` methods at later times, which survive a restart."""
        return Schedules(self)

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

    def _read_user_files(self, langs: Collection[str] | None) -> None:
        """Let the user's files, kept under the skill's data directory, replace the skill's own."""
        if self.locale.skill is None or not getattr(self.host, "has_data", True):
            return
        try:
            user = self.host.data_dir / "locale"
        except (RuntimeError, OSError):  # this assistant keeps nothing on disk, or cannot
            return
        if not user.is_dir():
            return
        try:
            locale = _locale(self.locale.skill, user, self.reads_late)
            self.definitions = definitions_of(self.intents, locale, self.lang, langs)
        except MalformedIntent as error:  # the skill itself is in order
            self.host.log.error("no file in %s is used until this is fixed: %s", user, error)
            return
        self.locale, self.dialogs = locale, Renderer(locale, self.lang)

    async def _assistant_ready(self, message: Message) -> None:
        # An assistant that got ready may know nothing, so everything is announced again, under the same keys; unless
        # it lists this skill, because it was listening while the skill began.
        if self.id not in message.data.get("heard", ()):
            self._registrations.announce()


def _folder_beside(module: str) -> Path | None:
    """The folder `locale` beside a module, if there is one."""
    file = getattr(sys.modules.get(module), "__file__", None)
    folder = Path(file).parent / "locale" if file else None
    return folder if folder is not None and folder.is_dir() else None


def _locale(skill: Path | str | None, user: Path | None = None, late: bool = False) -> Locale:
    try:
        return Locale(None if skill is None else Path(skill), user=user, late=late)
    except MalformedResource as error:
        raise MalformedIntent(str(error)) from error


def _session_id(session: Session | str | None) -> str:
    if session is None:
        return DEFAULT_SESSION_ID
    return session if isinstance(session, str) else session.session_id
