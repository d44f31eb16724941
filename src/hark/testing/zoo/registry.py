"""Every animal there is, by extension point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from hark.testing.zoo import delays, failures, forgeries, meddling, noise, questions, shapes
from hark.testing.zoo.animal import ASKED, CALLED, MODES, POINTS, Animal, Behaviour, Point
from hark.testing.zoo.bodies import body
from hark.testing.zoo.dialogue import dialogue_body
from hark.testing.zoo.misfits import MISFITS

_BEHAVIOURS: Final[tuple[Behaviour, ...]] = tuple(
    behaviour
    for module in (failures, delays, shapes, meddling, forgeries, noise, questions)
    for behaviour in module.BEHAVIOURS
)


def species(behaviour: Behaviour) -> Iterator[Animal]:
    """The animals a behaviour makes: one for each point and mode in which it can be shown."""
    for point in behaviour.points:
        modes = [mode for mode in MODES[point] if mode in behaviour.modes]
        for mode in modes[:1] if behaviour.once else modes:
            yield Animal(point, behaviour, mode, dialogue_body if point in (*ASKED, *CALLED) else body)


def _by_point() -> dict[Point, tuple[Animal, ...]]:
    everyone = [animal for behaviour in _BEHAVIOURS for animal in species(behaviour)]
    found: dict[Point, tuple[Animal, ...]] = {
        point: tuple(animal for animal in everyone if animal.point == point) for point in POINTS
    }
    return {**found, "loading": MISFITS}


ANIMALS: Final[Mapping[Point, tuple[Animal, ...]]] = _by_point()
"""The zoo, by extension point: `@pytest.mark.parametrize("animal", ANIMALS["matcher"], ids=str)`."""


def every_animal() -> tuple[Animal, ...]:
    """All of them, one after the other."""
    return tuple(animal for animals in ANIMALS.values() for animal in animals)
