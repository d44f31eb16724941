"""The files of a locale folder: their roles, their names, and reading them (INTENT-2 §2 to §4)."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from hark.model.files import read_file


class MalformedResource(ValueError):
    """A file of a locale folder, or the folder itself, breaks a rule."""

    def __init__(self, reason: str, path: Path, line: int = 0, column: int = 0) -> None:
        place = ":".join(str(part) for part in (path, line, column) if part)
        super().__init__(f"{place}: {reason}")
        self.reason = reason
        self.path = path
        self.line = line
        """From 1; 0 for the whole file."""
        self.column = column
        """From 1, in characters; 0 for the whole line."""


class MissingResource(LookupError):
    """A resource that no folder has; the text names the places that were searched."""


class UnfilledSlot(ValueError):
    """A dialog was rendered without a value for one of its slots."""

    def __init__(self, slot: str, name: str, path: Path, line: int) -> None:
        super().__init__(f"{path}:{line}: the slot {{{slot}}} has no value; give it one: {slot}=...")
        self.slot = slot
        self.name = name
        """The name of the dialog."""
        self.path = path
        self.line = line


class Role(Enum):
    """What a file is for. The value is its extension; there are no other roles."""

    INTENT = ".intent"
    """Sentences that mean the intent the file is named after."""
    DIALOG = ".dialog"
    """Phrases the assistant says; the skill fills their slots."""
    ENTITY = ".entity"
    """Example values of the slot the file is named after."""
    VOCABULARY = ".voc"
    """Phrases with one meaning; other files refer to them as `<name>`."""
    BLACKLIST = ".blacklist"
    """Phrases that exclude the intent, or values that the slot cannot take, the file is named after."""
    REQUIRED = ".required"
    """Phrases of which one has to occur for the intent the file is named after."""
    PROMPT = ".prompt"
    """Text for a language model, read as it is."""

    @property
    def has_lines(self) -> bool:
        """Whether the file is a list of templates, one on each line."""
        return self is not Role.PROMPT

    @property
    def has_slots(self) -> bool:
        """Whether its templates may hold slots."""
        return self in (Role.INTENT, Role.DIALOG)

    @property
    def is_spoken(self) -> bool:
        """Whether its templates are said by the assistant, not compared with what users say (INTENT-1 §2.4)."""
        return self is Role.DIALOG

    @property
    def names_slot(self) -> bool:
        """Whether the file's name is the name of a slot, which begins with no digit."""
        return self is Role.ENTITY

    @property
    def needs_parity(self) -> bool:
        """Whether a file in one language has to have its counterpart in all others (INTENT-2 §2.3)."""
        return self not in (Role.BLACKLIST, Role.PROMPT)


class Resource(NamedTuple):
    """The identity of a file in a language; subfolders mean nothing."""

    role: Role
    name: str
    """The base name."""

    def __str__(self) -> str:
        return f"{self.name}{self.role.value}"


_ROLES: Final = {role.value: role for role in Role}
_NAME: Final = re.compile(r"[a-z0-9_]+")
_RULE: Final = "names have lower-case letters a to z, digits and '_' only"


def role_of(path: Path | str) -> Role | None:
    """The role of a file by its extension, in any case; None for all other files.

    Hidden files have none: editors keep their own beside the file that is edited.
    """
    name = path if isinstance(path, str) else path.name
    stem, dot, extension = name[name.rfind("/") + 1 :].rpartition(".")
    return None if not stem or stem[0] == "." else _ROLES.get(dot + extension.lower())


def resource_of(path: Path) -> Resource | None:
    """The identity of a file; None when it has no role. Raises `MalformedResource` for a name against the rules."""
    role = role_of(path.name)
    if role is None:
        return None
    stem, _, _ = path.name.rpartition(".")
    if not path.name.endswith(role.value):
        raise MalformedResource(f"the extension is written {role.value}", path)
    if _NAME.fullmatch(stem) is None:
        raise MalformedResource(f"{stem!r} is no name for a file of a locale folder: {_RULE}", path)
    if role.names_slot and stem[0].isdigit():
        raise MalformedResource(f"{stem!r} is to be the name of a slot, which cannot begin with a digit", path)
    return Resource(role, stem)


_BOM: Final = "\ufeff"


class Line(NamedTuple):
    """One template of a file, and its position."""

    number: int
    """From 1."""
    column: int
    """Of the first character, from 1: an offset into `text` plus this is a column of the file."""
    text: str


def read_text(path: Path) -> str:
    """The whole file, its line ends as they are; a byte-order mark at the beginning is dropped.

    Raises `MalformedResource` for what cannot be read or is no UTF-8.
    """
    try:
        content = read_file(path)
    except OSError as error:
        raise MalformedResource(f"the file cannot be read: {error.strerror}", path) from None
    try:
        return content.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError as error:
        before = content[: error.start]
        start = before.rfind(b"\n") + 1
        column = len(before[start:].decode("utf-8", "replace").removeprefix(_BOM)) + 1
        reason = f"the byte 0x{content[error.start]:02x} is no UTF-8; save the file with the encoding UTF-8"
        raise MalformedResource(reason, path, before.count(b"\n") + 1, column) from None


def read_lines(path: Path) -> list[Line]:
    """The templates of a file in their order: no blank lines, no lines that begin with `#`.

    Raises `MalformedResource` as `read_text` does. A file without any template gives an empty list.
    """
    return lines_of(read_text(path))


def lines_of(text: str) -> list[Line]:
    """As `read_lines`, from text."""
    found = []
    # Only LF and CRLF end a line: str.splitlines would also break at form feeds and Unicode's separators.
    for number, line in enumerate(text.split("\n"), 1):
        content = line.strip()
        if content and content[0] != "#":
            found.append(Line(number, len(line) - len(line.lstrip()) + 1, content))
    return found
