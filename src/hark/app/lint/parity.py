"""Whether a skill has the same in every language (INTENT-2 §2.3). No language counts more than another."""

from __future__ import annotations

from collections.abc import Iterator

from hark.app.lint.finding import Code, Finding
from hark.app.lint.tongues import Spoken
from hark.intents.locale import Resource, Role


def parity(languages: list[Spoken]) -> Iterator[Finding]:
    """Files that one language has and another has not, and slots of intents that differ."""
    yield from _files(languages)
    yield from _slots(languages)


def _files(languages: list[Spoken]) -> Iterator[Finding]:
    owners: dict[Resource, list[str]] = {}
    for spoken in languages:
        for resource in spoken.tongue.files:
            if resource.role.needs_parity:
                owners.setdefault(resource, []).append(spoken.tongue.tag)
    for spoken in languages:
        for resource, tags in owners.items():
            if spoken.tongue.tag in tags:
                continue
            if resource.role is Role.VOCABULARY and resource.name in spoken.wanted:
                continue  # told where somebody refers to it
            message = f"{resource} is missing; it is there in {', '.join(tags)}"
            mend = "translate it, or repeat it where nothing needs translating"
            yield Finding(spoken.tongue.path, 0, 0, Code.MISSING_FILE, message, mend)


def _slots(languages: list[Spoken]) -> Iterator[Finding]:
    names = {name for spoken in languages for name in spoken.all(Role.INTENT)}
    for name in sorted(names):
        sheets = {
            spoken.tongue.tag: sheet
            for spoken in languages
            if (sheet := spoken.get(Role.INTENT, name)) is not None and len(sheet.entries) == len(sheet.lines) > 0
        }  # with a line that cannot be read, nobody knows the slots
        owners: dict[str, list[str]] = {}
        for tag, sheet in sheets.items():
            for slot in sheet.slots:
                owners.setdefault(slot, []).append(tag)
        for tag, sheet in sheets.items():
            missing = [slot for slot in sorted(owners) if tag not in owners[slot]]
            if missing:
                there = dict.fromkeys(owner for slot in missing for owner in owners[slot])
                told = ", ".join(f"{{{slot}}}" for slot in missing)
                message = f"the intent {name!r} lacks {told} here, which it has in {', '.join(there)}"
                mend = "use the same slot names in every language; names are not translated"
                yield sheet.finding(None, 0, Code.MISSING_SLOT, message, mend)
