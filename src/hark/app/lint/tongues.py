"""One language of a skill, looked over: its files by themselves, and what they are to each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hark.app.lint.circles import circles
from hark.app.lint.finding import Code, Finding
from hark.app.lint.mending import MENDS
from hark.app.lint.sheets import Sheet, check_with, read_sheet
from hark.app.lint.tree import Tongue
from hark.intents.grammar import Malformed, TemplateError, Vocabularies
from hark.intents.locale import Resource, Role


@dataclass(slots=True)
class Spoken:
    """A language with its files read."""

    tongue: Tongue
    sheets: dict[Resource, Sheet]
    vocabularies: Vocabularies
    wanted: set[str]
    """Vocabularies that some file refers to and nobody has."""

    def all(self, role: Role) -> dict[str, Sheet]:
        """The files of one role, by name."""
        return {resource.name: sheet for resource, sheet in self.sheets.items() if resource.role is role}

    def get(self, role: Role, name: str) -> Sheet | None:
        """One file."""
        return self.sheets.get(Resource(role, name))


def read_tongue(tongue: Tongue, findings: list[Finding]) -> Spoken:
    """Read every file of a language and check its templates."""
    sheets = {
        resource: read_sheet(resource, path, tongue.tag, findings) for resource, path in sorted_files(tongue.files)
    }

    def members(name: str) -> list[str] | None:
        sheet = sheets.get(Resource(Role.VOCABULARY, name))
        return None if sheet is None else [line.text for line in sheet.lines]

    spoken = Spoken(tongue, sheets, Vocabularies(members), set())
    known = spoken.all(Role.VOCABULARY)
    findings += circles(known)
    for sheet in sheets.values():
        spoken.wanted.update(name for entry in sheet.entries for name in entry.template.references)
        check_with(spoken.vocabularies, sheet, findings)
    spoken.wanted -= known.keys()
    findings += _too_big(spoken, known)
    findings += _dialogs(spoken)
    return spoken


def sorted_files(files: dict[Resource, Path]) -> list[tuple[Resource, Path]]:
    """Files in the order of role and name."""
    return sorted(files.items(), key=lambda item: (item[0].role.value, item[0].name))


def _too_big(spoken: Spoken, known: dict[str, Sheet]) -> Iterator[Finding]:
    for name, sheet in known.items():
        try:
            spoken.vocabularies.members(name)
        except TemplateError as error:
            # A line that is too big by itself was found already.
            if error.kind is Malformed.TOO_MANY_SENTENCES and error.chain == (name,) and "members" in error.reason:
                mend = MENDS[error.kind]
                yield sheet.finding(sheet.lines[0], 0, Code.TOO_MANY_SENTENCES, error.reason, mend)


def _dialogs(spoken: Spoken) -> Iterator[Finding]:
    """Phrases of one dialog have the same slots (INTENT-2 §4.2)."""
    for sheet in spoken.all(Role.DIALOG).values():
        if not sheet.entries:
            continue
        first = sheet.entries[0]
        wanted = set(first.template.slots)
        for entry in sheet.entries[1:]:
            slots = set(entry.template.slots)
            if slots != wanted:
                differing = ", ".join(f"{{{slot}}}" for slot in sorted(slots ^ wanted))
                message = f"the phrases of a dialog have the same slots; this one and line {first.line.number} differ"
                mend = f"use {differing} in both, [optional] if need be, or in neither"
                yield sheet.finding(entry.line, 0, Code.DIALOG_SLOTS, message, mend)
