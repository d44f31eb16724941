"""The gate in front of the plugins."""

from __future__ import annotations

import asyncio

from hark.hosting import Gate
from hark.testing import settle


async def test_entering_waits_while_the_gate_is_closed() -> None:
    gate = Gate()
    async with gate.closed():
        entering = asyncio.create_task(gate.enter())
        await settle()
        assert not entering.done()
    await settle()
    assert entering.done()


async def test_it_is_closed_once_all_have_left() -> None:
    gate = Gate()
    order: list[str] = []
    await gate.enter()
    await gate.enter()

    async def close() -> None:
        async with gate.closed():
            order.append("closed")

    closing = asyncio.create_task(close())
    for _ in range(2):
        await settle()
        order.append("leaves")
        gate.leave()
    await closing
    assert order == ["leaves", "leaves", "closed"]


async def test_it_is_closed_by_one_at_a_time() -> None:
    gate = Gate()
    inside = 0

    async def close() -> None:
        nonlocal inside
        async with gate.closed():
            inside += 1
            assert inside == 1
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(close() for _ in range(5)))
    assert not gate.is_closed


async def test_a_cancelled_close_leaves_it_open() -> None:
    gate = Gate()
    await gate.enter()

    async def close() -> None:
        async with gate.closed():
            raise AssertionError("it is not empty")

    closing = asyncio.create_task(close())
    await settle()
    closing.cancel()
    await asyncio.wait({closing})
    assert not gate.is_closed
    await asyncio.wait_for(gate.enter(), 1)
