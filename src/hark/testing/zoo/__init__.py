"""Plugins that misbehave, for every extension point, and the promises that hold whatever they do.

`ANIMALS` has them by extension point; `Visit` puts some into an assistant; `invariants` says whether a turn kept what
every turn is promised.
"""

from hark.testing.zoo.animal import MODES, POINTS, Animal, Behaviour, Grip, Mode, Point, behaviour
from hark.testing.zoo.cage import Cage, Misdeed
from hark.testing.zoo.invariants import invariants
from hark.testing.zoo.registry import ANIMALS, every_animal, species
from hark.testing.zoo.visit import Tame, Visit, tame_plugins

__all__ = [
    "ANIMALS",
    "MODES",
    "POINTS",
    "Animal",
    "Behaviour",
    "Cage",
    "Grip",
    "Misdeed",
    "Mode",
    "Point",
    "Tame",
    "Visit",
    "behaviour",
    "every_animal",
    "invariants",
    "species",
    "tame_plugins",
]
