"""A way that can be shut for a moment."""

from __future__ import annotations

import asyncio

from hark.hosting import Passage
from hark.testing import settle


async def test_who_comes_while_it_is_shut_waits_until_it_opens() -> None:
    passage = Passage()
    async with passage.shut():
        coming = asyncio.create_task(passage.enter())
        await settle()
        assert not coming.done()
    await settle()
    assert coming.done()


async def test_it_is_shut_when_everybody_is_through() -> None:
    passage = Passage()
    order: list[str] = []
    await passage.enter()
    await passage.enter()

    async def shut() -> None:
        async with passage.shut():
            order.append("shut")

    shutting = asyncio.create_task(shut())
    for _ in range(2):
        await settle()
        order.append("leaves")
        passage.leave()
    await shutting
    assert order == ["leaves", "leaves", "shut"]


async def test_those_who_shut_it_take_turns() -> None:
    passage = Passage()
    inside = 0

    async def shut() -> None:
        nonlocal inside
        async with passage.shut():
            inside += 1
            assert inside == 1
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(shut() for _ in range(5)))
    assert not passage.is_shut


async def test_who_gives_up_to_shut_it_leaves_it_open() -> None:
    passage = Passage()
    await passage.enter()

    async def shut() -> None:
        async with passage.shut():
            raise AssertionError("somebody is inside")

    shutting = asyncio.create_task(shut())
    await settle()
    shutting.cancel()
    await asyncio.wait({shutting})
    assert not passage.is_shut
    await asyncio.wait_for(passage.enter(), 1)
