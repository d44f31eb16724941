"""Where a key stands in a TOML text: the parser of the standard library does not tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

Path = tuple[str, ...]

_PART: Final = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED: Final = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER: Final = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]\]?\s*(?:#.*)?")
_KEY: Final = re.compile(rf"\s*({_DOTTED})\s*=(.*)")
_PARTS: Final = re.compile(_PART)
_QUOTED: Final = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\])*"|\'[^\']*\'|#.*')


class Lines:
    """Finds tables and keys in a text that is known to be TOML."""

    def __init__(self, text: str) -> None:
        self._found: dict[Path, int] = {}
        for number, path in _walk(text.splitlines()):
            # The first line that mentions a table is the best there is for a table that was never opened by itself.
            for length in range(1, len(path) + 1):
                self._found.setdefault(path[:length], number)

    def of(self, path: Path) -> int | None:
        """The line of a key or table, or of the innermost table around it that can be found."""
        while path:
            if path in self._found:
                return self._found[path]
            path = path[:-1]
        return None


def _walk(lines: list[str]) -> Iterator[tuple[int, Path]]:
    table: Path = ()
    value = _Value()
    for number, line in enumerate(lines, 1):
        if value.is_open:
            value.take(line)
        elif (header := _HEADER.fullmatch(line)) is not None:
            table = _split(header[1])
            yield number, table
        elif (key := _KEY.match(line)) is not None:
            yield number, (*table, *_split(key[1]))
            value.take(key[2])


def _split(dotted: str) -> Path:
    return tuple(part.strip("\"'") if part[0] in "\"'" else part for part in _PARTS.findall(dotted))


class _Value:
    """A value that may go on over several lines."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""

    @property
    def is_open(self) -> bool:
        """Whether the next line still belongs to it."""
        return bool(self._quote) or self._depth > 0

    def take(self, text: str) -> None:
        """Go on with another line of it."""
        if self._quote:
            _, closed, text = text.partition(self._quote)
            if not closed:
                return
            self._quote = ""
        bare = ""
        while (quoted := _QUOTED.search(text)) is not None:
            bare += text[: quoted.start()]
            text = text[quoted.end() :]
            if quoted[0] in ('"""', "'''"):
                _, closed, text = text.partition(quoted[0])
                if not closed:
                    self._quote = quoted[0]
                    break
        bare += text
        self._depth += sum(map(bare.count, "[{")) - sum(map(bare.count, "]}"))
