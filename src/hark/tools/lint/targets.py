"""What to check: the locale folders below the given paths, their languages, and files in the wrong place."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from hark.errors import UserError
from hark.intents.locale import (
    LanguageFolder,
    MalformedResource,
    Resource,
    Role,
    Rule,
    Violation,
    resource_of,
    role_of,
    scan,
)
from hark.model.lang import is_tag
from hark.tools.lint.report import LintCode, LintFinding

LOCALE: Final = "locale"
_SKIPPED: Final = frozenset({"__pycache__", "node_modules", "build", "dist", "venv", "site-packages"})
_ROLES: Final = ", ".join(role.value for role in Role)
_NOT_RESOURCES: Final = frozenset(
    {".json", ".license", ".md", ".mo", ".po", ".pot", ".py", ".pyc", ".rst", ".toml", ".yaml", ".yml"}
)
"""Extensions of files that clearly are something else."""


@dataclass(slots=True)
class LintTargets:
    folders: dict[Path, None] = field(default_factory=dict)
    """Locale folders, in order."""
    strays: list[Path] = field(default_factory=list)
    """Resource files that are in no locale folder."""
    named: list[Path] = field(default_factory=list)
    """Paths the user named: other files are read to check these, but only findings on these are reported."""

    def covers(self, path: Path) -> bool:
        """Whether findings on this path are reported."""
        return any(path == one or one in path.parents for one in self.named)


def find_targets(paths: list[Path]) -> LintTargets:
    """The locale folders of skills, or of folders full of skills; raises `UserError` when there are none."""
    targets = LintTargets()
    for path in paths:
        if path.is_file():
            if not _add_part(path, targets):
                if role_of(path) is None:
                    raise UserError(f"{path} is not a file of a locale folder")
                targets.strays.append(path)
                targets.named.append(path)
        elif path.is_dir():
            _add_folder(path, targets)
        else:
            raise UserError(f"there is no file or folder {path}")
    return targets


def _add_part(path: Path, targets: LintTargets) -> bool:
    """Add the locale folder that contains a file or a language; false when there is none."""
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - removes "..", and does not follow links
    above = next((parent for parent in whole.parents if parent.name == LOCALE), None)
    if above is None:
        return False
    # As the user wrote it, if possible.
    given = next((parent for parent in path.parents if parent.name == LOCALE), None)
    targets.folders[given or above] = None
    targets.named.append(path if given is not None else whole)
    return True


def _add_folder(path: Path, targets: LintTargets) -> None:
    if path.name == LOCALE or path.absolute().name == LOCALE:
        targets.folders[path] = None
        targets.named.append(path)
        return
    folders, strays = _search(path)
    if not folders and _add_part(path, targets):
        return
    if not folders and strays and any(is_tag(entry.name) and entry.is_dir() for entry in path.iterdir()):
        folders, strays = [path], []  # a locale folder by another name, as among a user's overrides
    if not folders and not strays:
        raise UserError(f"nothing to check: there is no folder named {LOCALE!r} in {path}")
    targets.folders.update(dict.fromkeys(folders))
    targets.strays += strays
    targets.named.append(path)


def _search(path: Path) -> tuple[list[Path], list[Path]]:
    """The locale folders below a folder, and resource files that are in none."""
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
    """Whether it is more than a Python package named `locale`."""
    entries = list(folder.iterdir())
    return all(entry.name != "__init__.py" for entry in entries) or any(
        entry.is_dir() and not entry.name.startswith("__") for entry in entries
    )


def languages_of(folder: Path, findings: list[LintFinding]) -> list[LanguageFolder]:
    """The languages of a locale folder; adds findings on entries that are no language."""
    try:
        found = scan(folder)
    except MalformedResource as error:
        raise UserError(str(error)) from None
    for path in found.unread:
        if path.is_dir():
            fix = "name the folder after its language, or move it out of the locale folder"
            findings.append(misplaced(path, "its name begins with '_'", fix))
        else:
            findings.append(misplaced(path, "it belongs to no language", "move it into the folder of its language"))
    findings += map(_folder_finding, found.violations)
    return list(found.languages.values())


def misplaced(path: Path, why: str, fix: str) -> LintFinding:
    return LintFinding(path, 0, 0, LintCode.MISPLACED, f"Hark does not read this {_kind(path)}: {why}", fix)


def _kind(path: Path) -> str:
    return "folder" if path.is_dir() else "file"


def _folder_finding(violation: Violation) -> LintFinding:
    path = violation.path
    if violation.rule is Rule.LANGUAGE_TWICE:
        reason = violation.reason.partition(";")[0]
        return LintFinding(path, 0, 0, LintCode.LANGUAGE_TWICE, reason, "join the two folders")
    fix = "name the folder after its language, such as en or en-US"
    if "_" in path.name:
        fix = f"rename it to {path.name.replace('_', '-')}"
    return LintFinding(path, 0, 0, LintCode.LANGUAGE_NAME, violation.reason, fix)


def resources_of(language: LanguageFolder, findings: list[LintFinding]) -> dict[Resource, Path]:
    """The files of a language by role and name; adds findings on their names.

    A file with a malformed name counts under the name it should have, so that its content is checked too.
    """
    files = dict(language.files)
    for violation in language.violations:
        path = violation.path
        if violation.rule is Rule.FILE_TWICE:
            fix = "rename one, or join them"
            findings.append(LintFinding(path, 0, 0, LintCode.FILE_TWICE, violation.reason, fix))
            continue
        renamed = path.with_name(_valid_name(path))
        fix = f"rename it to {renamed.name}"
        findings.append(LintFinding(path, 0, 0, LintCode.FILE_NAME, violation.reason, fix))
        resource = resource_of(renamed)
        if resource is not None:
            files.setdefault(resource, path)
    findings += [_unknown_role(path) for path in language.others if path.suffix.lower() not in _NOT_RESOURCES]
    for resource, path in files.items():
        if resource.role is Role.VOCABULARY and path.stem[0].isdigit():
            message = f"no template can refer to <{resource.name}>, because its name begins with a digit"
            fix = f"rename it to _{path.name}, or leave it if no template is to refer to it"
            findings.append(LintFinding(path, 0, 0, LintCode.UNUSABLE_VOCABULARY_NAME, message, fix))
    return dict(sorted(files.items(), key=lambda item: (item[0].role.value, item[0].name)))


def _unknown_role(path: Path) -> LintFinding:
    suffix = path.suffix or "no extension"
    near = get_close_matches(path.suffix.lower(), [role.value for role in Role], 1)
    fix = f"rename it to {path.stem}{near[0]}" if near else f"the extensions are {_ROLES}"
    message = f"Hark does not read this file: {suffix} is not the extension of a role"
    return LintFinding(path, 0, 0, LintCode.UNKNOWN_ROLE, message, fix)


def _valid_name(path: Path) -> str:
    stem = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in path.stem.lower()).strip("_")
    return f"{'_' if stem[:1].isdigit() else ''}{stem or 'name'}{path.suffix.lower()}"
