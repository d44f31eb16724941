"""`hassil.json`: what a locale folder cannot say, kept beside it for the way back. Nothing else reads it.

An entry is either a line of a locale file, which says what the other format said, or `{"was": …, "lines": […]}`: what
it was, and the lines that stand for it now. As long as those lines are all there, the way back writes what it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from hark.app.trouble import Trouble

NAME: Final = "hassil.json"
FORMAT: Final = 1

Entry = str | dict[str, Any]


def entry(was: Any, lines: list[str], back: str | None) -> Entry:
    """The entry for something that became `lines`; `back` is how a single line reads in the other format."""
    return lines[0] if len(lines) == 1 and back == was else {"was": was, "lines": lines}


def lines_of(item: Entry) -> list[str]:
    """The lines of a locale file that an entry is about."""
    return [item] if isinstance(item, str) else [str(line) for line in item.get("lines", ())]


def restored(present: Iterable[str], entries: Iterable[Entry], back: Mapping[str, Any]) -> list[Any]:
    """What the entries were, as far as their lines are `present`; `back` has the lines that stand for themselves."""
    there = set(present)
    found: list[Any] = []
    for item in entries:
        lines = lines_of(item)
        if not isinstance(item, str) and there.issuperset(lines):
            found.append(item["was"])
        else:
            found += [back[line] for line in lines if line in there]
    return found


def read_side(folder: Path) -> dict[str, Any]:
    """What was kept beside a locale folder; empty when there is nothing. Raises `Trouble`."""
    path = folder / NAME
    if not path.exists():
        return {}
    try:
        side = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Trouble(f"{path} cannot be read: {error}; without it the rest can still be exported") from error
    if not isinstance(side, dict) or side.get("format") != FORMAT:
        raise Trouble(f"{path} is not of format {FORMAT}; without it the rest can still be exported")
    return side


def write_side(side: Mapping[str, Any]) -> str:
    """The text of the file."""
    return json.dumps({"format": FORMAT, **side}, ensure_ascii=False, indent=1) + "\n"
