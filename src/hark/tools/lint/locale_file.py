"""One file of a locale folder, parsed and checked by itself and with the vocabularies of its language."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hark.intents.grammar import MAX_SENTENCES, Direction, Malformed, Template, TemplateError, Vocabularies, parse
from hark.intents.locale import Line, MalformedResource, Resource, Role
from hark.intents.locale.files import lines_of, read_text
from hark.tools.lint.report import FIXES, LintCode, LintFinding
from hark.tools.lint.style import style_issues

_MANY: Final = 500
"""Sentences of one template from which on it is worth asking whether it should be several."""
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(slots=True)
class ParsedLine:
    """A line with a template that can be used."""

    line: Line
    template: Template


@dataclass(slots=True, eq=False)
class LocaleFile:
    """A file."""

    resource: Resource
    path: Path
    lines: list[Line] = field(default_factory=list)
    entries: list[ParsedLine] = field(default_factory=list)
    """Those lines that are well-formed."""

    @property
    def is_named_rightly(self) -> bool:
        """Whether the file has the name it is known by; one that has not is told of by its name alone."""
        return self.path.stem == self.resource.name

    @property
    def slots(self) -> dict[str, Line]:
        """The slots its templates declare, with the line each is in first."""
        found: dict[str, Line] = {}
        for entry in self.entries:
            for slot in entry.template.slots:
                found.setdefault(slot, entry.line)
        return found

    def finding(self, line: Line | None, position: int, code: LintCode, message: str, mend: str) -> LintFinding:
        """Something about a place in this file."""
        if line is None:
            return LintFinding(self.path, 0, 0, code, message, mend)
        return LintFinding(self.path, line.number, line.column + position, code, message, mend)


def read_locale_file(resource: Resource, path: Path, lang: str, findings: list[LintFinding]) -> LocaleFile:
    """Read a file; what cannot be used of it is found and left out."""
    sheet = LocaleFile(resource, path)
    try:
        text = read_text(path)
    except MalformedResource as error:
        if error.line:
            mend = "save the file with the encoding UTF-8"
            reason = error.reason.partition(";")[0]
            findings.append(LintFinding(path, error.line, error.column, LintCode.ENCODING, reason, mend))
        else:
            findings.append(LintFinding(path, 0, 0, LintCode.UNREADABLE, error.reason, "let everybody read it"))
        return sheet
    if _has_mark(path):
        message = "the file begins with a byte-order mark"
        findings.append(LintFinding(path, 1, 1, LintCode.BYTE_ORDER_MARK, message, "save it as UTF-8 without one"))
    if not resource.role.has_lines:
        if not text.strip():
            findings.append(
                LintFinding(path, 0, 0, LintCode.EMPTY_FILE, "the prompt is empty", "write one, or remove the file")
            )
        return sheet
    sheet.lines = lines_of(text)
    if not sheet.lines:
        mend = "write a template into it, or remove the file"
        findings.append(
            LintFinding(path, 0, 0, LintCode.EMPTY_FILE, "the file is empty: there is no template in it", mend)
        )
    for line in sheet.lines:
        _parse(sheet, line, lang, findings)
    return sheet


def _has_mark(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_BOM)) == _BOM


def _parse(sheet: LocaleFile, line: Line, lang: str, findings: list[LintFinding]) -> None:
    role = sheet.resource.role
    direction = Direction.OUTPUT if role.is_spoken else Direction.INPUT
    try:
        template = parse(line.text, direction=direction, slots=role.has_slots)
    except TemplateError as error:
        findings.append(_malformed(sheet, line, error))
        return
    sheet.entries.append(ParsedLine(line, template))
    for oddity in style_issues(template, role, lang):
        findings.append(sheet.finding(line, oddity.position, oddity.code, oddity.message, oddity.mend))


def check_with(vocabularies: Vocabularies, sheet: LocaleFile, findings: list[LintFinding]) -> None:
    """Find what shows only with the vocabularies; entries that cannot be expanded are left out from here on."""
    usable = []
    for entry in sheet.entries:
        try:
            count = entry.template.count(vocabularies)
            if count > MAX_SENTENCES:
                entry.template.samples(vocabularies)
        except TemplateError as error:
            # What is wrong within a vocabulary is told of its own file.
            if not error.chain or (error.kind is Malformed.UNDEFINED_VOCABULARY and len(error.chain) == 1):
                findings.append(_malformed(sheet, entry.line, error))
            continue
        usable.append(entry)
        if count > _MANY and sheet.resource.role is Role.INTENT:
            message = f"this stands for {count} sentences"
            mend = "split it: engines learn from a few good examples, not from every combination"
            findings.append(sheet.finding(entry.line, 0, LintCode.MANY_SENTENCES, message, mend))
    sheet.entries = usable


def _malformed(sheet: LocaleFile, line: Line, error: TemplateError) -> LintFinding:
    code = LintCode[error.kind.name]
    return sheet.finding(line, error.position, code, error.reason, FIXES[error.kind])
