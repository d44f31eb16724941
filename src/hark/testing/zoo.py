"""The old name of `hark.testing.faults`, with its old names; it goes with the next release."""

import warnings

from hark.testing.faults import FAULTY_PLUGINS as ANIMALS
from hark.testing.faults import MODES, POINTS, Behaviour, Mode, Point, behaviour, invariants
from hark.testing.faults import CallSite as Grip
from hark.testing.faults import ControlPlugin as Tame
from hark.testing.faults import FaultRecord as Misdeed
from hark.testing.faults import FaultSwitch as Cage
from hark.testing.faults import FaultyAssistant as Visit
from hark.testing.faults import FaultyPlugin as Animal
from hark.testing.faults import control_plugins as tame_plugins
from hark.testing.faults import every_faulty_plugin as every_animal
from hark.testing.faults import variants as species

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

warnings.warn("hark.testing.zoo is now hark.testing.faults", DeprecationWarning, stacklevel=2)
