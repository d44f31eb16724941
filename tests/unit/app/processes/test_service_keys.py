"""Claims to services as keys of NATS, which expire with their process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import count

import msgspec
import pytest

from hark.app.bus_address import BusAddress
from hark.app.processes.claims import ProcessInfo, ServiceTaken, this_process
from hark.app.processes.connection import connect
from hark.app.processes.service_keys import TTL, KeyClaim, ServiceKeys
from hark.app.settings.tables import NatsTable
from hark.model import SystemClock
from hark.testing.nats_server import NatsServer

_prefixes = count(1)
GONE = 2**22 + 1
"""No process has this id: Linux gives out smaller ones."""

Claim = Callable[..., KeyClaim]


@pytest.fixture
async def keys(nats_server: NatsServer) -> AsyncIterator[ServiceKeys]:
    address = BusAddress(nats=NatsTable(servers=(nats_server.url,), prefix=f"keys.test{next(_prefixes)}."))
    connection = await connect(address, SystemClock())
    assert isinstance(connection.members, ServiceKeys)
    yield connection.members
    await connection.close()


@pytest.fixture
async def claim(keys: ServiceKeys) -> AsyncIterator[Claim]:
    made: list[KeyClaim] = []

    def make(*services: str, worker: str | None = None, lost: list[ProcessInfo] | None = None) -> KeyClaim:
        info = this_process(services, 1.0, is_worker=worker is not None)
        losses = lost if lost is not None else []
        made.append(KeyClaim(keys, info, worker or "", SystemClock(), losses.append))
        return made[-1]

    yield make
    for one in made:
        await one.leave()


async def test_a_second_claim_is_refused_and_the_first_process_named(claim: Claim) -> None:
    first, second = claim("act"), claim("speak", "act")
    await first.take()
    with pytest.raises(ServiceTaken, match=f"the service act already runs on this bus in process {first.info.pid} on"):
        await second.take()
    await first.leave()
    await claim("act").take()


async def test_members_are_listed_with_their_readiness(keys: ServiceKeys, claim: Claim) -> None:
    assert await keys.present() == []
    process = claim("hear", "speak")
    await process.take()
    assert [(info.services, info.is_ready) for info in await keys.present()] == [(("hear", "speak"), False)]
    await process.ready()
    assert [info.is_ready for info in await keys.present()] == [True]
    await process.leave()
    assert await keys.present() == []


async def test_workers_share_understand_and_no_process_has_it_for_itself_beside_them(
    keys: ServiceKeys, claim: Claim
) -> None:
    for name in ("understand-1", "understand-2"):
        await claim("understand", worker=name).take()
    assert len(await keys.present()) == 2
    with pytest.raises(ServiceTaken):
        await claim("understand").take()
    with pytest.raises(ServiceTaken):
        await claim("understand", worker="understand-2").take()


async def test_the_key_of_a_process_that_was_killed_here_is_taken_over_at_once(keys: ServiceKeys, claim: Claim) -> None:
    killed = msgspec.structs.replace(this_process(("act",), 1.0), pid=GONE)
    assert await keys.write("act", killed, 0) is not None
    assert await keys.present() == []
    async with asyncio.timeout(TTL / 3):
        await claim("act").take()


async def test_the_key_of_a_process_that_hangs_elsewhere_is_taken_when_it_expires(
    keys: ServiceKeys, claim: Claim
) -> None:
    hung = msgspec.structs.replace(this_process(("act",), 1.0), host="elsewhere")
    assert await keys.write("act", hung, 0) is not None
    late = claim("act")
    await asyncio.wait_for(late.take(), TTL * 3)
    assert [info.id for info in await keys.present()] == [late.info.id]


async def test_a_process_whose_key_was_taken_while_it_hung_is_told(keys: ServiceKeys, claim: Claim) -> None:
    lost: list[ProcessInfo] = []
    hung = claim("act", lost=lost)
    await hung.take()
    key = await keys.read("act")
    assert key is not None
    other = msgspec.structs.replace(this_process(("act",), 2.0), host="elsewhere")
    assert await keys.write("act", other, key.revision) is not None
    await hung.ready()
    assert lost == [other]


async def test_a_key_that_expired_is_written_again(keys: ServiceKeys, claim: Claim) -> None:
    process = claim("act")
    await process.take()
    await keys.write("act", None, (await keys.read("act") or pytest.fail("no key")).revision)
    assert await keys.present() == []
    await process.ready()
    assert [info.id for info in await keys.present()] == [process.info.id]
