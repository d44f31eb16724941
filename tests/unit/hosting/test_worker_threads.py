"""The threads for plugin code that may block."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from hosted import Blocker

from flow.stage import reached
from hark.hosting import Job, WorkerThreads


def job(work: Any = None) -> Job:
    return Job(work or (lambda _job: None), asyncio.get_running_loop().create_future())


async def test_work_is_done_on_a_daemon_thread_of_our_own() -> None:
    workers = WorkerThreads()
    thread = await workers.submit(lambda _job: threading.current_thread()).done
    assert thread.name == "hark-worker"
    assert thread.daemon
    workers.close()


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(1), KeyboardInterrupt()])
async def test_whatever_work_raises_reaches_the_waiting_task_and_the_thread_goes_on(error: BaseException) -> None:
    workers = WorkerThreads(max_threads=1)

    def fail(_job: Job) -> None:
        raise error

    done = workers.submit(fail).done
    await asyncio.wait([done])
    assert done.exception() is error
    assert await workers.submit(lambda _job: "next").done == "next"
    assert workers.count == 1
    workers.close()


async def test_the_pool_grows_with_what_waits_up_to_its_limit() -> None:
    workers = WorkerThreads(max_threads=3)
    gates = [Blocker(n) for n in range(5)]
    jobs = [workers.submit(lambda _job, gate=gate: gate()) for gate in gates]
    assert workers.count == 3
    for gate in gates:
        gate.opened.set()
    assert await asyncio.gather(*(submitted.done for submitted in jobs)) == [0, 1, 2, 3, 4]
    assert workers.count == 3
    workers.close()


async def test_threads_are_used_again() -> None:
    workers = WorkerThreads()
    for n in range(50):
        assert await workers.submit(lambda _job, n=n: n).done == n
    assert workers.count <= 5
    workers.close()


async def test_idle_threads_end_when_the_pool_is_closed() -> None:
    workers = WorkerThreads()
    thread = await workers.submit(lambda _job: threading.current_thread()).done
    workers.close()
    await asyncio.to_thread(thread.join, 20)
    assert not thread.is_alive()
    assert workers.count == 0


async def test_a_job_abandoned_before_it_began_is_not_begun() -> None:
    workers = WorkerThreads(max_threads=1)
    gate = Blocker()
    called: list[str] = []
    busy = workers.submit(lambda _job: gate())
    await reached(gate.reached)
    unwanted = workers.submit(lambda _job: called.append("unwanted"))
    assert unwanted.abandon()
    workers.abandoned(unwanted)
    gate.opened.set()
    await busy.done
    assert await workers.submit(lambda _job: "next").done == "next"
    assert called == []


async def test_a_result_after_the_loop_is_closed_is_dropped() -> None:
    workers = WorkerThreads()
    gate = Blocker()
    loop = asyncio.new_event_loop()

    async def submit() -> Job:
        return workers.submit(lambda _job: gate())

    submitted = await asyncio.to_thread(loop.run_until_complete, submit())
    loop.close()
    gate.opened.set()
    await reached(gate.left)
    assert await workers.submit(lambda _job: "alive").done == "alive"
    assert not submitted.done.done()


# Jobs.


async def test_what_a_job_returns_counts_until_it_is_abandoned() -> None:
    kept: list[str] = []
    current = job()
    current.enter("plugin", 1.0)
    assert current.current() == ("plugin", 1.0, 1)
    assert current.keep(lambda: kept.append("first"))
    assert current.abandon()
    assert not current.keep(lambda: kept.append("second"))
    assert kept == ["first"]
    assert not current.finish()


async def test_a_finished_job_cannot_be_abandoned() -> None:
    current = job()
    assert current.finish()
    assert not current.abandon()
    assert not current.abandoned


async def test_a_job_is_abandoned_once() -> None:
    current = job()
    assert current.abandon()
    assert not current.abandon()


async def test_a_job_is_not_abandoned_for_an_earlier_call() -> None:
    current = job()
    current.enter("a", 0.0)
    _, _, first = current.current()
    current.keep(lambda: None)
    assert current.current()[0] is None
    assert not current.abandon(first), "between two plugins"
    current.enter("b", 0.0)
    assert not current.abandon(first), "another plugin is running"
    assert current.abandon(current.current()[2])


async def test_threads_that_are_not_needed_any_more_end() -> None:
    workers = WorkerThreads()
    gates = [Blocker(n) for n in range(30)]
    jobs = [workers.submit(lambda _job, gate=gate: gate()) for gate in gates]
    assert workers.count == 30
    for gate in gates:
        gate.opened.set()
    await asyncio.gather(*(submitted.done for submitted in jobs))
    async with asyncio.timeout(20):
        while workers.count > 8:  # noqa: ASYNC110 - threads end on their own
            await asyncio.sleep(0)
    assert await workers.submit(lambda _job: "next").done == "next"
    workers.close()
