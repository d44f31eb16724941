"""Every animal, alone in its misbehaviour, against every promise, on both kinds of bus."""

from __future__ import annotations

from itertools import groupby

import pytest

from hark.testing import LocalBus
from hark.testing.faults import FAULTY_PLUGINS, FaultyAssistant, FaultyPlugin, every_faulty_plugin, invariants

AT_REST = [*FAULTY_PLUGINS["start"], *FAULTY_PLUGINS["stop"], *FAULTY_PLUGINS["loading"]]
"""Those that misbehave before the first turn, or after the last."""


def by_behaviour() -> list[tuple[FaultyPlugin, ...]]:
    """The animals that do the same thing at the same point, in every way they can be called."""
    running = [animal for animal in every_faulty_plugin() if animal not in AT_REST]
    return [tuple(group) for _, group in groupby(running, key=lambda animal: (animal.point, animal.behaviour.name))]


def named(group: tuple[FaultyPlugin, ...]) -> str:
    return f"{group[0].point}-{group[0].behaviour.name}"


@pytest.mark.parametrize("animals", by_behaviour(), ids=named)
async def test_it_is_survived(animals: tuple[FaultyPlugin, ...], bus_type: type[LocalBus]) -> None:
    async with FaultyAssistant(*animals, bus=bus_type) as visit:
        for animal in animals:
            hearing = await visit.provoke(f"go and look at the {animal.mode} one", only=animal)
            assert any(misdeed.animal_id == animal.id for misdeed in visit.cage.misdeeds), "it did not misbehave"
            await invariants(visit, hearing)


@pytest.mark.parametrize("animal", AT_REST, ids=str)
async def test_a_house_with_it_opens_works_and_closes(animal: FaultyPlugin, bus_type: type[LocalBus]) -> None:
    async with FaultyAssistant(animal, bus=bus_type) as visit:
        hearing = await visit.provoke("go and look at the animals")
        await invariants(visit, hearing)
