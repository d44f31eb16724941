"""What a locale has in one language, read when it is asked for and kept."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from hark.intents.grammar import Direction, Template, TemplateError, Vocabularies, parse
from hark.intents.locale.errors import MalformedResource, MissingResource
from hark.intents.locale.files import Line, read_lines, read_text
from hark.intents.locale.folder import Found
from hark.intents.locale.references import inlined
from hark.intents.locale.roles import Resource, Role


class Language:
    """Every resource of one language, whichever folder it comes from. It does not change; make a new one for that.

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
        """Whether there is such a file."""
        return Resource(role, name) in self.files

    def path(self, role: Role, name: str) -> Path:
        """The file."""
        resource = Resource(role, name)
        path = self.files.get(resource)
        if path is None:
            raise MissingResource(f"there is no {resource} in {self.tag}")
        return path

    def names(self, role: Role) -> tuple[str, ...]:
        """The names of all files with a role, in order."""
        return tuple(sorted(resource.name for resource in self.files if resource.role is role))

    def lines(self, role: Role, name: str) -> tuple[Line, ...]:
        """The templates of a file as they are written; a file without any is malformed."""
        resource = Resource(role, name)
        if resource not in self._lines:
            path = self.path(role, name)
            lines = tuple(read_lines(path))
            if not lines:
                raise MalformedResource("the file is empty: it needs one template at least", path)
            self._lines[resource] = lines
        return self._lines[resource]

    def templates(self, role: Role, name: str) -> tuple[Template, ...]:
        """The templates of a file, read and checked with the vocabularies they refer to, but not expanded."""
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
        """A template from elsewhere, which was checked with `vocabularies`, in that form."""
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
        """What `<name>` stands for in this language."""
        return Vocabularies(lambda name: self._members(name) if self.has(Role.VOCABULARY, name) else None)

    def check(self) -> None:
        """Read everything there is, for what it raises."""
        # Vocabularies first: what is wrong with one is told of its own file, not of those that refer to it.
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
            template.samples(self.vocabularies)  # checks, and expands only when somebody goes through them
        except TemplateError as error:
            column = line.column + error.position
            raise MalformedResource(error.reason, self.path(role, name), line.number, column) from None
        return template

    def _check_slots(self, name: str, templates: tuple[Template, ...]) -> None:
        """Phrases of one dialog are called with the same values, so they have the same slots."""
        first = templates[0].slots
        for line, template in zip(self.lines(Role.DIALOG, name), templates, strict=True):
            if set(template.slots) != set(first):
                has, wants = _told(template.slots), _told(first)
                reason = (
                    f"this phrase has {has}, the first one has {wants}; all phrases of a dialog have the same slots"
                )
                raise MalformedResource(reason, self.path(Role.DIALOG, name), line.number, line.column)


def _told(slots: Iterable[str]) -> str:
    return ", ".join(f"{{{slot}}}" for slot in slots) or "no slots"
