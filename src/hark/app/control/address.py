"""Where the control socket is, also when its path is longer than a socket address can be."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

NAME: Final = "control.sock"

_LONGEST: Final = 107
"""Bytes a socket address can hold on Linux."""


@contextmanager
def short(directory: Path, longest_name: int = len(NAME)) -> Iterator[Path]:
    """`directory` under a name that leaves room for a socket in it, for as long as the block runs."""
    if len(os.fsencode(directory)) + 1 + longest_name <= _LONGEST:
        yield directory
        return
    descriptor = os.open(directory, os.O_PATH | os.O_DIRECTORY)
    try:
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
