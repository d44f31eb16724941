"""Keeping processes alive: small ones, started for real."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from hark.app.processes.managed_process import START_LIMIT, ManagedProcess
from hark.app.processes.supervisor import Supervisor
from hark.model import SystemClock

BODY = """
import asyncio, sys, time
from hark.app.processes.parent_watch import ParentWatch
from hark.model import SystemClock

async def main():
    parent_ended = asyncio.Event()
    watch = ParentWatch(sys.argv[-1], SystemClock(), parent_ended.set, 5.0)
    print("up", flush=True)
    {body}
    await parent_ended.wait()
    print("parent ended", flush=True)

asyncio.run(main())
"""


class SkippingClock(SystemClock):
    """A clock that can be set forward, as if this process had been stopped meanwhile."""

    skipped = 0.0

    def monotonic(self) -> float:  # type: ignore[override]
        return SystemClock.monotonic() + self.skipped


class Rig:
    """Processes that run a few lines of Python each."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.clock = SkippingClock()
        self._changed = asyncio.Event()

    def process(self, name: str, body: str = "watch.running()") -> ManagedProcess:
        return ManagedProcess(name, [sys.executable, "-c", BODY.format(body=body)], self.clock, self._report)

    def probed(self, name: str, answers: Callable[[], bool] = lambda: True) -> ManagedProcess:
        async def probe() -> bool:
            self._report("probed")
            return answers()

        body = "import time; print('up', flush=True); time.sleep(60)"
        return ManagedProcess(name, [sys.executable, "-c", body], self.clock, self._report, probe=probe)

    def supervisor(self, *processes: ManagedProcess, stalled: float = 30.0) -> Supervisor:
        return Supervisor(processes, self.clock, stalled=stalled, grace=10.0, failed=self._report)

    async def reported(self, line: str, times: int = 1) -> None:
        async with asyncio.timeout(120):
            while self.lines.count(line) < times:
                self._changed.clear()
                with suppress(TimeoutError):  # a line may have come from its thread between the look and this
                    await asyncio.wait_for(self._changed.wait(), 0.2)

    def _report(self, line: str) -> None:
        self.lines.append(line)
        self._changed.set()


@pytest.fixture
async def rig() -> Rig:
    return Rig()


async def test_what_processes_write_is_reported_with_their_names_and_they_end_in_order(rig: Rig) -> None:
    supervisor = rig.supervisor(*map(rig.process, ("one", "two", "three")))
    supervisor.start()
    for name in ("one", "two", "three"):
        await rig.reported(f"{name}: up")
    await supervisor.stop(("two", "three", "one"))
    assert [process.pid for process in supervisor.processes] == [None, None, None]


async def test_a_process_that_was_killed_is_restarted(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    process = rig.process("one")
    supervisor = rig.supervisor(process)
    supervisor.start()
    await rig.reported("one: up")
    first = process.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await rig.reported("one: up", times=2)
    assert process.pid not in (None, first)
    await supervisor.stop(("one",))
    assert "one was ended by SIGKILL; it is restarted in 0.1 s" in caplog.text


async def test_a_process_whose_event_loop_hangs_is_killed_and_restarted(
    rig: Rig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    once = tmp_path / "once"
    hang = f"import pathlib; p = pathlib.Path({str(once)!r}); p.exists() or (p.touch(), time.sleep(60))"
    supervisor = rig.supervisor(rig.process("one", f"watch.running(); {hang}"), stalled=1.5)
    supervisor.start()
    await rig.reported("one: up", times=2)
    assert "one has shown no sign of life for" in caplog.text
    await supervisor.stop(("one",))


async def test_a_process_may_take_its_time_to_start(rig: Rig) -> None:
    # Its event loop stands still longer than it may later, as while a large plugin is imported.
    supervisor = rig.supervisor(
        rig.process("one", "time.sleep(3.5); watch.running(); print('ready', flush=True)"), stalled=2.5
    )
    supervisor.start()
    await rig.reported("one: ready")
    assert rig.lines.count("one: up") == 1
    await supervisor.stop(("one",))


async def test_a_supervisor_that_was_stopped_itself_judges_no_process_by_that(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    pulsing, probed = rig.process("one"), rig.probed("two")
    supervisor = rig.supervisor(pulsing, probed, stalled=5.0)
    supervisor.start()
    await rig.reported("one: up")
    await rig.reported("two: up")
    pids = pulsing.pid, probed.pid
    rig.clock.skipped = START_LIMIT * 3  # Ctrl-Z, and fg after three minutes
    await rig.reported("probed", times=rig.lines.count("probed") + 3)
    assert (pulsing.pid, probed.pid) == pids
    await supervisor.stop(("one", "two"))
    assert "no sign of life" not in caplog.text


async def test_a_process_of_others_that_does_not_answer_any_more_is_killed_and_restarted(rig: Rig) -> None:
    answers = True
    supervisor = rig.supervisor(rig.probed("server", lambda: answers), stalled=0.8)
    supervisor.start()
    await rig.reported("probed", times=4)
    assert rig.lines.count("server: up") == 1
    answers = False
    await rig.reported("server: up", times=2)
    await supervisor.stop(("server",))


async def test_a_process_that_needs_the_user_is_not_tried_again(rig: Rig) -> None:
    supervisor = rig.supervisor(rig.process("one", "print('no such file', flush=True); sys.exit(2)"))
    supervisor.start()
    await rig.reported("one cannot be started; see above")
    assert rig.lines == ["one: up", "one: no such file", "one cannot be started; see above"]
    await supervisor.stop(("one",))


async def test_a_process_that_never_gets_going_is_given_up(rig: Rig) -> None:
    supervisor = rig.supervisor(rig.process("one", "sys.exit(1)"))
    supervisor.start()
    await rig.reported("one cannot be started; see above")
    assert rig.lines.count("one: up") == 5
    await supervisor.stop(("one",))


async def test_a_process_notices_that_its_supervisor_has_ended(rig: Rig) -> None:
    process = rig.process("one")
    await process.start()
    await rig.reported("one: up")
    process.let_go()
    assert await process.ended() == 0
    assert rig.lines == ["one: up", "one: parent ended"]


async def test_a_long_line_and_one_that_is_no_text_are_reported_as_well(rig: Rig) -> None:
    body = "sys.stdout.buffer.write(b'x' * 300_000 + b'\\n\\xff end'); sys.stdout.flush(); sys.exit(2)"
    supervisor = rig.supervisor(rig.process("one", body))
    supervisor.start()
    await rig.reported("one cannot be started; see above")
    assert [len(line) for line in rig.lines[1:3]] == [300_005, len("one: � end")]
    await supervisor.stop(("one",))
