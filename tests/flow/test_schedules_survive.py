"""Timers and alarms in real processes that are killed."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

from flow.hark_process import World
from flow.test_split import Split, split
from hark.model import Message, Session
from hark.spec import topics

__all__ = ["split"]  # a fixture


def test_a_timer_survives_a_kill_and_rings_after_the_restart(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write_settings("")
    with world.running("run", "--stay") as first:
        assert first.say("set a timer for six seconds") == "Timer set for 6 seconds."
        first.signal(signal.SIGKILL)
    with world.running("run", "--stay") as second:
        second.until("Time is up: the timer for 6 seconds.\n")
        second.write("stop")
        assert second.say("do i have any timers") == "There is no timer running."
        second.signal(signal.SIGTERM)
        second.end()


async def test_an_alarm_of_one_session_rings_there_alone_though_the_scheduler_is_killed(split: Split) -> None:
    with split.world.running(*split.command("--stay")) as running:
        pids = await asyncio.to_thread(split.all_ready)
        async with split.client() as bus:
            spoken: list[tuple[str, str]] = []
            answered, rung = asyncio.Event(), asyncio.Event()

            def heard(message: Message) -> None:
                text = str(message.data.get("utterance"))
                spoken.append((message.session_id, text))
                (rung if "Time is up" in text else answered).set()

            bus.on(topics.UTTERANCE_SPEAK, heard)
            said = {"utterances": ["set a timer for six seconds"], "lang": "en-US"}
            await bus.settled()
            bus.emit(Message(topics.UTTERANCE_HANDLE, said, {"source": "kitchen"}, Session("kitchen")))
            await asyncio.wait_for(answered.wait(), 30)
            with suppress(ProcessLookupError):
                os.kill(pids["schedule"], signal.SIGKILL)
            await asyncio.wait_for(rung.wait(), 30)
            assert [where for where, text in spoken if "Time is up" in text] == ["kitchen"]
            assert split.processes["schedule"] != pids["schedule"]
        running.signal(signal.SIGTERM)
        await asyncio.to_thread(running.end)
