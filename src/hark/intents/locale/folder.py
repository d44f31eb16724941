"""What one locale folder holds: `<folder>/<language>/.../<name>.<role>` (INTENT-2 §2)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from hark.intents.locale.files import MalformedResource, Resource, resource_of, role_of
from hark.model.lang import canonical, is_tag

Found = Mapping[Resource, Path]
"""The files of one language."""


class Folder:
    """One `locale` folder, looked through once: at the beginning or, `late`, each language when it is asked for.

    Nothing is read but names. Raises `MalformedResource` when the folder breaks a rule: a language twice, a folder
    that is no language, a file twice, a file name that is none.
    """

    def __init__(self, path: Path, *, late: bool = False) -> None:
        self.path = path
        languages: dict[str, Path] = {}
        for entry in _subfolders(path):
            tag = language_of(entry)
            if tag in languages:
                raise MalformedResource(f"{languages[tag].name} is the same language; join the two folders", entry)
            languages[tag] = entry
        self.languages: Mapping[str, Path] = MappingProxyType(languages)
        """The folder of each language, by its tag in the usual case."""
        self._files = {} if late else {tag: _files(folder) for tag, folder in languages.items()}

    def files(self, lang: str) -> Found:
        """What there is in a language, given in the usual case: nothing when it has no folder."""
        if lang not in self._files and lang in self.languages:
            self._files[lang] = _files(self.languages[lang])
        return self._files.get(lang, _NOTHING)


def language_of(folder: Path) -> str:
    """The language a folder is named after, in the usual case; raises `MalformedResource`."""
    if not is_tag(folder.name):
        raise MalformedResource(f"{folder.name!r} is no language tag such as 'en-US'", folder)
    return canonical(folder.name)


def _subfolders(path: Path) -> list[Path]:
    try:
        entries = sorted(path.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise MalformedResource(f"the folder cannot be read: {error.strerror}", path) from None
    # What begins with these is kept there by tools, such as .git and __pycache__.
    folders = [entry for entry in entries if not entry.name.startswith((".", "_")) and entry.is_dir()]
    # Others keep their translations in a folder of this name too, with names like en_US: those are not ours.
    return [folder for folder in folders if is_tag(folder.name) or any(map(role_of, _walk(folder)))]


def _files(folder: Path) -> Found:
    found: dict[Resource, Path] = {}
    for path in _walk(folder):
        resource = resource_of(path)
        if resource is None:
            continue
        if resource in found:
            other = found[resource].relative_to(folder)
            raise MalformedResource(f"{other} has the same name; the folders between do not tell them apart", path)
        found[resource] = path
    return MappingProxyType(found)


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            yield Path(parent, name)


_NOTHING: Found = MappingProxyType({})
