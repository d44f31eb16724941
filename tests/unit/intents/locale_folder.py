"""Locale folders made of text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files, by their path below `folder`."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
