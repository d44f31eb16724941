"""The engines of one kind in order of preference: the first usable one does the work, the next if it fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any, Final, Generic, TypeVar, cast

import msgspec

from hark import hints
from hark.hosting.loaded import Loaded
from hark.hosting.plugin_host import PluginHost
from hark.hosting.registry import CallLimits, Refusal, Registry
from hark.hosting.runner import Outcome, Runner
from hark.plugins.engines import Engine, EngineKind

log = logging.getLogger("hark.hosting")

E = TypeVar("E", bound=Engine)

LOADING: Final = 120.0
"""Seconds an engine may take to load its model and warm up."""

Note = Callable[[str, str, float, str], None]
"""Called for each engine that failed: its id, the outcome, the seconds it took, and the reason."""


class UnusableResult(ValueError):
    """An engine returned a value its kind may not return; counts as a failure."""


class EngineResult(msgspec.Struct, frozen=True):
    """What an engine returned."""

    engine: str
    value: Any
    seconds: float


class Engines(Generic[E]):
    """`await engines.add(engine, settings, host)` in order of preference, then `await engines.do(...)`."""

    def __init__(self, kind: EngineKind, runner: Runner, limit: float = 30.0) -> None:
        self.kind = kind
        self.registry: Registry[E] = Registry(f"{kind} engine", CallLimits(limit))
        self._runner = runner
        self._hosts: dict[str, PluginHost] = {}

    async def add(self, engine: E, settings: dict[str, Any], host: Callable[[E], PluginHost]) -> Refusal | None:
        """Check, load, warm up and start an engine. Return a `Refusal`, with everything undone, if that fails."""
        entry = self.registry.check(engine, settings)
        refusal = entry if isinstance(entry, Refusal) else await self._start(entry, host)
        if refusal is not None:
            self.registry.refuse(refusal)
        return refusal

    async def _start(self, entry: Loaded[E], host: Callable[[E], PluginHost]) -> Refusal | None:
        engine = entry.plugin
        engine.host = self._hosts[entry.id] = host(engine)
        for step in (engine.load, engine.warm_up, engine.begin):
            outcome = await self._runner.call(Loaded(engine, step, limit=LOADING))
            if outcome.error is not None:
                await self._hosts.pop(entry.id).close()
                return self._refusal(entry, outcome)
        self.registry.register(entry)
        return None

    def _refusal(self, entry: Loaded[E], outcome: Outcome) -> Refusal:
        if (missing := outcome.unavailable) is not None:
            return Refusal(self.registry.kind, entry.id, str(missing), missing.remedy)
        remedy, error = "", outcome.error
        if issubclass(type(error), ImportError):  # not isinstance, as in `Outcome`
            module = cast("ImportError", error).name
            remedy = f"install the package that provides {module!r}, perhaps with: {hints.install_extra(entry.id)}"
        return Refusal(self.registry.kind, entry.id, outcome.failure, remedy, entry.origin)

    def usable(self, lang: str | None = None) -> Iterator[Loaded[E]]:
        """The engines that may be called now, for a language if one is given."""
        now = self._runner.clock.monotonic()
        for entry in self.registry:
            if entry.available(now) and (lang is None or entry.plugin.serves(lang)):
                yield entry

    async def do(
        self, *args: Any, lang: str | None = None, check: Callable[[Any], Any], note: Note | None = None
    ) -> EngineResult | None:
        """Call the main method of the usable engines in order until one succeeds; None when none does.

        `check` returns the value to use, or raises `UnusableResult`.
        """
        for entry in list(self.usable(lang)):
            done = await self.ask(entry, *args, check=check, note=note)
            if done is not None:
                return done
        return None

    async def ask(
        self, entry: Loaded[E], *args: Any, check: Callable[[Any], Any], note: Note | None = None
    ) -> EngineResult | None:
        """As `do`, with one engine."""
        outcome = await self._runner.call(entry, *args)
        if outcome.error is None:
            try:
                value = check(outcome.value)
            except UnusableResult as unusable:
                self._runner.record_failure(entry, str(unusable))
                outcome = Outcome(None, unusable, outcome.seconds)
            else:
                if entry.failures:
                    entry.succeeded()
                return EngineResult(entry.id, value, outcome.seconds)
        if note is not None:
            note(entry.id, "late" if outcome.late else "failed", outcome.seconds, outcome.failure)
        return None

    async def close(self) -> None:
        """Stop and unload all engines."""
        for entry in list(self.registry):
            engine = entry.plugin
            for step in (engine.end, engine.unload):
                await self._runner.call(Loaded(engine, step, limit=10.0))
            self.registry.remove(entry.id)
            await self._hosts.pop(entry.id).close()
