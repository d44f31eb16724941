"""The client of the control socket. It uses plain sockets, so that a command need not import the assistant."""

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
"""Seconds in which another process takes over the socket."""
_PAUSE: Final = 0.05
PATIENCE: Final = 5.0
"""Seconds in which a running assistant has to give a first answer."""


class NoAnswer(Exception):
    """The process behind the socket does not answer, or not by the protocol."""


def connect(directory: Path) -> Connection | None:
    """A connection to the assistant that has the state directory; None when none is listening there.

    When services share the directory and the process that served the socket has ended, another takes it over.
    """
    deadline = monotonic() + HANDOVER
    while (connection := _connect(directory)) is None and _is_shared(directory) and monotonic() < deadline:
        sleep(_PAUSE)
    return connection


def _is_shared(directory: Path) -> bool:
    """Whether a live process holds a lock on a part of the directory."""
    return any(_is_alive(file) for file in directory.glob("*.lock"))


def _is_alive(lock: Path) -> bool:
    try:
        os.kill(int(lock.read_text().split()[-1]), 0)
    except (OSError, ValueError, IndexError, OverflowError):
        return False
    return True


def _connect(directory: Path) -> Connection | None:
    deadline = monotonic() + PATIENCE
    while True:
        try:
            return _connect_now(directory)
        except BlockingIOError:  # the assistant is there, and has not accepted the connections before this one
            if monotonic() > deadline:
                return None
            sleep(_PAUSE)


def _connect_now(directory: Path) -> Connection | None:
    try:
        with short(directory) as reachable:
            channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                channel.settimeout(PATIENCE)
                channel.connect(str(reachable / NAME))
            except BaseException:
                channel.close()
                raise
    except BlockingIOError:
        raise
    except OSError:  # no directory, no socket, or the socket of a killed process
        return None
    return Connection(channel)


class Connection:
    """A connection to a running assistant."""

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
                    self._channel.settimeout(None)  # a handler has no time limit
                elif not isinstance(answer, SpokenText):
                    return
        except TimeoutError:
            raise NoAnswer(f"timed out after {PATIENCE:g} s") from None
        except (OSError, msgspec.DecodeError) as error:
            raise NoAnswer(str(error)) from None
