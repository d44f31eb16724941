"""What one locale folder holds: `<folder>/<language>/.../<name>.<role>` (INTENT-2 §2)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from hark.intents.locale.files import MalformedResource, Resource, resource_of, role_of
from hark.model.lang import canonical, is_tag

Found = Mapping[Resource, str]
"""The files of one language, as text: a `Path` is four times as large, and most are never opened."""


class Rule(Enum):
    """The rules a locale folder can break."""

    LANGUAGE_NAME = auto()
    """A folder with resource files is named by a language tag."""
    LANGUAGE_TWICE = auto()
    """A language has one folder, whatever the case of its name."""
    FILE_NAME = auto()
    """A resource file is named as INTENT-2 §2 says."""
    FILE_TWICE = auto()
    """A name exists once for each role in a language, whatever its case and subfolder."""


class Violation(NamedTuple):
    """A file or folder that breaks a rule; it is not among the files or languages found."""

    rule: Rule
    path: Path
    reason: str


class LanguageFolder:
    """The folder of one language. It is searched when `files`, `others` or `violations` is first used.

    Names of subfolders mean nothing (INTENT-2 §2), so files in `__old/` count like all others; only hidden files and
    folders, whose names begin with a dot, are left out.
    """

    def __init__(self, tag: str, path: Path) -> None:
        self.tag = tag
        """The language, in the usual case."""
        self.path = path

    @property
    def found(self) -> Found:
        """The file of each resource, as text."""
        return self._content[0]

    @property
    def files(self) -> Mapping[Resource, Path]:
        """The file of each resource."""
        return {resource: Path(file) for resource, file in self.found.items()}

    @property
    def others(self) -> tuple[Path, ...]:
        """Files with an extension that is no role."""
        return self._content[1]

    @property
    def violations(self) -> tuple[Violation, ...]:
        """What breaks a rule in here, in the order of the paths."""
        return self._content[2]

    @cached_property
    def _content(self) -> tuple[Found, tuple[Path, ...], tuple[Violation, ...]]:
        files: dict[Resource, str] = {}
        others: list[Path] = []
        violations: list[Violation] = []
        names: dict[str, Path] = {}
        for path in _walk(self.path):
            name = path.name
            if role_of(name) is None:
                others.append(path)
                continue
            # On some systems names that differ by case are one file, so they are everywhere.
            other = names.setdefault(name.casefold(), path)
            if other is not path:
                same = "has the same name" if other.name == path.name else "has the same name but for its case"
                reason = f"{other.relative_to(self.path)} {same}; subfolders do not distinguish files"
                violations.append(Violation(Rule.FILE_TWICE, path, reason))
                continue
            try:
                resource = resource_of(path)
            except MalformedResource as error:
                violations.append(Violation(Rule.FILE_NAME, path, error.reason))
                continue
            if resource is not None:
                files[resource] = str(path)
        return MappingProxyType(files), tuple(others), tuple(violations)


class LocaleScan(NamedTuple):
    """What was found in a locale folder."""

    languages: Mapping[str, LanguageFolder]
    """The folder of each language, by its tag in the usual case."""
    violations: tuple[Violation, ...]
    """Folders that break a rule; violations within a language are in its `LanguageFolder`."""
    unread: tuple[Path, ...]
    """Resource files that belong to no language, and folders with resource files that were set aside: `_drafts/`."""


def scan(folder: Path) -> LocaleScan:
    """List the languages of a locale folder, and what is wrong with them; a folder that does not exist has none.

    This is the one reading of locale folders, for the loader, the linter and the converter. Only names are read.
    No language tag begins with `_`, so a folder that does was set aside and is never read; neither are hidden files
    and folders. A folder that is no language and holds no resource file, as gettext's `en_US/`, is passed over.
    Raises `MalformedResource` when the folder cannot be listed.
    """
    languages: dict[str, LanguageFolder] = {}
    violations: list[Violation] = []
    unread: list[Path] = []
    for entry in _entries(folder):
        if not entry.is_dir():
            if role_of(entry) is not None:
                unread.append(entry)
            continue
        if entry.name.startswith("_"):
            if _has_resources(entry):
                unread.append(entry)
            continue
        try:
            tag = language_of(entry)
        except MalformedResource as error:
            if _has_resources(entry):
                violations.append(Violation(Rule.LANGUAGE_NAME, entry, error.reason))
            continue
        if tag in languages:
            reason = f"{languages[tag].path.name} is the same language; join the two folders"
            violations.append(Violation(Rule.LANGUAGE_TWICE, entry, reason))
        else:
            languages[tag] = LanguageFolder(tag, entry)
    return LocaleScan(MappingProxyType(languages), tuple(violations), tuple(unread))


class Folder:
    """One `locale` folder as the assistant loads it: searched at once or, with `late`, each language on first use.

    Raises `MalformedResource` where the folder breaks a rule.
    """

    def __init__(self, path: Path, *, late: bool = False) -> None:
        self.path = path
        found = scan(path)
        _check(found.violations)
        self._languages = found.languages
        self.languages: Mapping[str, Path] = MappingProxyType({tag: one.path for tag, one in found.languages.items()})
        """The folder of each language, by its tag in the usual case."""
        if not late:
            for tag in self.languages:
                self.files(tag)

    def files(self, lang: str) -> Found:
        """The files of a language, given in the usual case; none when it has no folder."""
        language = self._languages.get(lang)
        if language is None:
            return _NO_FILES
        _check(language.violations)
        return language.found


def language_of(folder: Path) -> str:
    """The language a folder is named after, in the usual case; raises `MalformedResource`."""
    # The form of tags allows for names of five to eight letters, but no language was ever registered with one.
    if not is_tag(folder.name) or len(folder.name.partition("-")[0]) > 3:
        raise MalformedResource(f"{folder.name!r} is no language tag such as 'en-US'", folder)
    return canonical(folder.name)


def _check(violations: tuple[Violation, ...]) -> None:
    if violations:
        raise MalformedResource(violations[0].reason, violations[0].path)


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise MalformedResource(f"the folder cannot be read: {error.strerror}", folder) from None


def _has_resources(folder: Path) -> bool:
    return any(role_of(path) is not None for path in _walk(folder))


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        here = Path(parent)
        yield from (here / name for name in sorted(names) if not name.startswith("."))


_NO_FILES: Found = MappingProxyType({})
