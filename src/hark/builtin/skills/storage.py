"""A small value that a skill keeps on disk."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

import msgspec

from hark.plugins import Host

T = TypeVar("T")


class StoredValue(Generic[T]):
    """A value of one type in a file of the skill's own. Safe to use from several threads: `with stored.lock`.

    A new file is written beside the old one and then replaces it, so a crash leaves one of the two. A file that cannot
    be read is renamed and reported in the log. Without a data directory the value lives as long as the process.
    """

    def __init__(self, host: Host, name: str, kind: type[T], empty: T) -> None:
        self.lock = Lock()
        self._host = host
        self._name = name
        self._kind = kind
        self._value = empty
        self._is_read = False

    def read(self) -> T:
        """The value; the file is read the first time."""
        if not self._is_read:
            self._is_read = True
            self._value = self._on_disk()
        return self._value

    def write(self, value: T) -> None:
        """Store another value."""
        try:
            folder: Path | None = self._host.data_dir
        except RuntimeError:  # this assistant keeps nothing on disk
            folder = None
        if folder is not None:
            self._put(folder, value)
        self._is_read = True
        self._value = value

    def _put(self, folder: Path, value: T) -> None:
        path, fresh = folder / self._name, folder / f"{self._name}.new"
        with fresh.open("wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(value)))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)

    def _on_disk(self) -> T:
        try:
            path = self._host.data_dir / self._name
            return msgspec.json.decode(path.read_bytes(), type=self._kind)
        except (RuntimeError, FileNotFoundError):
            return self._value
        except (OSError, msgspec.MsgspecError, ValueError) as error:
            self._host.log.error("%s cannot be read and is renamed to %s.broken: %s", path, path.name, error)
            path.replace(path.with_name(f"{path.name}.broken"))
            return self._value
