"""An engine as the house runs it: checked, loaded, warmed up, started, and ended again."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from hark.bus import LocalBus
from hark.hosting import Engines, PluginHost, Runner
from hark.hosting.loaded import Loaded
from hark.hosting.runner import Outcome
from hark.model.clock import SystemClock
from hark.plugins.engines import Engine
from hark.testing.contracts.subject import Subject


class Stage:
    """What a clause has of an engine."""

    def __init__(self, engine: Any, runner: Runner, engines: Engines[Any], bus: LocalBus) -> None:
        self.engine = engine
        self.bus = bus
        self._runner = runner
        self._engines = engines

    async def call(self, *arguments: Any) -> Any:
        """What its main method returns; a failure fails the clause."""
        [entry] = list(self._engines.registry)
        return self._returned(await self._runner.call(entry, *arguments))

    async def work(self, method: Any, *arguments: Any) -> Any:
        """The same for another of its methods."""
        return self._returned(await self._runner.call(Loaded(self.engine, method, limit=60.0), *arguments))

    def _returned(self, outcome: Outcome) -> Any:
        assert outcome.error is None, f"it failed: {outcome.failure}"
        return outcome.value


@asynccontextmanager
async def on_stage(subject: Subject) -> AsyncIterator[Stage]:
    """The engine, loaded and started; afterwards it is gone, and no thread of it is left."""
    engine = subject.make()
    assert isinstance(engine, Engine), f"{type(engine).__qualname__} is no engine"
    before = set(threading.enumerate())
    bus, runner = LocalBus(), Runner(SystemClock())
    engines: Engines[Any] = Engines(engine.kind, runner, limit=60.0)
    with tempfile.TemporaryDirectory() as state:
        try:
            refusal = await engines.add(
                engine, subject.settings, lambda one: PluginHost(one, bus, runner, Path(state), ("en-US",))
            )
            assert refusal is None, str(refusal)
            yield Stage(engine, runner, engines, bus)
        finally:
            await engines.close()
            await bus.close()
            runner.threads.close()
    left = [one.name for one in set(threading.enumerate()) - before if not one.name.startswith("hark")]
    assert not left, f"it leaves threads behind: {', '.join(left)}"
