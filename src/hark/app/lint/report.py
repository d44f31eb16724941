"""What was found, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from hark.app.lint.finding import Finding, Severity

_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33"}


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was found, in the order of places."""

    files: int
    """How many were looked at."""
    languages: list[str]
    findings: list[Finding]

    def count(self, severity: Severity) -> int:
        """How many findings of a severity there are."""
        return sum(finding.code.severity is severity for finding in self.findings)

    def fails(self, strict: bool) -> bool:
        """Whether something has to be mended; with `strict`, warnings have to be as well."""
        return bool(self.findings) if strict else self.count(Severity.ERROR) > 0


def as_text(report: Report, *, colours: bool = False) -> str:
    """A line for each finding with its place, one below it on how to mend it, and a summary."""
    return "\n".join([*_lines(report, colours), _summary(report)])


def as_json(report: Report) -> str:
    """The same as one JSON object."""
    told: dict[str, Any] = {
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
                "mend": finding.mend,
            }
            for finding in report.findings
        ],
    }
    return msgspec.json.format(msgspec.json.encode(told)).decode()


def _lines(report: Report, colours: bool) -> Iterator[str]:
    for finding in report.findings:
        severity = finding.code.severity
        told = f"\x1b[{_COLOURS[severity]}m{severity.value}\x1b[0m" if colours else severity.value
        place = ":".join([str(finding.path), *(str(number) for number in (finding.line, finding.column) if number)])
        yield f"{place}: {told} {finding.code.value}: {finding.message}"
        yield f"    {finding.mend}"


def _summary(report: Report) -> str:
    looked = f"{_several(report.files, 'file')} in {_several(len(report.languages), 'language')}"
    if not report.findings:
        return f"{looked}: nothing to mend"
    errors, warnings = report.count(Severity.ERROR), report.count(Severity.WARNING)
    return f"{looked}: {_several(errors, 'error')}, {_several(warnings, 'warning')}"


def _several(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
