"""Engines of one kind: who is asked, and who comes next where one fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from hark.bus import LocalBus
from hark.hosting import Engines, PluginHost, Runner, UnusableResult
from hark.model import Audio
from hark.plugins.engines import Engine, STTEngine, Transcript, Unavailable
from hark.testing import FakeClock

SILENCE = Audio(bytes(3200), 16_000)


class Parrot(STTEngine):
    id = "parrot"
    langs = ("en-US", "de")

    @dataclass(frozen=True)
    class Settings:
        says: str = "hello"

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        return Transcript((f"{self.settings.says} in {lang}",))


class Broken(Parrot):
    id = "broken"

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        raise RuntimeError("out of order")


class Garbage(Parrot):
    id = "garbage"

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        return "hello"  # type: ignore[return-value]


class Missing(Parrot):
    id = "missing"

    def load(self) -> None:
        raise Unavailable("its model is not here", "fetch it by hand")


class Silent(STTEngine):
    id = "silent"


class Stage:
    def __init__(self) -> None:
        self.bus = LocalBus()
        self.runner = Runner(FakeClock())
        self.engines: Engines[Any] = Engines("stt", self.runner)
        self.notes: list[tuple[str, str, str]] = []

    async def add(self, engine: Engine, **settings: Any) -> Any:
        return await self.engines.add(engine, settings, lambda one: PluginHost(one, self.bus, self.runner, None))

    async def transcribe(self, lang: str = "en-US") -> Any:
        return await self.engines.do(
            SILENCE, lang, lang=lang, check=transcript, note=lambda who, how, _, why: self.notes.append((who, how, why))
        )


def transcript(value: object) -> Transcript:
    if type(value) is not Transcript:
        raise UnusableResult(f"no Transcript, a {type(value).__name__}")
    return value


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    made = Stage()
    yield made
    await made.engines.close()
    made.runner.threads.close()
    await made.bus.close()


async def test_the_first_engine_does_it(stage: Stage) -> None:
    assert await stage.add(Parrot(), says="good day") is None
    done = await stage.transcribe()
    assert (done.engine, done.value.utterances) == ("parrot", ("good day in en-US",))
    assert stage.notes == []


async def test_where_one_fails_or_returns_garbage_the_next_takes_over(stage: Stage) -> None:
    for engine in (Broken(), Garbage(), Parrot()):
        await stage.add(engine)
    done = await stage.transcribe("de-AT")
    assert done.value.utterances == ("hello in de-AT",)
    assert [note[:2] for note in stage.notes] == [("broken", "failed"), ("garbage", "failed")]
    assert "out of order" in stage.notes[0][2]
    assert "no Transcript, a str" in stage.notes[1][2]


async def test_one_that_keeps_failing_is_left_out(stage: Stage) -> None:
    for engine in (Broken(), Parrot()):
        await stage.add(engine)
    for _ in range(7):
        await stage.transcribe()
    assert len(stage.notes) == 5


async def test_a_language_no_engine_serves(stage: Stage) -> None:
    await stage.add(Parrot())
    assert await stage.transcribe("fr-FR") is None


async def test_a_missing_model_is_reported_with_its_remedy(stage: Stage) -> None:
    refusal = await stage.add(Missing())
    assert (refusal.reason, refusal.remedy) == ("its model is not here", "fetch it by hand")
    assert stage.engines.registry.refusals == [refusal]
    assert await stage.transcribe() is None


async def test_an_engine_without_its_method_is_refused(stage: Stage) -> None:
    refusal = await stage.add(Silent())
    assert "does not define transcribe()" in refusal.reason


async def test_a_wrong_setting_is_reported(stage: Stage) -> None:
    refusal = await stage.add(Parrot(), sings=True)
    assert "it has no setting 'sings'" in refusal.reason
