"""What can be wrong with a template, and what is only odd about it (INTENT-1 §3.6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_SHOWN: Final = 200
"""Characters of a template that an error's text repeats."""


class Malformed(StrEnum):
    """Why a template is refused. One member for each malformed form, so that tools can tell them apart."""

    UNBALANCED = "unbalanced"
    EMPTY_GROUP = "empty-group"
    EMPTY_SAMPLE = "empty-sample"
    SLOT_ONLY = "slot-only"
    ADJACENT_SLOTS = "adjacent-slots"
    REPEATED_SLOT = "repeated-slot"
    INVALID_SLOT = "invalid-slot"
    SLOT_NOT_ALLOWED = "slot-not-allowed"
    PIPE_OUTSIDE_GROUP = "pipe-outside-group"
    INVALID_REFERENCE = "invalid-reference"
    UNDEFINED_VOCABULARY = "undefined-vocabulary"
    CYCLIC_VOCABULARY = "cyclic-vocabulary"
    EMPTY_VOCABULARY = "empty-vocabulary"
    TOO_MANY_SENTENCES = "too-many-sentences"


class TemplateError(ValueError):
    """A template that is malformed: what is wrong, and where."""

    def __init__(
        self,
        reason: str,
        template: str,
        position: int,
        kind: Malformed,
        *,
        chain: tuple[str, ...] = (),
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        place = f"column {position + 1 if column is None else column}"
        super().__init__(f"{reason}, at {place if line is None else f'line {line}, {place}'} of {shown(template)}")
        self.reason = reason
        self.template = template
        self.position = position
        """Offset into the template, from 0."""
        self.kind = kind
        self.chain = chain
        """The vocabularies on the way to what is wrong, the one the template names first."""
        self.line = line
        """Line of the file the template was read from, from 1, if somebody said it."""
        self.column = column
        """Column in that line, from 1."""

    def placed(self, line: int, column: int = 1) -> TemplateError:
        """The same error for a template that begins in this line and column of a file, both counted from 1."""
        return TemplateError(
            self.reason,
            self.template,
            self.position,
            self.kind,
            chain=self.chain,
            line=line,
            column=column + self.position,
        )


class Odd(StrEnum):
    """What a loader accepts and should warn about."""

    SINGLE_BRANCH = "single-branch"
    EMPTY_OPTIONAL = "empty-optional"
    UNREGISTERED_TYPE = "unregistered-type"


@dataclass(frozen=True, slots=True)
class Remark:
    """Something odd that does no harm: what, and where."""

    kind: Odd
    reason: str
    position: int
    """Offset into the template, from 0."""


def shown(template: str) -> str:
    """A template as messages quote it: the beginning of a long one is enough."""
    return repr(template) if len(template) <= _SHOWN else f"{template[:_SHOWN]!r}..."
