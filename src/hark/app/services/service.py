"""What a service is, and what the services of one process share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from hark.act import HandlerHost
from hark.app.plugin_set import PluginSet
from hark.app.settings import Settings
from hark.bus import Bus
from hark.chains import Chain
from hark.hosting import Gate, Runner
from hark.model import Clock
from hark.spec import TransformerType
from hark.trace import TraceStore


class RuntimeContext(msgspec.Struct, frozen=True):
    """What the services of one process share."""

    settings: Settings
    """As they were at the start; `adopt` brings later ones."""
    bus: Bus
    clock: Clock
    runner: Runner
    traces: TraceStore
    handlers: HandlerHost
    plugin_set: PluginSet
    chains: Mapping[TransformerType, Chain]
    """The chains whose transformers run in one of the services."""
    gate: Gate
    """Turns and responses pass it while they use plugins."""
    data_root: Path | None = None
    """Where plugins keep their data."""


class Service(Protocol):
    """One of the four columns of the flow. It meets the others on the bus only."""

    async def start(self) -> None:
        """Begin; the plugins have started."""

    async def finish(self) -> None:
        """Take nothing more on and see what is under way to its end; the plugins still serve."""

    async def stop(self) -> None:
        """Leave nothing behind; the plugins have stopped."""

    def adopt(self, settings: Settings) -> None:
        """Go by other settings from now on."""
