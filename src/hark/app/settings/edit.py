"""Set values in the text of a settings file, and leave everything else in it as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hark.app.settings.document import Lines, OpenValue, key_text, written

KeyPath = tuple[str, ...]
"""A key with its tables: ("home", "place"), ("wake", "main", "phrase")."""


def with_values(text: str, values: Mapping[KeyPath, Any]) -> str:
    """`text`, which is TOML, with these values: in the place of those it has, else below the header of their table,
    else in a new table at the end. Comments and the order of everything else stay.
    """
    for path, value in values.items():
        text = _with_value(text, path, f"{key_text(path[-1])} = {written(value)}")
    return text


def _with_value(text: str, path: KeyPath, line: str) -> str:
    lines = text.splitlines()
    found = Lines(text)
    at = found.line(path)
    if at is not None:
        del lines[at - 1 : _end(lines, at)]
        lines.insert(at - 1, line)
        return _joined(lines)
    header = ".".join(map(key_text, path[:-1]))
    pattern = re.compile(rf"\s*\[\s*{re.escape(header)}\s*\]\s*(#.*)?")
    at = next((number for number, one in enumerate(lines, 1) if pattern.fullmatch(one)), None)
    if at is not None:
        lines.insert(at, line)
        return _joined(lines)
    return _joined([*lines, *([""] if lines and lines[-1].strip() else []), f"[{header}]", line])


def _end(lines: list[str], at: int) -> int:
    """The last line of the value that begins in line `at`."""
    value = OpenValue()
    value.take(lines[at - 1].partition("=")[2])
    while value.is_open and at < len(lines):
        value.take(lines[at])
        at += 1
    return at


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
