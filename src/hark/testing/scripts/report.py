"""The outcome of conversations, for people and for programs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from hark.app.text import lines_of, one_line
from hark.testing.scripts.pattern import plain
from hark.testing.scripts.script import Script


class Difference(msgspec.Struct, frozen=True):
    """Where a conversation did not go as written."""

    line: int
    """The line of the script that does not hold."""
    what: str
    """In a few words."""
    expected: str = ""
    """What the line says."""
    said: tuple[str, ...] = ()
    """What Hark said instead, or beside it; with the device unless it is the default one."""
    happened: tuple[str, ...] = ()
    """Events that happened, where another was expected."""
    hint: str = ""
    """A hint for the author."""
    why: str = ""
    """The trace of the last turn, as in `hark why`."""


class ConversationDiffers(Exception):
    """A conversation does not go as written."""

    def __init__(self, difference: Difference) -> None:
        super().__init__(difference.what)
        self.difference = difference


class PlayedConversation(msgspec.Struct, frozen=True):
    """A conversation that was played."""

    script: str
    """The file it is in."""
    name: str
    """Its title, if it has one."""
    seconds: float
    """The duration in real time."""
    difference: Difference | None = None
    """The first difference; None when it went as written."""

    @property
    def passed(self) -> bool:
        """Whether it went as written."""
        return self.difference is None


_AROUND: Final = 4
"""Lines of the script that are shown before the one that does not hold."""


def headline(played: PlayedConversation) -> str:
    """One line for a conversation."""
    name = f"{played.script}: {played.name}" if played.name else played.script
    return f"{'ok  ' if played.passed else 'FAIL'}  {one_line(name):<60} {played.seconds * 1000:6.0f} ms"


def summary(played: Sequence[PlayedConversation]) -> str:
    """One line for all of them."""
    passed = sum(one.passed for one in played)
    failed = len(played) - passed
    counts = [f"{number} {what}" for number, what in ((passed, "passed"), (failed, "failed")) if number]
    return f"{len(played)} conversation{'s' * (len(played) != 1)}: {', '.join(counts) or 'nothing to play'}."


def differences(script: Script, difference: Difference) -> str:
    """The lines of the script where it does not hold, what was said instead, and the trace of that turn."""
    return lines_of("\n".join(_lines(script, difference)))


def indented(script: Script, difference: Difference) -> str:
    """As `differences`, indented for printing below `headline`."""
    return "\n".join(f"      {line}".rstrip() for line in differences(script, difference).splitlines())


def as_json(played: Sequence[PlayedConversation]) -> str:
    """All results as JSON."""
    tree: dict[str, Any] = {
        "passed": sum(one.passed for one in played),
        "failed": sum(not one.passed for one in played),
        "conversations": [{"passed": one.passed, **msgspec.to_builtins(one)} for one in played],
    }
    return msgspec.json.format(msgspec.json.encode(tree)).decode()


def _lines(script: Script, difference: Difference) -> Iterator[str]:
    yield f"{script.where}:{difference.line}: {difference.what}"
    begins = max((one.line for one in script.conversations if one.line <= difference.line), default=1)
    first = max(difference.line - _AROUND, begins)
    for number in range(first, min(difference.line, len(script.lines)) + 1):
        mark = ">" if number == difference.line else " "
        yield f" {mark} {number:3}  {one_line(script.lines[number - 1])}".rstrip()
    for said in difference.said:
        yield f'          said: "{one_line(said)}"'
    if len(difference.said) == 1 and (marks := _underlined(difference.expected, one_line(difference.said[0]))):
        yield f"                 {marks}"
    for one in difference.happened:
        yield f"          happened: {one_line(one)}"
    if difference.hint:
        yield f"  {difference.hint}"
    if difference.why:
        yield "  why:"
        yield from (f"    {line}" for line in difference.why.splitlines())


def _underlined(expected: str, said: str) -> str:
    """Marks under the words that differ; nothing if all differ, or if the line is a pattern."""
    words = plain(expected.partition(":")[2]).split()
    if not expected.startswith("hark") or any(sign in expected for sign in "*(){}[]|"):
        return ""
    places = [found.span() for found in re.finditer(r"\S+", said)]
    spoken = [plain(said[begin:end]) for begin, end in places]
    # Only needed when something is wrong, and not small.
    from difflib import SequenceMatcher

    same: set[int] = set()
    for block in SequenceMatcher(None, words, spoken, autojunk=False).get_matching_blocks():
        same.update(range(block.b, block.b + block.size))
    if not same:
        return ""
    marks = [" "] * len(said)
    for number, (begin, end) in enumerate(places):
        if number not in same:
            marks[begin:end] = "^" * (end - begin)
    return "".join(marks).rstrip()
