"""All texts of a skill in every language: what users may say and what the skill says (INTENT-2 §2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from sys import intern
from typing import Final

from hark.intents.grammar import MAX_COMPARED, MAX_SENTENCES, Direction, Template, TemplateError, Vocabularies, parse
from hark.intents.locale.files import Line, MalformedResource, MissingResource, Resource, Role, read_lines, read_text
from hark.intents.locale.folder import Folder, Found
from hark.intents.locale.nearest import nearest
from hark.intents.text import words
from hark.model.lang import canonical

_REFERENCE: Final = re.compile(r"<(\w+)>")


def inlined(template: str, members: Callable[[str], Sequence[str]]) -> str:
    """A well-formed `template` with every `<name>` replaced by a group of the templates `members` has for it.

    The result stands for the same sentences and is hardly longer, which expanding would not achieve.
    """

    def group(reference: re.Match[str]) -> str:
        texts = [inlined(text, members) for text in members(reference[1])]
        # A group of one branch would cause a warning.
        return texts[0] if len(texts) == 1 else f"({'|'.join(texts)})"

    return _REFERENCE.sub(group, template)


class Language:
    """Every resource of one language, from all folders. It is read on first use and does not change.

    What it reads raises `MalformedResource` with file, line and column, or `MissingResource`.
    """

    def __init__(self, tag: str, files: Found) -> None:
        self.tag = tag
        """The language, in the usual case."""
        self.files = files
        """The file of each resource."""
        self._lines: dict[Resource, tuple[Line, ...]] = {}
        self._templates: dict[Resource, tuple[Template, ...]] = {}

    def has(self, role: Role, name: str) -> bool:
        """Whether there is a file for a resource."""
        return Resource(role, name) in self.files

    def path(self, role: Role, name: str) -> Path:
        """The file of a resource."""
        resource = Resource(role, name)
        file = self.files.get(resource)
        if file is None:
            raise MissingResource(f"there is no {resource} in {self.tag}")
        return Path(file)

    def names(self, role: Role) -> tuple[str, ...]:
        """The names of all files with a role, in order."""
        return tuple(sorted(resource.name for resource in self.files if resource.role is role))

    def lines(self, role: Role, name: str) -> tuple[Line, ...]:
        """The lines of a file with templates; a file without any is malformed."""
        resource = Resource(role, name)
        if resource not in self._lines:
            path = self.path(role, name)
            lines = tuple(read_lines(path))
            if not lines:
                raise MalformedResource("the file is empty: it needs one template at least", path)
            self._lines[resource] = lines
        return self._lines[resource]

    def templates(self, role: Role, name: str) -> tuple[Template, ...]:
        """The templates of a file, parsed and checked with the vocabularies they refer to, but not expanded."""
        resource = Resource(role, name)
        if resource not in self._templates:
            templates = tuple(self._template(role, name, line) for line in self.lines(role, name))
            if role is Role.DIALOG:
                self._check_slots(name, templates)
            self._templates[resource] = templates
        return self._templates[resource]

    def samples(self, role: Role, name: str) -> tuple[str, ...]:
        """Every sentence the file's templates stand for, once; slots as `{name}`."""
        found: dict[str, None] = {}
        for template in self.templates(role, name):
            found.update(dict.fromkeys(template.samples(self.vocabularies)))
        return tuple(found)

    def inlined(self, role: Role, name: str) -> tuple[str, ...]:
        """The templates of a file as a registration carries them: every `<name>` replaced by what it stands for."""
        return tuple(self.inline(template.text) for template in self.templates(role, name))

    def inline(self, template: str) -> str:
        """A template that is in no file, in that form; it has to be checked with `vocabularies` before."""
        return inlined(template, self._members)

    def prompt(self, name: str) -> str:
        """A prompt, as it is written; one with nothing but white space is malformed."""
        path = self.path(Role.PROMPT, name)
        text = read_text(path)
        if not text.strip():
            raise MalformedResource("the prompt is empty", path)
        return text

    @cached_property
    def vocabularies(self) -> Vocabularies:
        """The vocabularies of this language: what `<name>` stands for."""
        return Vocabularies(lambda name: self._members(name) if self.has(Role.VOCABULARY, name) else None)

    def forget(self) -> None:
        """Forget what was read; what is used again is read again.

        Parsed templates are large, and what users may say is not used again once it is registered.
        """
        self._lines.clear()
        self._templates.clear()
        self.__dict__.pop("vocabularies", None)

    def check(self) -> None:
        """Read all files, for the errors that raises."""
        # Vocabularies first: a mistake in one is reported for its own file, not for those that refer to it.
        for resource in sorted(self.files, key=lambda one: (one.role is not Role.VOCABULARY, *map(str, one))):
            if resource.role.has_lines:
                self.templates(*resource)
            else:
                self.prompt(resource.name)

    def _members(self, name: str) -> tuple[str, ...]:
        return tuple(line.text for line in self.lines(Role.VOCABULARY, name))

    def _template(self, role: Role, name: str, line: Line) -> Template:
        direction = Direction.OUTPUT if role.is_spoken else Direction.INPUT
        try:
            template = parse(line.text, direction=direction, slots=role.has_slots)
            # Checks; sentences are made only when they are iterated, and those of an intent never.
            template.samples(self.vocabularies, MAX_COMPARED if role is Role.INTENT else MAX_SENTENCES)
        except TemplateError as error:
            column = line.column + error.position
            raise MalformedResource(error.reason, self.path(role, name), line.number, column) from None
        return template

    def _check_slots(self, name: str, templates: tuple[Template, ...]) -> None:
        """The phrases of one dialog are rendered with the same values, so they have to have the same slots."""
        first = templates[0].slots
        for line, template in zip(self.lines(Role.DIALOG, name), templates, strict=True):
            if set(template.slots) != set(first):
                has, wants = _listed(template.slots), _listed(first)
                reason = (
                    f"this phrase has {has}, the first one has {wants}; all phrases of a dialog have the same slots"
                )
                raise MalformedResource(reason, self.path(Role.DIALOG, name), line.number, line.column)


def _listed(slots: Iterable[str]) -> str:
    return ", ".join(f"{{{slot}}}" for slot in slots) or "no slots"


class Locale:
    """The `locale` folders of a skill: the user's before the skill's own, before what comes with the assistant.

    The first folder that has a file in a language provides the whole file; lines are never mixed. Folders are searched
    here, files are read on first use; after that nothing changes. A folder that does not exist counts as empty. Raises
    `MalformedResource` where a folder breaks a rule.
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
        """Whether a missing language may be replaced by a near one."""
        self.late = late
        """Whether the folder of a language is searched on first use."""
        self._folders = [Folder(path, late=late) for path in (user, skill, core) if path is not None]
        own = [tag for folder in self._folders if folder.path != core for tag in folder.languages]
        self.languages = tuple(dict.fromkeys(own))
        """The languages of the skill and of its user, in the usual case."""
        self._tags = tuple(dict.fromkeys(tag for folder in self._folders for tag in folder.languages))
        self._languages: dict[str, Language] = {}
        # Used for every response, with always the same result.
        self._found = lru_cache(maxsize=1024)(self._find)
        self._phrases = lru_cache(maxsize=1024)(self._read_phrases)

    def language(self, lang: str) -> Language:
        """The resources of exactly this language; the tag may be in any case."""
        tag = canonical(lang)
        found = self._languages.get(tag)
        if found is None:
            having = [files for folder in reversed(self._folders) if (files := folder.files(tag))]
            joined = having[0] if len(having) == 1 else {name: file for files in having for name, file in files.items()}
            found = self._languages[tag] = Language(tag, joined)
        return found

    def find(self, role: Role, name: str, lang: str) -> Language:
        """The language to take a resource from: `lang` if any folder has it, else the nearest that has it.

        Raises `MissingResource` when there is none.
        """
        return self._found(role, name, lang)

    def phrases(self, name: str, lang: str) -> frozenset[tuple[str, ...]]:
        """The phrases of a vocabulary, in `lang` or the nearest language that has it, as words for comparison.

        Raises `MissingResource` or `MalformedResource`.
        """
        return self._phrases(name, lang)

    def reload(self) -> Locale:
        """The same folders, read again."""
        return Locale(self.skill, user=self.user, core=self.core, near=self.near, late=self.late)

    def _read_phrases(self, name: str, lang: str) -> frozenset[tuple[str, ...]]:
        language = self.find(Role.VOCABULARY, name, lang)
        samples = language.samples(Role.VOCABULARY, name)
        language.forget()
        return frozenset(tuple(map(intern, words(sample, lang))) for sample in samples)

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
