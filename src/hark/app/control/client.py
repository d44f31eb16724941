"""Talking to the assistant that runs. Plain sockets: a command that only asks should not have to load an assistant."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Final

import msgspec

from hark.app.control.protocol import NAME, Accepted, Answer, Request, SpokenText, decode_answer, line, short

HANDOVER: Final = 2.0
"""Seconds in which another one has the socket."""
_PAUSE: Final = 0.05
PATIENCE: Final = 5.0
"""Seconds a running assistant has to answer at all."""


class NoAnswer(Exception):
    """There is a socket, but nobody answers, or not what was agreed."""


def connect(directory: Path) -> Connection | None:
    """A connection to the assistant that has the state directory; None when none is listening there.

    Processes that share the directory serve the socket in turns: when the one that had it is gone, another will.
    """
    deadline = monotonic() + HANDOVER
    while (connection := _connect(directory)) is None and _has_processes(directory) and monotonic() < deadline:
        sleep(_PAUSE)
    return connection


def _has_processes(directory: Path) -> bool:
    """Whether processes that share the directory are alive."""
    return any(_lives(file) for file in directory.glob("*.lock"))


def _lives(lock: Path) -> bool:
    try:
        os.kill(int(lock.read_text().split()[-1]), 0)
    except (OSError, ValueError, IndexError, OverflowError):
        return False
    return True


def _connect(directory: Path) -> Connection | None:
    try:
        with short(directory) as reachable:
            channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                channel.settimeout(PATIENCE)
                channel.connect(str(reachable / NAME))
            except BaseException:
                channel.close()
                raise
    except OSError:  # no directory, no socket, or one that a killed process left behind
        return None
    return Connection(channel)


class Connection:
    """One conversation with a running assistant."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._received = channel.makefile("rb")

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._received.close()
        self._channel.close()

    def ask(self, request: Request) -> Iterator[Answer]:
        """The answers to a request, up to the one that ends it; raises `NoAnswer`."""
        try:
            self._channel.settimeout(PATIENCE)
            self._channel.sendall(line(request))
            while True:
                answer = decode_answer(self._received.readline() or b"nothing")
                yield answer
                if isinstance(answer, Accepted):
                    self._channel.settimeout(None)  # a handler may take all the time it wants
                elif not isinstance(answer, SpokenText):
                    return
        except (OSError, msgspec.DecodeError) as error:
            raise NoAnswer(str(error)) from None
