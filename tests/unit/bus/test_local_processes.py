"""Which program has the other end of a connection."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hark.bus.websocket.local_processes import Link, owners_of


@contextmanager
def linked(host: str) -> Iterator[Link]:
    """A connection of this process to itself."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with (
        socket.create_server((host, 0), family=family) as server,
        socket.create_connection(server.getsockname()[:2], 5) as client,
        server.accept()[0],
    ):
        yield Link(client.getsockname()[:2], client.getpeername()[:2])


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_program_at_the_clients_end_is_found(host: str) -> None:
    me = f"process {os.getpid()}"
    with linked(host) as link:
        assert owners_of([link]) == {link: me}
        assert owners_of([link], [me]) == {link: me}
        assert owners_of([link], ["process 1"]) == {}


def test_a_connection_that_is_gone_has_no_owner() -> None:
    with linked("127.0.0.1") as link:
        pass
    nowhere = Link(("127.0.0.1", 1), link.server)
    assert nowhere not in owners_of([nowhere])
    assert f"process {os.getpid()}" not in owners_of([link]).values()
