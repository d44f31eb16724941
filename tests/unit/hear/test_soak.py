"""Many commands of every kind: each recording ends, each has one outcome, and nothing piles up."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from hark.bus import LocalBus
from hark.spec import topics
from hark.testing.voice.soak import Soak, Soaked


async def test_many_commands_of_every_kind_leave_nothing_behind(bus_type: type[LocalBus]) -> None:
    tasks = asyncio.all_tasks()
    soaked = await Soak(seed=1, bus=bus_type).run(150)
    assert soaked.whole, soaked.topics
    assert soaked.recordings == 150
    assert soaked.growth < 0.05, soaked.blocks
    assert min(soaked.topics[topic] for topic in (topics.UTTERANCE_HANDLE, topics.STT_FAILED)) > 20
    assert asyncio.all_tasks() == tasks


@pytest.mark.parametrize("topic", [topics.LISTENER_RECORD_ENDED, topics.UTTERANCE_HANDLE])
async def test_it_would_be_noticed_if_something_were_missing(topic: str) -> None:
    soaked = await Soak(seed=2).run(20)
    soaked.topics[topic] -= 1
    assert not soaked.whole


def test_it_would_be_noticed_if_something_piled_up() -> None:
    assert Soaked(Counter(), 0, [9, 9, 9, 10, 12]).growth == pytest.approx(0.2)
