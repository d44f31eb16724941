"""What lint can find, one finding, and the report for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from hark.intents.grammar import MAX_SENTENCES, Malformed

_MOST_ALIKE: Final = 20
"""Findings with one code in one line that are printed."""


class Severity(StrEnum):
    """Whether something has to be fixed, or may be meant."""

    ERROR = "error"
    WARNING = "warning"


class LintCode(Enum):
    """Every kind of finding. The first digit is its subject: 0 files, 1 malformed templates, 2 unusual templates,
    3 related files, 4 languages, 5 sentences that exist twice."""

    ENCODING = "L001"
    UNREADABLE = "L002"
    EMPTY_FILE = "L003"
    BYTE_ORDER_MARK = "L004"
    UNKNOWN_ROLE = "L005"
    FILE_NAME = "L006"
    MISPLACED = "L007"
    LANGUAGE_NAME = "L008"
    LANGUAGE_TWICE = "L009"
    FILE_TWICE = "L010"
    UNUSABLE_VOCABULARY_NAME = "L011"

    UNBALANCED = "L101"
    EMPTY_GROUP = "L102"
    EMPTY_SAMPLE = "L103"
    SLOT_ONLY = "L104"
    ADJACENT_SLOTS = "L105"
    REPEATED_SLOT = "L106"
    INVALID_SLOT = "L107"
    SLOT_NOT_ALLOWED = "L108"
    PIPE_OUTSIDE_GROUP = "L109"
    INVALID_REFERENCE = "L110"
    UNDEFINED_VOCABULARY = "L111"
    CYCLIC_VOCABULARY = "L112"
    TOO_MANY_SENTENCES = "L113"

    SINGLE_BRANCH = "L201"
    EMPTY_OPTIONAL = "L202"
    UNREGISTERED_TYPE = "L203"
    NORMAL_FORM = "L204"
    LEADING_UNDERSCORE = "L205"
    WHITE_SPACE = "L206"
    GLUED_SLOT = "L207"
    BARE_SENTENCE = "L208"
    SLOT_IN_BRANCHES = "L209"
    MANY_SENTENCES = "L210"

    DIALOG_SLOTS = "L301"
    ENTITY_WITHOUT_SLOT = "L302"
    REQUIRED_WITHOUT_INTENT = "L303"
    BLACKLIST_OF_NOTHING = "L304"
    REQUIRED_NOWHERE = "L305"
    LACKS_REQUIRED = "L306"
    BARRED = "L307"
    REQUIRED_SLOT = "L308"

    MISSING_FILE = "L401"
    MISSING_SLOT = "L402"

    SAID_TWICE = "L501"
    SAID_BY_TWO = "L502"

    @property
    def severity(self) -> Severity:
        """Errors are what the specifications forbid; everything else is a warning."""
        return Severity.WARNING if self in _WARNINGS else Severity.ERROR

    @property
    def is_parity(self) -> bool:
        """Whether it is a difference between languages, which makes no file malformed (INTENT-2 §2.3)."""
        return self.value.startswith("L4")


_WARNINGS = frozenset(
    code
    for code in LintCode
    if code.value.startswith(("L2", "L5"))
    or code
    in (
        LintCode.BYTE_ORDER_MARK,
        LintCode.UNKNOWN_ROLE,
        LintCode.MISPLACED,
        LintCode.UNUSABLE_VOCABULARY_NAME,
        LintCode.ENTITY_WITHOUT_SLOT,
        LintCode.REQUIRED_WITHOUT_INTENT,
        LintCode.BLACKLIST_OF_NOTHING,
        LintCode.REQUIRED_NOWHERE,
        LintCode.LACKS_REQUIRED,
        LintCode.BARRED,
        LintCode.REQUIRED_SLOT,
    )
)


class LintFinding(NamedTuple):
    """What is wrong, where, and how to fix it."""

    path: Path
    line: int
    """From 1; 0 when it is about the whole file or folder."""
    column: int
    """From 1; 0 when it is about the whole line."""
    code: LintCode
    message: str
    fix: str

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """The key findings are sorted by."""
        return (str(self.path), self.line, self.column, self.code.value, self.message)


FIXES: Final = {
    Malformed.UNBALANCED: "add the bracket that is missing, or remove this one: brackets cannot be spoken",
    Malformed.EMPTY_GROUP: "write branches into it, or remove it",
    Malformed.EMPTY_SAMPLE: "keep a word that cannot be left out",
    Malformed.SLOT_ONLY: "add a word that is always said",
    Malformed.ADJACENT_SLOTS: "put a word between them that is always said",
    Malformed.REPEATED_SLOT: "give the second one a name of its own",
    Malformed.INVALID_SLOT: "use a to z, 0 to 9 and '_', begin with a letter, and leave no space within the braces",
    Malformed.SLOT_NOT_ALLOWED: "write the words themselves; slots are for .intent and .dialog",
    Malformed.PIPE_OUTSIDE_GROUP: "write (a|b), or two lines",
    Malformed.INVALID_REFERENCE: "use a to z, 0 to 9 and '_', and begin with a letter",
    Malformed.UNDEFINED_VOCABULARY: "add the .voc file to this language, or correct the name",
    Malformed.CYCLIC_VOCABULARY: "remove one of the references",
    Malformed.EMPTY_VOCABULARY: "write members into it",
    Malformed.TOO_MANY_SENTENCES: f"split it into several lines; the limit is {MAX_SENTENCES} sentences",
}


_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33"}


@dataclass(frozen=True, slots=True)
class LintReport:
    """All findings, sorted by path, line and column."""

    files: int
    """The number of files that were checked."""
    languages: list[str]
    findings: list[LintFinding]

    def count(self, severity: Severity) -> int:
        return sum(finding.code.severity is severity for finding in self.findings)

    def fails(self, strict: bool) -> bool:
        """Whether there are errors; with `strict`, or warnings."""
        return bool(self.findings) if strict else self.count(Severity.ERROR) > 0


def as_text(report: LintReport, *, colours: bool = False) -> str:
    """For each finding a line with its place and a line on how to fix it, then a summary."""
    return "\n".join([*_lines(report, colours), _summary(report)])


def as_json(report: LintReport) -> str:
    content: dict[str, Any] = {
        "files": report.files,
        "languages": report.languages,
        "errors": report.count(Severity.ERROR),
        "warnings": report.count(Severity.WARNING),
        "findings": [
            {
                "path": str(finding.path),
                "line": finding.line,
                "column": finding.column,
                "code": finding.code.value,
                "kind": finding.code.name.lower().replace("_", "-"),
                "severity": finding.code.severity.value,
                "parity": finding.code.is_parity,
                "message": finding.message,
                "fix": finding.fix,
            }
            for finding in report.findings
        ],
    }
    return msgspec.json.format(msgspec.json.encode(content)).decode()


def _printable(text: str) -> str:
    """`text` as a terminal may get it: names of files and sentences may have any character in them."""
    return text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)


def _lines(report: LintReport, colours: bool) -> Iterator[str]:
    alike: Counter[tuple[Path, int, str]] = Counter()
    for finding in report.findings:
        kind = (finding.path, finding.line, finding.code.value)
        alike[kind] += 1
        if alike[kind] > _MOST_ALIKE:
            continue
        severity = finding.code.severity
        shown = f"\x1b[{_COLOURS[severity]}m{severity.value}\x1b[0m" if colours else severity.value
        place = ":".join([str(finding.path), *(str(number) for number in (finding.line, finding.column) if number)])
        yield f"{_printable(place)}: {shown} {finding.code.value}: {_printable(finding.message)}"
        yield f"    {_printable(finding.fix)}"
    for (path, line, code), number in alike.items():
        if number > _MOST_ALIKE:
            yield f"{path}:{line}: {number - _MOST_ALIKE} more of {code}"


def _summary(report: LintReport) -> str:
    checked = f"{_several(report.files, 'file')} in {_several(len(report.languages), 'language')}"
    if not report.findings:
        return f"{checked}: nothing to fix"
    errors, warnings = report.count(Severity.ERROR), report.count(Severity.WARNING)
    return f"{checked}: {_several(errors, 'error')}, {_several(warnings, 'warning')}"


def _several(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
