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

_MANY_SENTENCES: Final = 500
"""A template with more sentences than this should probably be several."""
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(slots=True)
class ParsedLine:
    """A line with a well-formed template."""

    line: Line
    template: Template


@dataclass(slots=True, eq=False)
class LocaleFile:
    resource: Resource
    path: Path
    lines: list[Line] = field(default_factory=list)
    parsed: list[ParsedLine] = field(default_factory=list)
    """The lines that are well-formed."""

    @property
    def has_valid_name(self) -> bool:
        """Whether the file has the name it should have; if not, only that is reported about its name."""
        return self.path.stem == self.resource.name

    @property
    def slots(self) -> dict[str, Line]:
        """The slots of its templates, with the first line of each."""
        found: dict[str, Line] = {}
        for entry in self.parsed:
            for slot in entry.template.slots:
                found.setdefault(slot, entry.line)
        return found

    def finding(self, line: Line | None, position: int, code: LintCode, message: str, fix: str) -> LintFinding:
        """A finding on a position in a line, or on the whole file."""
        if line is None:
            return LintFinding(self.path, 0, 0, code, message, fix)
        return LintFinding(self.path, line.number, line.column + position, code, message, fix)


def read_locale_file(resource: Resource, path: Path, lang: str, findings: list[LintFinding]) -> LocaleFile:
    """Read a file and parse its lines; adds a finding on whatever cannot be used."""
    file = LocaleFile(resource, path)
    try:
        text = read_text(path)
    except MalformedResource as error:
        if error.line:
            fix = "save the file with the encoding UTF-8"
            reason = error.reason.partition(";")[0]
            findings.append(LintFinding(path, error.line, error.column, LintCode.ENCODING, reason, fix))
        else:
            findings.append(file.finding(None, 0, LintCode.UNREADABLE, error.reason, "make the file readable"))
        return file
    if _has_byte_order_mark(path):
        message = "the file begins with a byte-order mark"
        findings.append(LintFinding(path, 1, 1, LintCode.BYTE_ORDER_MARK, message, "save it as UTF-8 without one"))
    if not resource.role.has_lines:
        if not text.strip():
            message, fix = "the prompt is empty", "write one, or remove the file"
            findings.append(file.finding(None, 0, LintCode.EMPTY_FILE, message, fix))
        return file
    file.lines = lines_of(text)
    if not file.lines:
        message, fix = "the file has no template", "write a template into it, or remove the file"
        findings.append(file.finding(None, 0, LintCode.EMPTY_FILE, message, fix))
    for line in file.lines:
        _parse(file, line, lang, findings)
    return file


def _has_byte_order_mark(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_BOM)) == _BOM


def _parse(file: LocaleFile, line: Line, lang: str, findings: list[LintFinding]) -> None:
    role = file.resource.role
    direction = Direction.OUTPUT if role.is_spoken else Direction.INPUT
    try:
        template = parse(line.text, direction=direction, slots=role.has_slots)
    except TemplateError as error:
        findings.append(_malformed(file, line, error))
        return
    file.parsed.append(ParsedLine(line, template))
    for issue in style_issues(template, role, lang):
        findings.append(file.finding(line, issue.position, issue.code, issue.message, issue.fix))


def check_expansion(vocabularies: Vocabularies, file: LocaleFile, findings: list[LintFinding]) -> None:
    """Check the templates with the vocabularies they refer to, and drop those that cannot be expanded."""
    usable = []
    for entry in file.parsed:
        try:
            count = entry.template.count(vocabularies)
            if count > MAX_SENTENCES:
                entry.template.samples(vocabularies)
        except TemplateError as error:
            # A mistake within a vocabulary is reported for the file of the vocabulary.
            if not error.chain or (error.kind is Malformed.UNDEFINED_VOCABULARY and len(error.chain) == 1):
                findings.append(_malformed(file, entry.line, error))
            continue
        usable.append(entry)
        if count > _MANY_SENTENCES and file.resource.role is Role.INTENT:
            message = f"this template stands for {count} sentences"
            fix = "split it: engines learn from a few good examples, not from every combination"
            findings.append(file.finding(entry.line, 0, LintCode.MANY_SENTENCES, message, fix))
    file.parsed = usable


def _malformed(file: LocaleFile, line: Line, error: TemplateError) -> LintFinding:
    code = LintCode[error.kind.name]
    return file.finding(line, error.position, code, error.reason, FIXES[error.kind])
