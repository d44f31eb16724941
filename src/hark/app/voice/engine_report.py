"""Loads each engine of [voice] once, for `hark doctor`."""

from __future__ import annotations

from typing import Any

import msgspec

from hark.app.diagnostics.advice import language_advice
from hark.app.diagnostics.examine import engines_in, missing_in
from hark.app.diagnostics.report import DoctorReport
from hark.app.settings import Settings
from hark.app.voice.engines import EngineFactory
from hark.bus import LocalBus
from hark.hosting import Engines, PluginHost, Refusal, Runner
from hark.model import SystemClock
from hark.plugins.engines import ENGINE_KINDS


async def with_engines(report: DoctorReport, settings: Settings, *, installed: bool) -> DoctorReport:
    """The report with the engines that [voice] names. Each is loaded and unloaded again."""
    bus, runner, factory = LocalBus(), Runner(SystemClock()), EngineFactory(settings, installed=installed)
    understanding = settings.understanding()
    engines, missing, advice = list(report.engines), list(report.missing), list(report.advice)
    try:
        for kind in ENGINE_KINDS:
            loaded: Engines[Any] = Engines(kind, runner)
            for one in factory.of(kind):
                if isinstance(one, Refusal):
                    loaded.registry.refuse(one)
                else:
                    await loaded.add(
                        one.engine, one.settings, lambda e: PluginHost(e, bus, runner, None, understanding.langs)
                    )
            engines += engines_in(loaded, runner)
            missing += missing_in(loaded.registry.refusals)
            advice += map(str, language_advice(loaded, understanding.lang, runner))
            await loaded.close()
    finally:
        runner.threads.close()
        await bus.close()
    return msgspec.structs.replace(report, engines=engines, missing=missing, advice=advice)
