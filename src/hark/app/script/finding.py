"""Which scripts a path stands for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from hark.app.trouble import Trouble

SUFFIX: Final = ".talk"


def scripts_in(paths: Iterable[Path]) -> list[Path]:
    """The files, and the scripts in and below the folders; raises `Trouble` when there is none."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            below = sorted(path.rglob(f"*{SUFFIX}"))
            if not below:
                raise Trouble(f"{path}: there is no script in it; scripts end in {SUFFIX}, see docs/scripts.md")
            found |= dict.fromkeys(below)
        elif path.exists():
            found[path] = None
        else:
            raise Trouble(f"{path}: there is no such file; name scripts, or folders with scripts")
    return list(found)
