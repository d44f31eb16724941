"""What a room is, and what all rooms of one process stand on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from hark.act import HandlerHost
from hark.app.residents import Residents
from hark.app.settings import Settings
from hark.bus import Bus
from hark.chains import Chain
from hark.hosting import Passage, Runner
from hark.model import Clock
from hark.spec import TransformerType
from hark.trace import TraceStore


class RuntimeContext(msgspec.Struct, frozen=True):
    """What the rooms of one process share."""

    settings: Settings
    """As they were when the house was built; a room is told of others by `adopt`."""
    bus: Bus
    clock: Clock
    runner: Runner
    traces: TraceStore
    handlers: HandlerHost
    residents: Residents
    chains: Mapping[TransformerType, Chain]
    """The chains whose transformers live in one of the rooms."""
    passage: Passage
    """On it, turns and responses use the plugins."""
    data_root: Path | None = None
    """Where plugins keep their data."""


class Service(Protocol):
    """One of the four columns of the flow, at work on a bus. It knows the others by what they say there."""

    async def start(self) -> None:
        """Begin; the plugins of the house have started."""

    async def finish(self) -> None:
        """Take nothing more on and see what is under way to its end; the plugins still serve."""

    async def stop(self) -> None:
        """Leave nothing behind; the plugins have stopped."""

    def adopt(self, settings: Settings) -> None:
        """Go by other settings from now on."""
