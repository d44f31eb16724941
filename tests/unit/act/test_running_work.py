"""What runs for whom."""

from __future__ import annotations

import asyncio

from hark.act.running_work import RunningWork
from hark.testing import FakeClock, settle


def forever() -> asyncio.Task[None]:
    async def wait() -> None:
        await asyncio.Event().wait()

    return asyncio.create_task(wait())


async def test_who_is_busy_is_told_by_skill_and_session() -> None:
    work = RunningWork(FakeClock())
    work.add(forever(), "a.skill", "x")
    assert work.is_busy("a.skill", "x")
    assert not work.is_busy("a.skill", "y")
    assert not work.is_busy("b.skill", "x")
    await work.close()
    assert not work.is_busy("a.skill", "x")


async def test_a_stop_cancels_what_runs_there_and_nothing_else() -> None:
    work = RunningWork(FakeClock())
    mine, elsewhere, others = forever(), forever(), forever()
    for task, skill_id, session_id in ((mine, "a", "x"), (elsewhere, "a", "y"), (others, "b", "x")):
        work.add(task, skill_id, session_id)
    assert await work.cancel("a", "x") is True
    assert (mine.cancelled(), elsewhere.done(), others.done()) == (True, False, False)
    assert await work.cancel("a", "x") is False, "a second stop finds nothing"
    await work.close()
    assert elsewhere.cancelled()
    assert others.cancelled()


async def test_what_is_done_leaves_by_itself() -> None:
    async def nothing() -> None:
        return

    work = RunningWork(FakeClock())
    work.add(asyncio.create_task(nothing()), "a", "x")
    await settle()
    assert not work.is_busy("a", "x")
    assert await work.cancel("a", "x") is False


async def test_whoever_stops_is_not_stopped() -> None:
    work = RunningWork(FakeClock())

    async def stop() -> bool:
        task = asyncio.current_task()
        assert task is not None
        work.add(task, "a", "x")
        assert not work.is_busy("a", "x")
        return await work.cancel("a", "x")

    assert await asyncio.create_task(stop()) is False
