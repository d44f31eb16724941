"""The example programs outside are run as they are, in processes of their own."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from flow.program_rig import Outside, outside
from hark.builtin import Converse, TemplateMatcher
from hark.model import SystemClock
from hark.spec import topics
from hark.testing import Assistant

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "outside"
PROGRAMS = {
    "coffee.py": ([sys.executable, "-W", "error"], "make me strong coffee", "Here is your strong coffee."),
    "coffee.sh": (["bash"], "pour me a coffee", "Poured at "),
}


@asynccontextmanager
async def running(name: str, served: Outside) -> AsyncIterator[asyncio.subprocess.Process]:
    command, *_ = PROGRAMS[name]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    process = await asyncio.create_subprocess_exec(
        *command, FOLDER / name, served.url, env=environment, start_new_session=True
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def registered(hark: Assistant, number: int = 1) -> None:
    async with asyncio.timeout(20):
        while len(hark.of(topics.REGISTER_TEMPLATE)) < number:  # noqa: ASYNC110 - it comes from another process
            await asyncio.sleep(0.01)
    await hark.bus.settled()


@pytest.mark.parametrize("name", PROGRAMS)
async def test_an_example_program_answers_and_comes_back(name: str) -> None:
    _, words, answer = PROGRAMS[name]
    settings = {"assistant": {"pipeline": ["converse", "template"]}}
    matchers = (TemplateMatcher, Converse)
    async with (
        Assistant(clock=SystemClock(), settings=settings, matchers=matchers) as hark,
        outside(hark.bus) as served,
    ):
        async with running(name, served):
            await registered(hark)
            assert (await hark.hears(words))[0].startswith(answer)
            assert (await hark.hears(words))[0].startswith(answer), "it answers the converse poll as well"
            known = len(hark.of(topics.REGISTER_TEMPLATE))
            await hark.runtime.announce()
            await registered(hark, known + 1)
        await served.gone()
        assert await hark.hears(words) == [], "it was killed"
        known = len(hark.of(topics.REGISTER_TEMPLATE))
        async with running(name, served):
            await registered(hark, known + 1)
            assert (await hark.hears(words))[0].startswith(answer)
        outcomes = [one.type for one in hark.messages if one.type in (topics.HANDLER_COMPLETE, topics.HANDLER_ERROR)]
        assert outcomes == [topics.HANDLER_COMPLETE] * 3


async def test_an_example_program_asks() -> None:
    settings = {"assistant": {"pipeline": ["converse", "template"]}}
    matchers = (TemplateMatcher, Converse)
    async with (
        Assistant(clock=SystemClock(), settings=settings, matchers=matchers) as hark,
        outside(hark.bus) as served,
        running("coffee.py", served),
    ):
        await registered(hark, 2)
        assert await hark.hears("make me a coffee", session="kitchen") == ["Which kind?"]
        assert await hark.hears("iced", session="kitchen") == ["Here is your iced coffee."]
        assert await hark.hears("make a coffee") == ["Which kind?"]
        assert await hark.hears("hot") == ["Here is your hot coffee."]
