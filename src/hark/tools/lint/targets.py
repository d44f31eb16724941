"""What to check: the locale folders below the given paths, their languages, and files in the wrong place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from hark.errors import UserError
from hark.intents.locale import MalformedResource, Resource, Role, language_of, resource_of, role_of
from hark.model.lang import is_tag
from hark.tools.lint.report import LintCode, LintFinding

LOCALE: Final = "locale"
_SKIPPED: Final = frozenset({"__pycache__", "node_modules", "build", "dist", "venv", "site-packages"})


@dataclass(slots=True)
class LintTargets:
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


def find(paths: list[Path]) -> LintTargets:
    """The locale folders of skills, or of folders full of skills; raises `UserError` when there is nothing to look at."""
    places = LintTargets()
    for path in paths:
        if path.is_file():
            if not _add_part(path, places):
                if role_of(path) is None:
                    raise UserError(f"{path}: this is no file of a locale folder")
                places.strays.append(path)
                places.named.append(path)
        elif path.is_dir():
            _add_folder(path, places)
        else:
            raise UserError(f"{path}: there is no such file or folder")
    return places


def _add_part(path: Path, places: LintTargets) -> bool:
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


def _add_folder(path: Path, places: LintTargets) -> None:
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
        raise UserError(f"{path}: there is no folder called {LOCALE!r} in it, so there is nothing to look over")
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


_ROLES: Final = ", ".join(role.value for role in Role)
_BESIDE: Final = frozenset(
    {".json", ".license", ".md", ".mo", ".po", ".pot", ".py", ".pyc", ".rst", ".toml", ".yaml", ".yml"}
)
"""Files that are obviously something else."""


@dataclass(slots=True)
class Tongue:
    """One language of a skill."""

    tag: str
    path: Path
    files: dict[Resource, Path] = field(default_factory=dict)


def tongues_of(folder: Path, findings: list[LintFinding]) -> list[Tongue]:
    """The languages of a locale folder, with the files that can be used."""
    found: dict[str, Tongue] = {}
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "__")):
            continue
        if not entry.is_dir():
            if role_of(entry) is not None:
                findings.append(
                    _misplaced(entry, "it belongs to no language", "move it into the folder of its language")
                )
            continue
        tag = _language(entry, findings)
        if tag is None:
            continue
        if tag in found:
            message = f"{found[tag].path.name} is the same language"
            findings.append(LintFinding(entry, 0, 0, LintCode.LANGUAGE_TWICE, message, "join the two folders"))
            continue
        found[tag] = Tongue(tag, entry, _files(entry, findings))
    return list(found.values())


def strays(paths: list[Path]) -> Iterator[LintFinding]:
    """Files with a role that nobody will read."""
    for path in paths:
        yield _misplaced(path, "it is in no locale folder", "move it to locale/<language>/")


def _misplaced(path: Path, why: str, mend: str) -> LintFinding:
    return LintFinding(path, 0, 0, LintCode.MISPLACED, f"nobody reads this file: {why}", mend)


def _language(folder: Path, findings: list[LintFinding]) -> str | None:
    try:
        tag = language_of(folder)
    except MalformedResource as error:
        mend = "name the folder after its language, such as en-US"
        if "_" in folder.name:
            mend = f"write {folder.name.replace('_', '-')}"
        findings.append(LintFinding(folder, 0, 0, LintCode.LANGUAGE_NAME, error.reason, mend))
        return None
    if len(tag.partition("-")[0]) > 3:
        # Allowed by the form of tags, but no language was ever given a name that long.
        message = f"{folder.name!r} is no language tag: those begin with two or three letters"
        findings.append(
            LintFinding(folder, 0, 0, LintCode.LANGUAGE_NAME, message, "write the tag, such as en or en-US")
        )
        return None
    return tag


def _files(folder: Path, findings: list[LintFinding]) -> dict[Resource, Path]:
    found: dict[Resource, Path] = {}
    names: dict[str, Path] = {}
    for path in _walk(folder):
        if role_of(path) is None:
            if path.suffix.lower() not in _BESIDE:
                findings.append(_unknown(path))
            continue
        # On some systems names that differ by case are one file, so for us they always are.
        other = names.setdefault(path.name.casefold(), path)
        if other is not path:
            same = "has the same name" if other.name == path.name else "has the same name but for its case"
            message = f"{other.relative_to(folder)} {same}; the folders between do not tell them apart"
            findings.append(LintFinding(path, 0, 0, LintCode.FILE_TWICE, message, "rename one, or join them"))
            continue
        resource = _resource(path, findings)
        found.setdefault(resource, path)
        if resource.role is Role.VOCABULARY and path.stem[0].isdigit():
            message = f"no template can refer to <{resource.name}>, because names begin with no digit"
            mend = f"rename it to _{path.name}, or leave it if no template is to refer to it"
            findings.append(LintFinding(path, 0, 0, LintCode.UNUSABLE_VOCABULARY_NAME, message, mend))
    return found


def _resource(path: Path, findings: list[LintFinding]) -> Resource:
    """What a file is known by, or would be if it were named rightly: what is in it is looked at in any case."""
    try:
        resource = resource_of(path)
    except MalformedResource as error:
        plain = path.with_name(_plain_name(path))
        findings.append(LintFinding(path, 0, 0, LintCode.FILE_NAME, error.reason, f"rename it to {plain.name}"))
        resource = resource_of(plain)
    assert resource is not None  # noqa: S101 - it has a role
    return resource


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        yield from (Path(parent, name) for name in sorted(names) if not name.startswith("."))


def _unknown(path: Path) -> LintFinding:
    suffix = path.suffix or "no extension"
    near = get_close_matches(path.suffix.lower(), [role.value for role in Role], 1)
    mend = f"rename it to {path.stem}{near[0]}" if near else f"the extensions are {_ROLES}"
    return LintFinding(path, 0, 0, LintCode.UNKNOWN_ROLE, f"nobody reads this file: {suffix} is no role", mend)


def _plain_name(path: Path) -> str:
    """The name of a file as the rules want it."""
    stem = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in path.stem.lower()).strip("_")
    return f"{'_' if stem[:1].isdigit() else ''}{stem or 'name'}{path.suffix.lower()}"
