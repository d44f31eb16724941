"""Sentences that are there twice: within a file, or in two intents, where nobody can tell which is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hark.app.lint.finding import Code, Finding
from hark.app.lint.said import Said, sayings
from hark.app.lint.sheets import Sheet
from hark.app.lint.tongues import Spoken
from hark.intents.locale import Line, Role

_SLOT = re.compile(r"\{\w+\}")
_Claims = dict[str, tuple[Sheet, Line]]
"""Who has a sentence first."""


def duplicates(spoken: Spoken) -> Iterator[Finding]:
    """Each pair of lines once, with an example of what they share."""
    claims: _Claims = {}
    for sheet in spoken.sheets.values():
        role = sheet.resource.role
        if role is Role.DIALOG:
            yield from _same_phrases(sheet)
        elif role.has_lines:
            said = list(sayings(sheet, spoken))
            yield from _within(sheet, said)
            if role is Role.INTENT:
                yield from _between(sheet, said, claims)


def _same_phrases(sheet: Sheet) -> Iterator[Finding]:
    first: dict[str, Line] = {}
    for line in sheet.lines:
        other = first.setdefault(line.text, line)
        if other is not line:
            message = f"line {other.number} is the same"
            yield sheet.finding(line, 0, Code.SAID_TWICE, message, "remove one of the two")


def _within(sheet: Sheet, sentences: list[Said]) -> Iterator[Finding]:
    first: dict[str, Line] = {}
    told: set[tuple[int, int]] = set()
    for said in sentences:
        other = first.setdefault(said.key, said.line)
        pair = (other.number, said.line.number)
        if other is not said.line and pair not in told:
            told.add(pair)
            message = f"{said.text!r} is in line {other.number} already"
            yield sheet.finding(said.line, 0, Code.SAID_TWICE, message, "take it out of one of the two")


def _between(sheet: Sheet, sentences: list[Said], claims: _Claims) -> Iterator[Finding]:
    told: set[tuple[int, Sheet, int]] = set()
    for said in sentences:
        shape = _SLOT.sub("{}", said.key)  # whatever its slots are called, the same can be said
        rival, line = claims.setdefault(shape, (sheet, said.line))
        pair = (said.line.number, rival, line.number)
        if rival is not sheet and pair not in told:
            told.add(pair)
            message = f"{said.text!r} is in {rival.path.name}, line {line.number}, as well"
            yield sheet.finding(said.line, 0, Code.SAID_BY_TWO, message, "leave it to one of the two intents")
