"""The plugin a contract is about, loaded as Hark loads it, and a record of the input and output it does."""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

from hark.app.runtime import Runtime, Storage
from hark.app.settings import settings_from
from hark.builtin import KeywordMatcher, TemplateMatcher
from hark.bus import LocalBus
from hark.hosting import Engines, Loaded, PluginHost, Runner
from hark.hosting.runner import Outcome
from hark.model.clock import SystemClock
from hark.plugins import PipelinePlugin, Plugin
from hark.plugins.engines import Engine

Make = Callable[[], Plugin]


class Subject:
    """Makes the plugin and runs it. In real time: a plugin under contract may really have to wait."""

    def __init__(self, make: Make, settings: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self.make = make
        self.settings = dict(settings)
        self.options = options
        """What the author told the contract about the plugin, such as examples."""

    @asynccontextmanager
    async def runtime(self) -> AsyncIterator[tuple[Runtime, Any]]:
        """A runtime with the plugin started in it, and the plugin; both are stopped afterwards."""
        plugin = self.make()
        plugin_id = getattr(plugin, "id", "")
        others: tuple[Plugin, ...] = () if isinstance(plugin, PipelinePlugin) else (TemplateMatcher(), KeywordMatcher())
        tree: dict[str, Any] = {
            "assistant": {"pipeline": [one.id for one in (plugin, *others) if isinstance(one, PipelinePlugin)]}
        }
        if self.settings:
            tree["plugins"] = {plugin_id: self.settings}
        with tempfile.TemporaryDirectory() as state:
            bus = LocalBus()
            runtime = Runtime(
                settings_from(tree), bus, SystemClock(), (plugin, *others),
                storage=Storage(data_root=Path(state)),
            )  # fmt: skip
            await runtime.start()
            try:
                assert not runtime.refusals, "\n".join(map(str, runtime.refusals))
                yield runtime, plugin
            finally:
                await runtime.stop()
                await bus.close()


def loaded(runtime: Runtime, plugin: Plugin) -> Loaded[Any]:
    """How the runtime calls the plugin."""
    registries = (*runtime.transformers.values(), runtime.pipeline, runtime.skills)
    return next(entry for registry in registries for entry in registry if entry.plugin is plugin)


class RunningEngine:
    """An engine that is loaded and started, with ways to call it."""

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
async def running_engine(subject: Subject) -> AsyncIterator[RunningEngine]:
    """The engine, loaded and started; afterwards it is stopped, and no thread of it is left."""
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
            yield RunningEngine(engine, runner, engines, bus)
        finally:
            await engines.close()
            await bus.close()
            runner.threads.close()
    left = [one.name for one in set(threading.enumerate()) - before if not one.name.startswith("hark")]
    assert not left, f"it leaves threads behind: {', '.join(left)}"


_NOTICED: Final = ("open", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system", "time.sleep",
                "sqlite3.connect", "urllib.Request")  # fmt: skip
"""Audit events of what a quick plugin must not do."""

_watched: set[tuple[int, _Calls]] = set()
_installed = threading.Event()


class _Calls(list[str]):
    __hash__ = object.__hash__  # type: ignore[assignment]


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _NOTICED and _watched:
        for thread, calls in tuple(_watched):
            if thread == threading.get_ident():
                calls.append(f"{event} {arguments[0] if arguments else ''!s:.80}".strip())


@contextmanager
def input_and_output() -> Iterator[list[str]]:
    """What this thread reads, writes, connects to or waits for meanwhile."""
    if not _installed.is_set():
        _installed.set()
        sys.addaudithook(_hook)  # for good: Python has no way to remove one
    calls = _Calls()
    entry = (threading.get_ident(), calls)
    _watched.add(entry)
    try:
        yield calls
    finally:
        _watched.discard(entry)
