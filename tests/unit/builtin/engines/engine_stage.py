"""An engine as the runtime loads it, on a fake clock."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from hark.bus import LocalBus
from hark.hosting import Engines, PluginHost, Refusal, Runner
from hark.plugins.engines import Engine
from hark.testing import FakeClock


class Stage:
    def __init__(self) -> None:
        self.bus = LocalBus()
        self.clock = FakeClock()
        self.runner = Runner(self.clock)
        self.engines: dict[str, Engines[Any]] = {}

    async def add(self, engine: Engine, **settings: Any) -> Refusal | None:
        kind = self.engines.setdefault(engine.kind, Engines(engine.kind, self.runner))
        return await kind.add(engine, settings, lambda one: PluginHost(one, self.bus, self.runner, None))

    async def close(self) -> None:
        for engines in self.engines.values():
            await engines.close()
        await self.bus.close()
        self.runner.threads.close()


@asynccontextmanager
async def stage() -> AsyncIterator[Stage]:
    made = Stage()
    try:
        yield made
    finally:
        await made.close()


def without(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """As on a machine where this is not installed."""
    monkeypatch.setitem(sys.modules, module, None)
