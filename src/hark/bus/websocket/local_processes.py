"""Which program of this machine is at the other end of a connection. Linux alone says so."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

_SOCKET: Final = "socket:["
_PROCESS: Final = "process "

_SOCK_DIAG: Final = 4
"""The family of netlink that knows sockets."""
_BY_FAMILY: Final = 20
_REQUEST: Final = 1
_ANSWER: Final = 0.1
"""Seconds within which the kernel answers: it does so at once."""
_ANY_STATE: Final = 0xFFFF_FFFF
_ANY_COOKIE: Final = b"\xff" * 8
_HEADER: Final = struct.Struct("=IHHII")
"""Length, type, flags, number and sender."""
_QUERY: Final = struct.Struct("=BBBBI")
"""Family, protocol, extensions, nothing, states; then the two ends."""
_FOUND: Final = struct.Struct("=16x4x48x12xII")
"""The user and the inode, behind a header, four bytes, the two ends and three numbers."""


class Link(msgspec.Struct, frozen=True):
    """The two ends of a TCP connection, each an address and a port."""

    client: tuple[str, int]
    server: tuple[str, int]


def owners_of(links: Iterable[Link], among: Iterable[str] | None = None, proc: Path = Path("/proc")) -> dict[Link, str]:
    """What has the client's end of each link: `process 1234`, or `user 1001` where processes of that user are hidden.

    `among` are the only owners to look at, in this order, which is quicker. A link that is not found is left out.
    """
    found: dict[str, Link] = {}
    owners: dict[Link, str] = {}
    for link, (user, inode) in _sockets_of(links).items():
        found[inode] = link
        if among is None:
            owners[link] = f"user {user}"
    pids = _pids(proc) if among is None else [name.removeprefix(_PROCESS) for name in among]
    for pid in pids:
        for inode in _sockets(proc, pid):
            if inode in found:
                owners[found.pop(inode)] = _PROCESS + pid
            if not found:
                return owners
    return owners


def _sockets_of(links: Iterable[Link]) -> dict[Link, tuple[int, str]]:
    """User and inode of the client's end of each open link. The kernel is asked by netlink: to print all sockets, as in
    /proc/net/tcp, takes it 10 ms and more. Empty where it cannot be asked.
    """
    found: dict[Link, tuple[int, str]] = {}
    with suppress(OSError, AttributeError), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as netlink:
        netlink.settimeout(_ANSWER)
        for link in links:
            family = socket.AF_INET6 if ":" in link.client[0] else socket.AF_INET
            query = _QUERY.pack(family, socket.IPPROTO_TCP, 0, 0, _ANY_STATE) + _ends(link, family) + _ANY_COOKIE
            netlink.send(_HEADER.pack(_HEADER.size + len(query), _BY_FAMILY, _REQUEST, 0, 0) + query)
            answer = netlink.recv(4096)
            if _HEADER.unpack_from(answer)[1] == _BY_FAMILY and len(answer) >= _FOUND.size:
                user, inode = _FOUND.unpack_from(answer)
                if inode:  # none where the connection has ended
                    found[link] = user, str(inode)
    return found


def _ends(link: Link, family: int) -> bytes:
    """Ports, addresses of 16 bytes each, and no network interface."""
    ports = struct.pack("!HH", link.client[1], link.server[1])
    ends = (socket.inet_pton(family, end[0].partition("%")[0]).ljust(16, b"\0") for end in (link.client, link.server))
    return ports + b"".join(ends) + bytes(4)


def _pids(proc: Path) -> list[str]:
    with suppress(OSError):
        return [name for name in os.listdir(proc) if name.isdecimal()]  # noqa: PTH208 - names are all it needs
    return []


def _sockets(proc: Path, pid: str) -> Iterator[str]:
    """The inodes of a process's sockets, the newest first; none where the process is another user's, or gone."""
    folder = f"{proc}/{pid}/fd"
    names: list[str] = []
    with suppress(OSError):
        names = sorted(os.listdir(folder), key=int, reverse=True)  # noqa: PTH208 - names are all it needs
    for name in names:
        with suppress(OSError):
            target = os.readlink(f"{folder}/{name}")  # noqa: PTH115 - many, and a path of each costs more
            if target.startswith(_SOCKET):
                yield target[len(_SOCKET) : -1]
