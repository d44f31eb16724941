"""One NATS server for all tests of a run, and ways to it that do not hear each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import msgspec
import pytest

from hark.bus.nats import NatsOptions
from hark.testing.nats_bus import NatsBus
from hark.testing.nats_server import NatsServer

_prefixes = count(1)


@pytest.fixture(scope="session")
def nats_server() -> Iterator[NatsServer]:
    """A server that is there for the whole run."""
    with NatsServer(max_payload=8 * 1024 * 1024) as server:
        yield server


@pytest.fixture(scope="session")
def jetstream_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """One with JetStream."""
    with NatsServer("-js", "-sd", str(tmp_path_factory.mktemp("jetstream"))) as server:
        yield server


@pytest.fixture
def nats_bus(nats_server: NatsServer) -> type[NatsBus]:
    """Buses on it that do not hear each other."""
    NatsBus.url = nats_server.url
    return NatsBus


@pytest.fixture
def nats_options(nats_server: NatsServer) -> NatsOptions:
    """A way to it, under a prefix of its own."""
    return NatsOptions((nats_server.url,), prefix=f"test{next(_prefixes)}.")


@pytest.fixture
def own_nats_server() -> Iterator[NatsServer]:
    """A server that a test may kill."""
    with NatsServer() as server:
        yield server


@pytest.fixture
def own_nats_options(own_nats_server: NatsServer) -> NatsOptions:
    """A way to that one; it tries again soon."""
    return msgspec.structs.replace(NatsOptions((own_nats_server.url,)), retry=0.01, regroup=0.0)
