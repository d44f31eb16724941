"""The roles a file of a locale folder can have, told by its extension (INTENT-2 §4)."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from hark.intents.locale.errors import MalformedResource


class Role(Enum):
    """What a file is for. The value is its extension; there are no other roles."""

    INTENT = ".intent"
    """What people may say for an intent, which has the file's name."""
    DIALOG = ".dialog"
    """What is spoken; slots are filled by whoever says it."""
    ENTITY = ".entity"
    """Example values of the slot the file is named after."""
    VOCABULARY = ".voc"
    """Phrases with one meaning; other files refer to them as `<name>`."""
    BLACKLIST = ".blacklist"
    """Phrases that rule out the intent, or values that bar the slot, the file is named after."""
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
        """Whether its templates are said by the assistant, not compared with what people say (INTENT-1 §2.4)."""
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
    """What a file is known by; the folders between it and its language mean nothing."""

    role: Role
    name: str
    """The base name."""

    def __str__(self) -> str:
        return f"{self.name}{self.role.value}"


_ROLES: Final = {role.value: role for role in Role}
_NAME: Final = re.compile(r"[a-z0-9_]+")
_RULE: Final = "names have lower-case letters a to z, digits and '_' only"


def role_of(path: Path | str) -> Role | None:
    """The role a file has by its extension, in whatever case that is written; None for everything else.

    Hidden files have none: editors keep theirs beside what is being edited.
    """
    path = Path(path)
    return None if path.name.startswith(".") else _ROLES.get(path.suffix.lower())


def resource_of(path: Path) -> Resource | None:
    """What a file is known by; None when it has no role. Raises `MalformedResource` for a name against the rules."""
    role = role_of(path)
    if role is None:
        return None
    if path.suffix != role.value:
        raise MalformedResource(f"the extension is written {role.value}", path)
    if _NAME.fullmatch(path.stem) is None:
        raise MalformedResource(f"{path.stem!r} is no name for a file of a locale folder: {_RULE}", path)
    if role.names_slot and path.stem[0].isdigit():
        raise MalformedResource(f"{path.stem!r} is to be the name of a slot, which cannot begin with a digit", path)
    return Resource(role, path.stem)
