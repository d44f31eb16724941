"""Keeping processes alive: small ones, started for real."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from hark.app.processes.managed_process import ManagedProcess
from hark.app.processes.supervisor import FIRST, LONGEST, STEADY, Backoff, Supervisor
from hark.model import SystemClock

BODY = """
import asyncio, sys, time
from hark.app.processes.parent_watch import ParentWatch
from hark.model import SystemClock

async def main():
    gone = asyncio.Event()
    ParentWatch(sys.argv[-1], SystemClock(), gone.set, 5.0)
    print("up", flush=True)
    {body}
    await gone.wait()
    print("loose", flush=True)

asyncio.run(main())
"""


class Rig:
    """Children that run a few lines of Python each."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.gone: list[int] = []
        self.failed: list[str] = []
        self._stirred = asyncio.Event()

    def child(self, name: str, body: str = "pass") -> ManagedProcess:
        return ManagedProcess(name, [sys.executable, "-c", BODY.format(body=body)], SystemClock(), self._tell)

    def supervisor(self, *children: ManagedProcess, stalled: float = 30.0) -> Supervisor:
        return Supervisor(
            children, SystemClock(), stalled=stalled, grace=10.0, gone=self.gone.append, failed=self._fail
        )

    async def told(self, line: str, times: int = 1) -> None:
        async with asyncio.timeout(30):
            while self.lines.count(line) < times:
                self._stirred.clear()
                await self._stirred.wait()

    def _tell(self, line: str) -> None:
        self.lines.append(line)
        self._stirred.set()

    def _fail(self, why: str) -> None:
        self._tell(why)
        self.failed.append(why)


@pytest.fixture
async def rig() -> Rig:
    return Rig()


async def test_what_children_write_is_told_with_their_names_and_they_end_in_order(rig: Rig) -> None:
    supervisor = rig.supervisor(rig.child("one"), rig.child("two"))
    supervisor.start()
    await rig.told("one: up")
    await rig.told("two: up")
    await supervisor.stop(("two", "one"))
    assert [child.pid for child in supervisor.children] == [None, None]
    assert len(rig.gone) == 2


async def test_a_child_that_was_killed_is_started_again(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    child = rig.child("one")
    supervisor = rig.supervisor(child)
    supervisor.start()
    await rig.told("one: up")
    first = child.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await rig.told("one: up", times=2)
    assert child.pid not in (None, first)
    assert rig.gone == [first]
    await supervisor.stop(("one",))
    assert "one was ended by SIGKILL; it is started again in 0.1 s" in caplog.text


async def test_a_child_whose_event_loop_stands_still_is_killed_and_started_again(
    rig: Rig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    once = tmp_path / "once"
    body = f"import pathlib; p = pathlib.Path({str(once)!r}); p.exists() or (p.touch(), time.sleep(60))"
    supervisor = rig.supervisor(rig.child("one", body), stalled=1.5)
    supervisor.start()
    await rig.told("one: up", times=2)
    assert "one has stood still for" in caplog.text
    await supervisor.stop(("one",))


async def test_a_child_that_has_something_to_be_put_right_is_not_tried_again(rig: Rig) -> None:
    supervisor = rig.supervisor(rig.child("one", "print('no such file', flush=True); sys.exit(2)"))
    supervisor.start()
    await rig.told("one cannot be started; see above")
    assert rig.lines == ["one: up", "one: no such file", "one cannot be started; see above"]
    await supervisor.stop(("one",))


async def test_a_child_that_never_gets_going_is_given_up(rig: Rig) -> None:
    supervisor = rig.supervisor(rig.child("one", "sys.exit(1)"))
    supervisor.start()
    await rig.told("one cannot be started; see above")
    assert rig.lines.count("one: up") == 5
    await supervisor.stop(("one",))


async def test_a_child_hears_that_whoever_looked_after_it_is_gone(rig: Rig) -> None:
    child = rig.child("one")
    await child.start()
    await rig.told("one: up")
    os.close(child._leash)
    assert await child.ended() == 0
    assert rig.lines == ["one: up", "one: loose"]


async def test_a_long_line_and_one_that_is_no_text_are_told_as_well(rig: Rig) -> None:
    body = "sys.stdout.buffer.write(b'x' * 300_000 + b'\\n\\xff end'); sys.stdout.flush(); sys.exit(2)"
    supervisor = rig.supervisor(rig.child("one", body))
    supervisor.start()
    await rig.told("one cannot be started; see above")
    assert [len(line) for line in rig.lines[1:3]] == [300_005, len("one: � end")]
    await supervisor.stop(("one",))


def test_pauses_grow_and_are_forgotten_after_good_service() -> None:
    backoff = Backoff()
    pauses = [backoff.after(1.0) for _ in range(12)]
    assert pauses[:3] == [FIRST, 2 * FIRST, 4 * FIRST]
    assert pauses[-1] == LONGEST
    assert backoff.after(STEADY) == FIRST
