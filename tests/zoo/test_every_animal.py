"""Every animal, alone, against every promise, on both kinds of bus."""

from __future__ import annotations

import pytest

from hark.testing import LocalBus
from hark.testing.zoo import Animal, Visit, every_animal, invariants


@pytest.mark.parametrize("animal", every_animal(), ids=str)
async def test_it_is_survived(animal: Animal, bus_type: type[LocalBus]) -> None:
    async with Visit(animal, bus=bus_type) as visit:
        hearing = await visit.provoke("go and look at the animals")
        await invariants(visit, hearing)
