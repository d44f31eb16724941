"""Turns of every kind, one after the other: each has its one outcome, and nothing is left behind."""

from __future__ import annotations

import asyncio
import threading
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from hark.spec import topics


def soak_module() -> Any:
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "voice" / "soak.py"
    spec = spec_from_file_location("soak", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_turns_of_every_kind_leave_nothing_behind() -> None:
    tasks, threads = asyncio.all_tasks(), set(threading.enumerate())
    soak = soak_module().Soak(real=False, seed=3)
    lines = list(await soak.run(hours=0.06, minutes=1.0))
    assert len(lines) == 4
    counted = soak.topics
    outcomes = counted[topics.UTTERANCE_HANDLE] + counted[topics.STT_FAILED] + counted[topics.UTTERANCE_CANCELLED]
    assert counted[topics.LISTENER_RECORD_STARTED] == counted[topics.LISTENER_RECORD_ENDED] == outcomes > 30
    assert counted[topics.UTTERANCE_HANDLED] == counted[topics.UTTERANCE_HANDLE]
    assert min(counted[topic] for topic in (topics.STT_FAILED, topics.UTTERANCE_CANCELLED, topics.MIC_LISTEN)) > 0
    assert asyncio.all_tasks() == tasks
    assert set(threading.enumerate()) <= threads  # those of earlier tests may end meanwhile
