"""The state directory: private, and one assistant's at a time."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from hark.errors import UserError

_LOCK: Final = "lock"
_PROBE: Final = 16_384


class StateError(UserError):
    """The state directory cannot be used; the text says why, and what to do."""


class Locked(StateError):
    """Another assistant has the state directory."""


def make_directory(path: Path) -> None:
    """Make the directory, for its owner alone, or check one that is there; raises `StateError`.

    What is there already keeps its mode: it may be a directory that holds other things. But where others can write,
    they could take the place of the control socket.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        mode = path.stat().st_mode
    except OSError as error:
        why = "it is not a folder" if isinstance(error, FileExistsError) else error.strerror
        raise StateError(f"{path} cannot be used for state: {why}; choose another with --state") from None
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise StateError(f"{path} can be written to by others; chmod go-w {path}, or choose another with --state")
    for file in path.iterdir():  # to read a FIFO waits for whatever writes to it
        with suppress(OSError):
            if stat.S_ISFIFO(file.lstat().st_mode) or stat.S_ISCHR(file.lstat().st_mode):
                raise StateError(f"{file} is no file but a FIFO or a device; remove it")


def check_writable(directory: Path) -> None:
    """Raise `StateError` where a file cannot be written to the directory, as on a full disk."""
    probe = directory / f"probe.{os.getpid()}"
    try:
        descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            # More than a file system may keep within the entry of a file.
            if os.write(descriptor, bytes(_PROBE)) < _PROBE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
            probe.unlink(missing_ok=True)
    except OSError as error:
        raise StateError(
            f"{directory} cannot be written to: {error.strerror}; free some space, or choose another with --state"
        ) from None


class Lock:
    """Holds a state directory until it is released or the process is gone, however it goes.

    A whole assistant has it alone. The processes of one that is in several share it: then each holds its own `parts`.
    """

    def __init__(self, directory: Path, parts: Collection[str] = ()) -> None:
        """Take the lock; raises `Locked` when another process has it."""
        self._descriptors: list[int] = []
        try:
            self._descriptors.append(_take(directory, _LOCK, alone=not parts))
            for part in parts:
                self._descriptors.append(take_part(directory, part))
        except StateError:
            self.release()
            raise

    def release(self) -> None:
        """Let others have it."""
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors.clear()

    close = release


def take_part(directory: Path, part: str) -> int:
    """Take one part of a state directory that is ours anyway; raises `Locked`. It is ours until this is closed."""
    return _take(directory, f"{part}.{_LOCK}", alone=True)


def _take(directory: Path, name: str, *, alone: bool) -> int:
    file = directory / name
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise StateError(f"{file} cannot be opened: {error.strerror}; choose another with --state") from None
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        holder = os.read(descriptor, 100).decode(errors="replace").strip()
        os.close(descriptor)
        raise Locked(f"{directory} is in use by {holder or 'another assistant'}") from None
    who = "the assistant with process id" if alone else "an assistant in several processes, such as"
    with suppress(OSError):  # a full disk: the lock holds all the same
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{who} {os.getpid()}\n".encode())
    return descriptor
