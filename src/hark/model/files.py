"""Reading files that others have made: not what never ends, or waits for whatever writes to it."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final

LARGEST_FILE: Final = 64 * 2**20
"""Bytes of a file that is read in one go."""


def read_file(path: Path, largest: int = LARGEST_FILE) -> bytes:
    """What is in a file; raises `OSError` for one that is larger, a device, or a FIFO that no shell has just made."""
    is_piped = path.is_relative_to("/dev/fd") or path == Path("/dev/stdin")
    if not path.is_file() and path.exists() and not path.is_dir() and not is_piped:
        raise OSError(errno.EINVAL, "it is no file but a FIFO or a device")
    with path.open("rb") as file:
        octets = file.read(largest + 1)
    if len(octets) > largest:
        raise OSError(errno.EFBIG, f"it has more than {largest} bytes")
    return octets
