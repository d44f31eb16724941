"""Where to look: the locale folders below what was named, and files that lie beside them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hark.app.trouble import Trouble
from hark.intents.locale import role_of
from hark.model.lang import is_tag

LOCALE: Final = "locale"
_SKIPPED: Final = frozenset({"__pycache__", "node_modules", "build", "dist", "venv", "site-packages"})


@dataclass(slots=True)
class Places:
    """What there is to look over."""

    folders: dict[Path, None] = field(default_factory=dict)
    """Locale folders, in order."""
    strays: list[Path] = field(default_factory=list)
    """Files with a role that are in no locale folder."""
    named: list[Path] = field(default_factory=list)
    """What the user named: to judge one file the others are needed, but only what was named is told."""

    def covers(self, path: Path) -> bool:
        """Whether what is found there is to be told."""
        return any(path == one or one in path.parents for one in self.named)


def find(paths: list[Path]) -> Places:
    """The locale folders of skills, or of folders full of skills; raises `Trouble` when there is nothing to look at."""
    places = Places()
    for path in paths:
        if path.is_file():
            if not _add_part(path, places):
                if role_of(path) is None:
                    raise Trouble(f"{path}: this is no file of a locale folder")
                places.strays.append(path)
                places.named.append(path)
        elif path.is_dir():
            _add_folder(path, places)
        else:
            raise Trouble(f"{path}: there is no such file or folder")
    return places


def _add_part(path: Path, places: Places) -> bool:
    """Add the locale folder that holds a file or a language; false when there is none."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - takes ".." out, and leaves links alone
    above = next((parent for parent in whole.parents if parent.name == LOCALE), None)
    if above is None:
        return False
    # As the user wrote it, if that can be.
    given = next((parent for parent in path.parents if parent.name == LOCALE), None)
    places.folders[given or above] = None
    places.named.append(path if given is not None else whole)
    return True


def _add_folder(path: Path, places: Places) -> None:
    if path.name == LOCALE or path.absolute().name == LOCALE:
        places.folders[path] = None
        places.named.append(path)
        return
    folders, strays = _below(path)
    if not folders and _add_part(path, places):
        return
    if not folders and strays and any(is_tag(entry.name) and entry.is_dir() for entry in path.iterdir()):
        folders, strays = [path], []  # a locale folder by another name, as among a user's overrides
    if not folders and not strays:
        raise Trouble(f"{path}: there is no folder called {LOCALE!r} in it, so there is nothing to look over")
    places.folders.update(dict.fromkeys(folders))
    places.strays += strays
    places.named.append(path)


def _below(path: Path) -> tuple[list[Path], list[Path]]:
    """The locale folders in a folder, and files with a role that are in none."""
    found: list[Path] = []
    strays: list[Path] = []
    for parent, folders, names in os.walk(path):
        if LOCALE in folders:
            folders.remove(LOCALE)
            if _holds_languages(Path(parent, LOCALE)):
                found.append(Path(parent, LOCALE))
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        strays += [Path(parent, name) for name in sorted(names) if role_of(name) is not None]
    return found, strays


def _holds_languages(folder: Path) -> bool:
    """Whether it is more than a Python package that happens to be called so."""
    entries = list(folder.iterdir())
    return all(entry.name != "__init__.py" for entry in entries) or any(
        entry.is_dir() and not entry.name.startswith("__") for entry in entries
    )
