"""Running, registering and discovering plugins."""

from hark.hosting.discovery import PluginFile, discover
from hark.hosting.engines import EngineResult, Engines, UnusableResult
from hark.hosting.loaded import Loaded
from hark.hosting.plugin_host import PluginHost, check_emittable, plugins_may_emit, with_stamp
from hark.hosting.registry import CallLimits, InvalidPlugin, Refusal, Registry, wants_round
from hark.hosting.runner import Gate, Late, Outcome, Runner, cancel_all, describe_error, error_stack, sendable_text
from hark.hosting.threads import Job, WorkerThreads
from hark.hosting.watchdog import Watchdog

__all__ = [
    "CallLimits",
    "EngineResult",
    "Engines",
    "Gate",
    "InvalidPlugin",
    "Job",
    "Late",
    "Loaded",
    "Outcome",
    "PluginFile",
    "PluginHost",
    "Refusal",
    "Registry",
    "Runner",
    "UnusableResult",
    "Watchdog",
    "WorkerThreads",
    "cancel_all",
    "check_emittable",
    "describe_error",
    "discover",
    "error_stack",
    "plugins_may_emit",
    "sendable_text",
    "wants_round",
    "with_stamp",
]
