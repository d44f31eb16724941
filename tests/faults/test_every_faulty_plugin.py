"""Every faulty plugin, alone with its fault, against every promise, on both kinds of bus."""

from __future__ import annotations

from itertools import groupby

import pytest

from hark.testing import LocalBus
from hark.testing.faults import FAULTY_PLUGINS, FaultyAssistant, FaultyPlugin, every_faulty_plugin, invariants

AT_REST = [*FAULTY_PLUGINS["start"], *FAULTY_PLUGINS["stop"], *FAULTY_PLUGINS["loading"]]
"""Those that misbehave before the first turn, or after the last."""


def by_behaviour() -> list[tuple[FaultyPlugin, ...]]:
    """The plugins that do the same thing at the same point, in every way they can be called."""
    running = [faulty for faulty in every_faulty_plugin() if faulty not in AT_REST]
    return [tuple(group) for _, group in groupby(running, key=lambda faulty: (faulty.point, faulty.behaviour.name))]


def named(group: tuple[FaultyPlugin, ...]) -> str:
    return f"{group[0].point}-{group[0].behaviour.name}"


@pytest.mark.parametrize("faulty_plugins", by_behaviour(), ids=named)
async def test_it_is_survived(faulty_plugins: tuple[FaultyPlugin, ...], bus_type: type[LocalBus]) -> None:
    async with FaultyAssistant(*faulty_plugins, bus=bus_type) as assistant:
        for faulty in faulty_plugins:
            hearing = await assistant.provoke(f"run the {faulty.mode} one", only=faulty)
            assert any(record.plugin_id == faulty.id for record in assistant.switch.records), "it did not misbehave"
            await invariants(assistant, hearing)


@pytest.mark.parametrize("faulty", AT_REST, ids=str)
async def test_an_assistant_with_it_starts_works_and_stops(faulty: FaultyPlugin, bus_type: type[LocalBus]) -> None:
    async with FaultyAssistant(faulty, bus=bus_type) as assistant:
        hearing = await assistant.provoke("run it")
        await invariants(assistant, hearing)
