"""Claims to services on a plain bus, where nothing keeps them: a process that starts asks the others."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import msgspec
import pytest

from hark.app.processes.claims import (
    BusClaim,
    BusMembers,
    PingResponder,
    ProcessInfo,
    ServiceTaken,
    machine,
    this_process,
    until_ready,
)
from hark.bus import RemoteBus
from hark.model import SystemClock
from hark.testing.memory_broker import MemoryBroker


class Plain:
    """Processes at one plain bus."""

    def __init__(self) -> None:
        self._broker = MemoryBroker()

    async def bus(self) -> RemoteBus:
        made = RemoteBus(self._broker.carrier())
        await made.open()
        return made

    async def process(self, *services: str, since: float = 1.0) -> BusClaim:
        bus = await self.bus()
        claim = BusClaim(bus, this_process(services, since))
        PingResponder(bus, claim)
        return claim


@pytest.fixture
async def plain() -> Plain:
    return Plain()


async def test_a_second_process_with_a_service_is_refused_and_told_which_one_has_it(plain: Plain) -> None:
    first = await plain.process("understand", "act")
    await first.take()
    second = await plain.process("act", "speak", since=0.5)
    with pytest.raises(ServiceTaken, match="the service act already runs on this bus in process ") as refused:
        await second.take()
    assert f"process {os.getpid()} on {machine()}, since 19" in str(refused.value)
    other = await plain.process("hear")
    await other.take()


async def test_of_two_that_start_at_once_the_first_one_stays(plain: Plain) -> None:
    claims = [await plain.process("act", since=2.0), await plain.process("act", since=1.0)]
    outcomes = await asyncio.gather(*(claim.take() for claim in claims), return_exceptions=True)
    assert isinstance(outcomes[0], ServiceTaken)
    assert outcomes[1] is None


async def test_processes_are_found_with_what_they_have_and_whether_they_are_ready(plain: Plain) -> None:
    members = BusMembers(await plain.bus())
    assert await members.present() == []
    claim = await plain.process("speak")
    assert await members.present() == [], "it has not claimed anything yet"
    await claim.take()
    waiting = asyncio.ensure_future(until_ready(members, ("speak",), SystemClock()))
    [info] = await members.present()
    assert (info.services, info.is_ready, waiting.done()) == (("speak",), False, False)
    await claim.ready()
    await asyncio.wait_for(waiting, 10)
    assert [one.is_ready for one in await members.present()] == [True]


def test_a_process_of_this_machine_that_has_ended_is_known_to_be_gone() -> None:
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()
    info = msgspec.structs.replace(this_process(("act",), 1.0), pid=ended.pid)
    assert info.is_gone
    assert not this_process(("act",), 1.0).is_gone
    assert not msgspec.structs.replace(info, host="elsewhere").is_gone
    assert not msgspec.structs.replace(info, space="a container with the name of its host").is_gone


def test_workers_share_a_service_with_each_other_alone() -> None:
    alone, first, second = (
        ProcessInfo(name, ("understand",), 1, "here", 1.0, is_worker=name != "a") for name in ("a", "b", "c")
    )
    assert not first.conflicts(second)
    assert alone.conflicts(first)
    assert first.conflicts(alone)
    assert not first.conflicts(first)
