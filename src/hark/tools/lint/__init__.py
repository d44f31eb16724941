"""Check locale folders: report everything that is wrong, where it is, and how to fix it (INTENT-1, INTENT-2)."""

from hark.tools.lint.check import check
from hark.tools.lint.report import LintCode, LintFinding, LintReport, Severity, as_json, as_text

__all__ = ["LintCode", "LintFinding", "LintReport", "Severity", "as_json", "as_text", "check"]
