"""Regular expressions in vocabularies, as skills of OVOS register them: searched in linear time. Needs the extra `re2`.

They come from programs that need not be trusted, and Python's own engine can be kept busy for ever by a short one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from hark import hints
from hark.intents.registration import Rejected

log = logging.getLogger("hark.intents")

LONGEST: Final = 2_000
"""Characters of an expression."""
MOST: Final = 32
"""Expressions of one vocabulary."""
_MEMORY: Final = 1 << 20
"""Bytes that one compiled expression may use."""
_LOOKAROUNDS: Final = ("(?!", "(?=", "(?<!", "(?<=")


class Expression(NamedTuple):
    """A compiled regular expression; its group of the vocabulary's name is what was said."""

    compiled: Any
    group: int

    def spans(self, said: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Where it occurs in these words: minus the number of words, and the first of them."""
        found = self.compiled.search(" ".join(said))
        if found is None:
            return
        begin, end = found.span(self.group)
        if begin < 0 or not found.group(self.group).strip():
            return
        first, last, at = len(said), -1, 0
        for place, word in enumerate(said):
            if at < end and at + len(word) > begin:
                first, last = min(first, place), place
            at += len(word) + 1
        if last >= first:
            yield first - last - 1, first


def compile_expression(text: object, group: str) -> Expression:
    """The expression of a vocabulary; raises `Rejected`."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise Rejected(f"a pattern is text of at most {LONGEST} characters")
    try:
        import re2  # type: ignore[import-untyped]
    except ImportError:
        raise Rejected(f"regular expressions need the extra re2: {hints.install_extra('re2')}") from None
    options = re2.Options()
    options.case_sensitive, options.log_errors, options.max_mem = False, False, _MEMORY
    try:
        compiled = re2.compile(text, options)
    except re2.error as error:
        without = without_lookarounds(text)
        if without == text:
            raise Rejected(f"the pattern cannot be searched in linear time: {_reason(error)}") from None
        try:
            compiled = re2.compile(without, options)
        except re2.error as second:
            raise Rejected(f"the pattern cannot be searched in linear time: {_reason(second)}") from None
        log.info("the pattern %r is used without its conditions on what is around: %r", text, without)
    named = [name for name in compiled.groupindex if name.casefold() == group.casefold()]
    if not named:
        raise Rejected(f"the pattern has no group {group!r}")
    return Expression(compiled, compiled.groupindex[named[0]])


def without_lookarounds(text: str) -> str:
    """A regular expression without the groups that look ahead or behind."""
    kept: list[str] = []
    place = 0
    while place < len(text):
        if text[place] == "\\":
            kept.append(text[place : place + 2])
            place += 2
        elif text.startswith(_LOOKAROUNDS, place):
            place = _end_of_group(text, place)
        else:
            kept.append(text[place])
            place += 1
    return "".join(kept)


def _end_of_group(text: str, place: int) -> int:
    depth = 0
    while place < len(text):
        if text[place] == "\\":
            place += 1
        elif text[place] == "(":
            depth += 1
        elif text[place] == ")":
            depth -= 1
            if not depth:
                return place + 1
        place += 1
    return place


def _reason(error: Exception) -> str:
    said = error.args[0] if error.args else error
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
