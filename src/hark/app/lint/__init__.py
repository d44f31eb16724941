"""Looking over locale folders: everything that is wrong, where it is, and how to mend it (INTENT-1, INTENT-2)."""

from hark.app.lint.check import check
from hark.app.lint.finding import Code, Finding, Severity
from hark.app.lint.report import Report, as_json, as_text

__all__ = ["Code", "Finding", "Report", "Severity", "as_json", "as_text", "check"]
