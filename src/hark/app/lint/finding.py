"""What can be found, and one thing that was."""

from __future__ import annotations

from enum import Enum, StrEnum
from pathlib import Path
from typing import NamedTuple


class Severity(StrEnum):
    """Whether something has to be mended, or should be looked at."""

    ERROR = "error"
    WARNING = "warning"


class Code(Enum):
    """Every kind of finding. The first digit tells what it is about: 0 files, 1 malformed templates, 2 odd templates,
    3 files that belong together, 4 languages, 5 sentences that are there twice."""

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
        """Whether it is about languages that do not match, which makes no file malformed (INTENT-2 §2.3)."""
        return self.value.startswith("L4")


_WARNINGS = frozenset(
    code
    for code in Code
    if code.value.startswith(("L2", "L5"))
    or code
    in (
        Code.BYTE_ORDER_MARK,
        Code.UNKNOWN_ROLE,
        Code.MISPLACED,
        Code.UNUSABLE_VOCABULARY_NAME,
        Code.ENTITY_WITHOUT_SLOT,
        Code.REQUIRED_WITHOUT_INTENT,
        Code.BLACKLIST_OF_NOTHING,
        Code.REQUIRED_NOWHERE,
        Code.LACKS_REQUIRED,
        Code.BARRED,
        Code.REQUIRED_SLOT,
    )
)


class Finding(NamedTuple):
    """Something that was found: where, what, and how to mend it. Sorts by place."""

    path: Path
    line: int
    """From 1; 0 when it is about the whole file or folder."""
    column: int
    """From 1; 0 when it is about the whole line."""
    code: Code
    message: str
    mend: str

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """What findings are sorted by."""
        return (str(self.path), self.line, self.column, self.code.value, self.message)
