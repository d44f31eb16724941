"""Reading the files of a locale folder (INTENT-2 §3)."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from hark.intents.locale.errors import MalformedResource

_BOM: Final = "\ufeff"


class Line(NamedTuple):
    """One template of a file, and where it stands."""

    number: int
    """From 1."""
    column: int
    """Of the first character, from 1: an offset into `text` plus this is a column of the file."""
    text: str


def read_text(path: Path) -> str:
    """The whole file, its line ends as they are; a byte-order mark at the beginning is dropped.

    Raises `MalformedResource` for what cannot be read or is no UTF-8.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MalformedResource(f"the file cannot be read: {error.strerror}", path) from None
    try:
        return content.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError as error:
        before = content[: error.start]
        start = before.rfind(b"\n") + 1
        column = len(before[start:].decode("utf-8", "replace").removeprefix(_BOM)) + 1
        reason = f"the byte 0x{content[error.start]:02x} is no UTF-8; save the file with the encoding UTF-8"
        raise MalformedResource(reason, path, before.count(b"\n") + 1, column) from None


def read_lines(path: Path) -> list[Line]:
    """The templates of a file in their order: no blank lines, no lines that begin with `#`.

    Raises `MalformedResource` as `read_text` does. A file without any template gives an empty list.
    """
    return lines_of(read_text(path))


def lines_of(text: str) -> list[Line]:
    """As `read_lines`, of text that was read already."""
    found = []
    # Only LF and CRLF end a line: str.splitlines would also break at form feeds and Unicode's separators.
    for number, line in enumerate(text.split("\n"), 1):
        content = line.strip()
        if content and content[0] != "#":
            found.append(Line(number, len(line) - len(line.lstrip()) + 1, content))
    return found
