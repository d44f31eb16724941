"""Looking everything over."""

from __future__ import annotations

from pathlib import Path

from hark.app.lint.duplicates import duplicates
from hark.app.lint.finding import Finding
from hark.app.lint.kinship import PythonBeside, kinship
from hark.app.lint.parity import parity
from hark.app.lint.places import find
from hark.app.lint.report import Report
from hark.app.lint.tongues import read_tongue
from hark.app.lint.tree import strays, tongues_of


def check(paths: list[Path]) -> Report:
    """Everything there is to say about the locale folders below these paths; raises `Trouble` for paths without any."""
    places = find(paths)
    findings = list(strays(places.strays))
    files, languages = 0, set()
    for folder in places.folders:
        tongues = tongues_of(folder, findings)
        code = PythonBeside(folder)
        spoken = [read_tongue(tongue, findings) for tongue in tongues]
        for one in spoken:
            findings += kinship(one, code)
            findings += duplicates(one)
        findings += parity(spoken)
        files += sum(places.covers(path) for tongue in tongues for path in tongue.files.values())
        languages |= {tongue.tag for tongue in tongues}
    told = [finding for finding in findings if places.covers(finding.path)]
    return Report(files, sorted(languages), sorted(told, key=_order))


def _order(finding: Finding) -> tuple[str, int, int, str, str]:
    return finding.order
