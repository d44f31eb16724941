"""A way that can be shut for a moment."""

from __future__ import annotations

import asyncio

from hark.hosting import Gate
from hark.testing import settle


async def test_who_comes_while_it_is_shut_waits_until_it_opens() -> None:
    gate = Gate()
    async with gate.closed():
        coming = asyncio.create_task(gate.enter())
        await settle()
        assert not coming.done()
    await settle()
    assert coming.done()


async def test_it_is_shut_when_everybody_is_through() -> None:
    gate = Gate()
    order: list[str] = []
    await gate.enter()
    await gate.enter()

    async def shut() -> None:
        async with gate.closed():
            order.append("shut")

    shutting = asyncio.create_task(shut())
    for _ in range(2):
        await settle()
        order.append("leaves")
        gate.leave()
    await shutting
    assert order == ["leaves", "leaves", "shut"]


async def test_those_who_shut_it_take_turns() -> None:
    gate = Gate()
    inside = 0

    async def shut() -> None:
        nonlocal inside
        async with gate.closed():
            inside += 1
            assert inside == 1
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(shut() for _ in range(5)))
    assert not gate.is_closed


async def test_who_gives_up_to_shut_it_leaves_it_open() -> None:
    gate = Gate()
    await gate.enter()

    async def shut() -> None:
        async with gate.closed():
            raise AssertionError("somebody is inside")

    shutting = asyncio.create_task(shut())
    await settle()
    shutting.cancel()
    await asyncio.wait({shutting})
    assert not gate.is_closed
    await asyncio.wait_for(gate.enter(), 1)
