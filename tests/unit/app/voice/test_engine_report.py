"""What the doctor says about engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hark.app.diagnostics.examine import engines_in
from hark.app.diagnostics.render import render
from hark.app.diagnostics.report import DoctorReport
from hark.app.settings import settings_from
from hark.app.voice.engine_report import with_engines
from hark.bus import LocalBus
from hark.hosting import Engines, PluginHost, Runner
from hark.model import Audio
from hark.model.wav import write_wav
from hark.plugins.engines import TTSEngine
from hark.testing import FakeClock

NOTHING: dict[str, list[Any]] = {
    "chains": [],
    "pipeline": [],
    "never_asked": [],
    "skills": [],
    "missing": [],
    "advice": [],
}
EMPTY = DoctorReport(version="1", settings_file="-", lang="en-US", langs=[], **NOTHING)


async def test_engines_are_listed_with_the_reasons_of_those_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "in.wav").write_bytes(write_wav(Audio(bytes(3200), 16_000)))
    kinds = {"stt": [], "tts": [], "vad": [], "wakeword": [], "microphone": ["file"], "player": ["trumpet", "null"]}
    tables = {"voice": kinds, "engine": {"file": {"path": str(tmp_path / "in.wav")}}}
    report = await with_engines(EMPTY, settings_from(tables), installed=False)
    assert [(engine.kind, engine.member.id) for engine in report.engines] == [
        ("microphone", "file"),
        ("player", "null"),
    ]
    assert [missing.reason for missing in report.missing] == ["there is no player engine 'trumpet'"]
    assert not report.healthy
    assert "Engines, in order of preference for each kind:" in render(report)


async def test_an_engine_whose_description_fails_is_reported_all_the_same() -> None:
    class Shy(TTSEngine):
        id = "shy"

        def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
            raise NotImplementedError

        def about(self) -> str:
            raise RuntimeError("no comment")

    bus, runner = LocalBus(), Runner(FakeClock())
    engines: Engines[TTSEngine] = Engines("tts", runner)
    await engines.add(Shy(), {}, lambda engine: PluginHost(engine, bus, runner, None))
    [told] = engines_in(engines, runner)
    assert told.about.startswith("RuntimeError: no comment")
    await engines.close()
    runner.threads.close()
    await bus.close()
