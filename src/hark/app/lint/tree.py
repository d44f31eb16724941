"""The files of a locale folder, language by language, and what is wrong with their places and names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from hark.app.lint.finding import Code, Finding
from hark.intents.locale import MalformedResource, Resource, Role, language_of, resource_of, role_of

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


def tongues_of(folder: Path, findings: list[Finding]) -> list[Tongue]:
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
            findings.append(Finding(entry, 0, 0, Code.LANGUAGE_TWICE, message, "join the two folders"))
            continue
        found[tag] = Tongue(tag, entry, _files(entry, findings))
    return list(found.values())


def strays(paths: list[Path]) -> Iterator[Finding]:
    """Files with a role that nobody will read."""
    for path in paths:
        yield _misplaced(path, "it is in no locale folder", "move it to locale/<language>/")


def _misplaced(path: Path, why: str, mend: str) -> Finding:
    return Finding(path, 0, 0, Code.MISPLACED, f"nobody reads this file: {why}", mend)


def _language(folder: Path, findings: list[Finding]) -> str | None:
    try:
        tag = language_of(folder)
    except MalformedResource as error:
        mend = "name the folder after its language, such as en-US"
        if "_" in folder.name:
            mend = f"write {folder.name.replace('_', '-')}"
        findings.append(Finding(folder, 0, 0, Code.LANGUAGE_NAME, error.reason, mend))
        return None
    if len(tag.partition("-")[0]) > 3:
        # Allowed by the form of tags, but no language was ever given a name that long.
        message = f"{folder.name!r} is no language tag: those begin with two or three letters"
        findings.append(Finding(folder, 0, 0, Code.LANGUAGE_NAME, message, "write the tag, such as en or en-US"))
        return None
    return tag


def _files(folder: Path, findings: list[Finding]) -> dict[Resource, Path]:
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
            findings.append(Finding(path, 0, 0, Code.FILE_TWICE, message, "rename one, or join them"))
            continue
        resource = _resource(path, findings)
        found.setdefault(resource, path)
        if resource.role is Role.VOCABULARY and path.stem[0].isdigit():
            message = f"no template can refer to <{resource.name}>, because names begin with no digit"
            mend = f"rename it to _{path.name}, or leave it if no template is to refer to it"
            findings.append(Finding(path, 0, 0, Code.UNUSABLE_VOCABULARY_NAME, message, mend))
    return found


def _resource(path: Path, findings: list[Finding]) -> Resource:
    """What a file is known by, or would be if it were named rightly: what is in it is looked at in any case."""
    try:
        resource = resource_of(path)
    except MalformedResource as error:
        plain = path.with_name(_plain_name(path))
        findings.append(Finding(path, 0, 0, Code.FILE_NAME, error.reason, f"rename it to {plain.name}"))
        resource = resource_of(plain)
    assert resource is not None  # noqa: S101 - it has a role
    return resource


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__")))
        yield from (Path(parent, name) for name in sorted(names) if not name.startswith("."))


def _unknown(path: Path) -> Finding:
    suffix = path.suffix or "no extension"
    near = get_close_matches(path.suffix.lower(), [role.value for role in Role], 1)
    mend = f"rename it to {path.stem}{near[0]}" if near else f"the extensions are {_ROLES}"
    return Finding(path, 0, 0, Code.UNKNOWN_ROLE, f"nobody reads this file: {suffix} is no role", mend)


def _plain_name(path: Path) -> str:
    """The name of a file as the rules want it."""
    stem = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in path.stem.lower()).strip("_")
    return f"{'_' if stem[:1].isdigit() else ''}{stem or 'name'}{path.suffix.lower()}"
