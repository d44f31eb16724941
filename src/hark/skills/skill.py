"""What a skill is: intents, and the methods that handle them."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar

from hark.intents.locale import Locale, MalformedResource, Renderer
from hark.model import Message, Session
from hark.skills.decorators import MalformedIntent, intents_of
from hark.skills.definitions import SkillDefinition, definitions_of
from hark.skills.registrations import Registering
from hark.spec import topics


class Skill(Registering):
    """Answers what its `@intent` and `@keywords` methods say it understands.

    It is announced on the bus when it has started, again whenever an assistant gets ready that has not heard it, and
    withdrawn before it stops; `start` and `stop` are the author's alone and need no `super()`.
    """

    locale_dir: ClassVar[Path | str | None] = None
    """The skill's locale folder; unless it is given, `locale` beside the module that defines the class."""

    reads_late: ClassVar[bool] = False
    """Whether its files are read when it begins, and only in the languages the assistant understands.

    For skills in many languages whose files something else checks, such as `hark lint`: a mistake is not reported when
    the class is made. Everybody else is told at once.
    """

    dialogs: Renderer
    """Says what is in its `.dialog` files."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "locale_dir" not in vars(cls):
            beside = _beside(cls.__module__)
            if beside is not None:
                cls.locale_dir = beside
        cls.intents = intents_of(cls)
        # Read now, because a mistake in a file belongs to loading the skill; the user's files are known at the start.
        cls.locale = _locale(cls.locale_dir, late=cls.reads_late)
        late: Any = _All()
        cls.definitions = late if cls.reads_late else definitions_of(cls.intents, cls.locale, cls.lang)
        cls.dialogs = Renderer(cls.locale, cls.lang)

    async def begin(self) -> None:
        """As promised by `Plugin`; then announces what the skill understands."""
        langs = getattr(self.host, "langs", None) if self.reads_late else None
        if self.reads_late:
            self.definitions = definitions_of(self.intents, self.locale, self.lang, langs, check=False)
        self._read_users_files(langs)
        self._registrations.add(self.definitions)
        await super().begin()
        self.host.on(topics.READY, self._ready)
        self._registrations.announce()

    async def end(self) -> None:
        """As promised by `Plugin`; before that, nobody is to match this skill any more."""
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
        """Say a dialog outside a turn, to the device's own session unless told otherwise, in the session's language."""
        wanted = lang or (session.lang if session is not None else None) or self.lang
        rendered = self.dialogs.render(name, wanted, {**(values or {}), **more})
        self.host.speak(rendered.text, session=session, lang=rendered.lang)

    def _read_users_files(self, langs: Collection[str] | None) -> None:
        """Put what the user keeps under the skill's data directory in the place of the skill's own files."""
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
            self.host.log.error("nothing in %s is used until this is mended: %s", user, error)
            return
        self.locale, self.dialogs = locale, Renderer(locale, self.lang)

    async def _ready(self, message: Message) -> None:
        # Whoever got ready may have forgotten everything, so all of it is said again, under the same keys. But a house
        # that opens has listened while its own skills began.
        if self.id not in message.data.get("heard", ()):
            self._registrations.announce()


class _All:
    """Stands for the definitions in all languages of a class that reads late, until somebody looks at them."""

    def __get__(self, _skill: Skill | None, owner: type[Skill]) -> tuple[SkillDefinition, ...]:
        return definitions_of(owner.intents, owner.locale, owner.lang)


def _beside(module: str) -> Path | None:
    """The folder `locale` beside a module, if there is one."""
    file = getattr(sys.modules.get(module), "__file__", None)
    folder = Path(file).parent / "locale" if file else None
    return folder if folder is not None and folder.is_dir() else None


def _locale(skill: Path | str | None, user: Path | None = None, late: bool = False) -> Locale:
    try:
        return Locale(None if skill is None else Path(skill), user=user, late=late)
    except MalformedResource as error:
        raise MalformedIntent(str(error)) from error
