"""The check as a whole: find locale folders, parse their languages, run the checks across files."""

from __future__ import annotations

from pathlib import Path

from hark.tools.lint.cross_file import PythonSlots, check_duplicates, check_parity, check_related_files
from hark.tools.lint.parsed_language import parse_language
from hark.tools.lint.report import LintReport
from hark.tools.lint.targets import find_targets, languages_of, misplaced


def check(paths: list[Path]) -> LintReport:
    """Check the locale folders below these paths; raises `UserError` when there are none."""
    targets = find_targets(paths)
    findings = [
        misplaced(path, "it is in no locale folder", "move it to locale/<language>/") for path in targets.strays
    ]
    files = 0
    tags: set[str] = set()
    for folder in targets.folders:
        languages = [parse_language(language, findings) for language in languages_of(folder, findings)]
        code = PythonSlots(folder)
        for language in languages:
            findings += check_related_files(language, code)
            findings += check_duplicates(language)
            files += sum(targets.covers(file.path) for file in language.files.values())
            tags.add(language.tag)
        findings += check_parity(languages)
    covered = [finding for finding in findings if targets.covers(finding.path)]
    return LintReport(files, sorted(tags), sorted(covered, key=lambda finding: finding.order))
