"""Everything a skill says and understands, in every language (INTENT-2 §2)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from hark.intents.locale.errors import MissingResource
from hark.intents.locale.folder import Folder
from hark.intents.locale.language import Language
from hark.intents.locale.nearest import nearest
from hark.intents.locale.roles import Resource, Role
from hark.model.lang import canonical


class Locale:
    """The `locale` folders of a skill: the user's ahead of the skill's own, ahead of what comes with the assistant.

    The first folder that has a file in a language has the whole of it; lines are never mixed. File names are looked
    through here, files are read when they are asked for; after that nothing changes. A folder that is not there is an
    empty one. Raises `MalformedResource` where a folder breaks a rule.
    """

    def __init__(
        self,
        skill: Path | None = None,
        *,
        user: Path | None = None,
        core: Path | None = None,
        near: bool = True,
        late: bool = False,
    ) -> None:
        self.skill, self.user, self.core = skill, user, core
        self.near = near
        """Whether a language that is missing may be replaced by a near one."""
        self.late = late
        """Whether a language is looked through when it is asked for, not all of them now."""
        self._folders = [Folder(path, late=late) for path in (user, skill, core) if path is not None]
        own = [tag for folder in self._folders if folder.path != core for tag in folder.languages]
        self.languages = tuple(dict.fromkeys(own))
        """The languages of the skill and of its user, in the usual case."""
        self._tags = tuple(dict.fromkeys(tag for folder in self._folders for tag in folder.languages))
        self._languages: dict[str, Language] = {}
        # Asked for with every response, and always answered the same.
        self._found = lru_cache(maxsize=1024)(self._find)

    def language(self, lang: str) -> Language:
        """What there is in exactly this language; the tag may be in any case."""
        tag = canonical(lang)
        found = self._languages.get(tag)
        if found is None:
            files: dict[Resource, Path] = {}
            for folder in reversed(self._folders):
                files.update(folder.files(tag))
            found = self._languages[tag] = Language(tag, files)
        return found

    def find(self, role: Role, name: str, lang: str) -> Language:
        """The language to take a resource from: `lang` when it is there in any folder, else the nearest that has it.

        Raises `MissingResource` when there is none.
        """
        return self._found(role, name, lang)

    def reload(self) -> Locale:
        """The same folders as they are now."""
        return Locale(self.skill, user=self.user, core=self.core, near=self.near, late=self.late)

    def _find(self, role: Role, name: str, lang: str) -> Language:
        for tag in nearest(lang, self._tags) if self.near else (lang,):
            language = self.language(tag)
            if language.has(role, name):
                return language
        others = [tag for tag in self._tags if self.language(tag).has(role, name)]
        there = f"there is one in: {', '.join(others)}" if others else f"looked in {self._places()}"
        raise MissingResource(f"there is no {Resource(role, name)} for {lang}; {there}")

    def _places(self) -> str:
        return ", ".join(str(folder.path) for folder in self._folders) or "no folder: the skill has none"
