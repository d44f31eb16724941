"""Looking everything over."""

from __future__ import annotations

from pathlib import Path

from hark.tools.lint.cross_file import PythonSlots, check_duplicates, check_parity, check_related_files
from hark.tools.lint.parsed_language import parse_language
from hark.tools.lint.report import LintFinding, LintReport
from hark.tools.lint.targets import find, strays, tongues_of


def check(paths: list[Path]) -> LintReport:
    """Everything there is to say about the locale folders below these paths; raises `UserError` for paths without any."""
    places = find(paths)
    findings = list(strays(places.strays))
    files, languages = 0, set()
    for folder in places.folders:
        tongues = tongues_of(folder, findings)
        code = PythonSlots(folder)
        spoken = [parse_language(tongue, findings) for tongue in tongues]
        for one in spoken:
            findings += check_related_files(one, code)
            findings += check_duplicates(one)
        findings += check_parity(spoken)
        files += sum(places.covers(path) for tongue in tongues for path in tongue.files.values())
        languages |= {tongue.tag for tongue in tongues}
    told = [finding for finding in findings if places.covers(finding.path)]
    return LintReport(files, sorted(languages), sorted(told, key=_order))


def _order(finding: LintFinding) -> tuple[str, int, int, str, str]:
    return finding.order
