"""Rules that rewrite a text: each is a pattern beside the method that says what stands in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

Say = Callable[[re.Match[str]], str]
_M = TypeVar("_M", bound=Callable[..., str])

NEVER: Final = "(?!)"
"""The pattern that finds nothing: that of a list a language leaves empty."""
_MARK: Final = "_says"


class SpokenRule(NamedTuple):
    """What is found, what is said for it, and a quicker pattern without which the text has nothing of it."""

    pattern: re.Pattern[str]
    say: Say
    hint: re.Pattern[str] | None

    def on(self, text: str) -> str:
        """`text` with everything the rule finds rewritten."""
        if self.hint is not None and self.hint.search(text) is None:
            return text
        return self.pattern.sub(self.say, text)


def says(pattern: str, *, hint: str = "", only: str = "", flags: int = 0) -> Callable[[_M], _M]:
    """Mark a method as the one that says what is in the place of `pattern`.

    `<<name>>` stands for a part of the language: `<<units>>`, `<<months>>`. Without the parts of `only`, which are
    separated by spaces, the language has no such rule.
    """

    def mark(method: _M) -> _M:
        setattr(method, _MARK, (pattern, hint, tuple(only.split()), flags))
        return method

    return mark


def rules_of(owner: object, parts: Mapping[str, str]) -> tuple[SpokenRule, ...]:
    """The rules among the methods of `owner`, in the order in which they are written."""
    return tuple(_rules(owner, parts))


def _rules(owner: object, parts: Mapping[str, str]) -> Iterable[SpokenRule]:
    for name, method in vars(type(owner)).items():
        marked: Any = getattr(method, _MARK, None)
        if marked is None:
            continue
        template, hint, only, flags = marked
        if all(parts[part] != NEVER for part in only):
            pattern = re.compile(filled(template, parts), flags)
            yield SpokenRule(pattern, getattr(owner, name), re.compile(filled(hint, parts)) if hint else None)


def filled(template: str, parts: Mapping[str, str]) -> str:
    """A pattern with its parts put in."""
    return re.sub(r"<<([a-z_]+)>>", lambda found: parts[found[1]], template)


def any_of(names: Iterable[str]) -> str:
    """A pattern for any of these, the longest first; for none of them, one that never matches."""
    return "|".join(re.escape(name) for name in sorted(set(names), key=len, reverse=True)) or NEVER
