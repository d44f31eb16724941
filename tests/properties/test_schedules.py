"""No schedule is lost, whatever happens to the scheduler and to the clock; benchmarks/schedules.py has the whole."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from schedules import simulate


@pytest.mark.parametrize("seed", [1, 2])
async def test_none_is_lost_and_none_doubled_but_by_a_kill_within_its_event(seed: int) -> None:
    found = await simulate(seed, schedules=20, years=1.0)
    assert found.lost == []
    assert found.wrong == []
    assert found.doubled <= found.torn
    assert found.fires > 1_000
    assert min(found.kills, found.torn, found.steps, found.reported) > 0
