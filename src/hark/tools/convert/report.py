"""What a conversion could not express, counted and listed."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """What became of something the other format cannot express."""

    REWRITTEN = "rewritten"
    """Expressed differently; the original is kept in `hassil.json`, and converting back restores it."""
    KEPT = "kept"
    """Kept in `hassil.json` for converting back; it has no effect on matching."""
    REFUSED = "refused"
    """Sentences that Hark cannot match; kept in `hassil.json` for converting back."""
    LOST = "lost"
    """Gone."""


@dataclass(frozen=True, slots=True)
class ConversionFinding:
    """One thing that could not be expressed as it was."""

    verdict: Verdict
    reason: str
    text: str = ""
    """The sentence, or what else it is about."""
    where: str = ""
    """The intent, list, rule or response."""
    file: str = ""
    line: int = 0


@dataclass(slots=True)
class ConversionReport:
    """The outcome of converting one language."""

    lang: str
    counts: dict[str, int] = field(default_factory=dict)
    """How many of what were converted."""
    findings: list[ConversionFinding] = field(default_factory=list)
    expansions: dict[str, int] = field(default_factory=dict)
    """How many sentences the templates of each intent stand for."""

    def add(self, verdict: Verdict, reason: str, text: object = "", where: str = "") -> None:
        """Add a finding, with file and line if `text` is a `LocatedText`."""
        file, line = str(getattr(text, "file", "")), int(getattr(text, "line", 0))
        self.findings.append(ConversionFinding(verdict, reason, str(text), where, file, line))

    def total(self, verdict: Verdict) -> int:
        """The number of findings with this verdict."""
        return sum(finding.verdict is verdict for finding in self.findings)

    def by_reason(self) -> list[tuple[Verdict, str, int]]:
        """Verdicts and reasons with their numbers, the most serious first."""
        counted = Counter((finding.verdict, finding.reason) for finding in self.findings)
        order = list(reversed(Verdict))
        return sorted(
            ((verdict, reason, number) for (verdict, reason), number in counted.items()),
            key=lambda row: (order.index(row[0]), -row[2], row[1]),
        )

    def as_json(self) -> dict[str, Any]:
        """The report for `--report`."""
        return {
            "lang": self.lang,
            "counts": self.counts,
            "verdicts": {verdict.value: self.total(verdict) for verdict in Verdict},
            "reasons": [
                {"verdict": verdict.value, "reason": reason, "number": number}
                for verdict, reason, number in self.by_reason()
            ],
            "expansions": self.expansions,
            "findings": [asdict(finding) for finding in self.findings],
        }
