"""Running, registering and discovering plugins."""

from hark.hosting.checks import Unfit, wants_round
from hark.hosting.discovery import discover
from hark.hosting.doors import is_for_plugins, let_out
from hark.hosting.ending import end_all
from hark.hosting.engines import Done, Engines, Unusable
from hark.hosting.loaded import Loaded
from hark.hosting.passage import Passage
from hark.hosting.plugin_file import PluginFile
from hark.hosting.plugin_host import PluginHost, stamped
from hark.hosting.registry import Limits, Refusal, Registry
from hark.hosting.runner import Late, Outcome, Runner, describe, sendable, stack_of
from hark.hosting.watchdog import Watchdog
from hark.hosting.workers import Job, Workers

__all__ = [
    "Done",
    "Engines",
    "Job",
    "Late",
    "Limits",
    "Loaded",
    "Outcome",
    "Passage",
    "PluginFile",
    "PluginHost",
    "Refusal",
    "Registry",
    "Runner",
    "Unfit",
    "Unusable",
    "Watchdog",
    "Workers",
    "describe",
    "discover",
    "end_all",
    "is_for_plugins",
    "let_out",
    "sendable",
    "stack_of",
    "stamped",
    "wants_round",
]
