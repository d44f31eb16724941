"""Plugins with faults, for every extension point, and the promises that hold whatever they do.

`FAULTY_PLUGINS` has them by extension point; `FaultyAssistant` puts some into an assistant; `invariants` checks what
every turn is promised.
"""

from hark.testing.faults.assistant import ControlPlugin, FaultyAssistant, control_plugins
from hark.testing.faults.invariants import invariants
from hark.testing.faults.plugin import (
    MODES,
    POINTS,
    Behaviour,
    CallSite,
    FaultRecord,
    FaultSwitch,
    FaultyPlugin,
    Mode,
    Point,
    behaviour,
)
from hark.testing.faults.registry import FAULTY_PLUGINS, every_faulty_plugin, variants

__all__ = [
    "FAULTY_PLUGINS",
    "MODES",
    "POINTS",
    "Behaviour",
    "CallSite",
    "ControlPlugin",
    "FaultRecord",
    "FaultSwitch",
    "FaultyAssistant",
    "FaultyPlugin",
    "Mode",
    "Point",
    "behaviour",
    "control_plugins",
    "every_faulty_plugin",
    "invariants",
    "variants",
]
