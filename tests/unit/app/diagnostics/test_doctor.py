"""`hark doctor`: what is loaded, in which order and why, what is not loaded and why."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hark.app.diagnostics.advice import language_advice
from hark.app.diagnostics.examine import examine
from hark.app.diagnostics.render import render
from hark.app.diagnostics.report import DoctorReport
from hark.app.runtime import Runtime
from hark.app.settings import settings_from
from hark.builtin import TemplateMatcher
from hark.builtin.skills.chance import ChanceSkill
from hark.builtin.skills.jokes import JokesSkill
from hark.bus import LocalBus
from hark.cli import main
from hark.hosting import Engines, PluginHost, Refusal, Runner
from hark.model import Audio, SystemClock
from hark.plugins import Ctx, PipelinePlugin, Plugin, Turn, UtteranceTransformer
from hark.plugins.engines import STTEngine, Transcript
from hark.skills import Skill, intent


class Tidy(UtteranceTransformer):
    id = "tidy"
    priority = 70

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        return utterances


class First(Tidy):
    id = "first"
    priority = 5
    quick = True


class Matcher(PipelinePlugin):
    id = "matcher"

    def match(self, utterances: Any, lang: str, session: Any) -> None:
        return None


class BadId(Tidy):
    id = "no good"


class BadSignature(UtteranceTransformer):
    id = "short"

    def transform(self, utterances: list[str]) -> list[str]:  # type: ignore[override]
        return utterances


async def report_on(*plugins: Plugin | Refusal, **tables: Any) -> DoctorReport:
    bus = LocalBus()
    runtime = Runtime(settings_from(tables), bus, SystemClock(), plugins, render=lambda _: None, serves=lambda _: True)
    await runtime.start()
    try:
        return await examine(runtime, "hark.toml")
    finally:
        await runtime.stop()
        await bus.close()


async def test_it_shows_the_order_a_chain_runs_in_and_why() -> None:
    report = await report_on(Tidy(), First(), assistant={"pipeline": []})
    chain = next(chain for chain in report.chains if chain.kind == "utterance")
    assert [(member.id, member.priority, member.runs) for member in chain.members] == [
        ("first", 5, "inline"),
        ("tidy", 70, "worker"),
    ]
    assert "by priority" in chain.order


async def test_it_shows_what_an_explicit_list_leaves_out() -> None:
    report = await report_on(Tidy(), First(), transformers={"utterance": ["tidy"]}, assistant={"pipeline": []})
    chain = next(chain for chain in report.chains if chain.kind == "utterance")
    assert [member.id for member in chain.members] == ["tidy"]
    assert chain.left_out == ["first"]
    assert "[transformers] utterance" in render(report)


async def test_a_bad_id_and_a_wrong_signature_are_reported_with_file_line_and_remedy() -> None:
    report = await report_on(BadId(), BadSignature())
    shown = render(report)
    for name, remedy in (("no good", "an id has"), ("short", "def transform(self, utterances, ctx)")):
        missing = next(one for one in report.missing if one.name == name)
        path, _, line = missing.where.rpartition(":")
        assert Path(path).name == "test_doctor.py"
        assert line.isdigit()
        assert remedy in missing.remedy
        assert missing.reason in shown
    assert not report.healthy


async def test_ids_that_collide_are_reported() -> None:
    report = await report_on(Tidy(), Tidy())
    (missing,) = report.missing
    assert "already" in missing.reason
    assert "rename" in missing.remedy


async def test_a_matcher_outside_the_pipeline_and_an_entry_without_matcher_are_reported() -> None:
    report = await report_on(Matcher(), assistant={"pipeline": ["ghost"]}, pipeline={"x": {"plugin": "matcher"}})
    assert report.never_asked == ["matcher"]
    assert report.pipeline[0].plugin is None
    shown = render(report)
    assert "ghost: not loaded" in shown
    assert "[pipeline.x] has no effect" in shown


async def test_settings_that_name_no_plugin_are_reported() -> None:
    report = await report_on(Matcher(), assistant={"pipeline": ["matcher"]}, plugins={"mattcher": {"a": 1}})
    assert any("mattcher" in line and "did you mean 'matcher'" in line for line in report.advice)


@pytest.fixture(autouse=True)
def log_as_before() -> Iterator[None]:
    """A command that runs in this process leaves no filter behind."""
    log = logging.getLogger("hark.hosting")
    before = list(log.filters)
    yield
    log.filters[:] = before


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A place for installed packages, and nothing of the user's."""
    place = tmp_path / "packages"
    place.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.syspath_prepend(str(place))
    before = set(sys.modules)
    yield place
    for name in set(sys.modules) - before:
        del sys.modules[name]


def install(place: Path, name: str, code: str, points: str) -> None:
    (place / f"{name}.py").write_text(code)
    info = place / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(points)


def test_packages_that_cannot_be_imported_are_reported_with_the_line_and_the_missing_extra(
    packages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(
        packages, "broken_one", "x = 1\nraise RuntimeError('no luck')\n", "[hark.skill]\nbroken = broken_one:Broken\n"
    )
    install(packages, "needs_more", "import surely_not_there\n", "[hark.pipeline]\nneedy = needs_more:Needy\n")
    install(packages, "mistyped", "def f(:\n", "[hark.transformer.utterance]\nodd = mistyped:Odd\n")
    assert main(["doctor", "--alone", "--json"]) == 1
    missing = {one["name"]: one for one in json.loads(capsys.readouterr().out)["missing"]}
    assert missing["broken"]["where"] == f"{packages / 'broken_one.py'}:2"
    assert "no luck" in missing["broken"]["reason"]
    assert "surely_not_there" in missing["needy"]["remedy"]
    assert missing["odd"]["where"] == f"{packages / 'mistyped.py'}:1"


def test_an_assistant_in_order_is_reported_to_be_in_order(packages: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--alone", "--no-plugins"]) == 0
    assert "Everything is in order." in capsys.readouterr().out


async def test_sentences_that_two_skills_both_claim_are_reported_and_no_reason_to_worry() -> None:
    class Player(Skill):
        id = "player.skill"

        @intent("play {song}")
        def play(self, turn: Turn) -> None: ...

    class Game(Skill):
        id = "game.skill"

        @intent("play a game")
        def start_game(self, turn: Turn) -> None: ...

    report = await report_on(TemplateMatcher(), Player(), Game(), assistant={"pipeline": ["template"]})
    line = "'play a game' (en-US): game.skill:start_game gets it, player.skill:play claims it too"
    assert report.overlaps == [line]
    assert line in render(report)
    assert report.healthy


async def test_overlaps_between_skills_of_hark_are_one_line_unless_they_are_asked_for() -> None:
    report = await report_on(TemplateMatcher(), JokesSkill(), ChanceSkill(), assistant={"pipeline": ["template"]})
    line = next(one for one in report.own_overlaps if "jokes.skill:another gets it" in one)
    assert line.endswith("chance.skill:again claims it too")
    assert not report.overlaps
    assert line not in render(report)
    assert "doctor --overlaps" in render(report)
    assert line in render(report, overlaps=True)


async def test_doctor_lists_intents_that_get_sentences_of_others() -> None:
    class Clock(Skill):
        id = "clock.skill"

        @intent("what time is it", "tell me the time")
        def time(self, turn: Turn) -> None: ...

    class Late(Skill):
        id = "late.skill"

        @intent("tell me the time", "which hour has come")
        def hour(self, turn: Turn) -> None: ...

    report = await report_on(TemplateMatcher(), Clock(), Late(), assistant={"pipeline": ["template"]})
    line = "clock.skill:time gets 1 of 2 sentences of late.skill:hour (en-US), such as 'tell me the time'"
    assert report.thefts == [line]
    assert line in render(report)
    assert report.healthy


async def test_doctor_says_whether_the_sentence_model_is_asked() -> None:
    off = await report_on(TemplateMatcher(), assistant={"pipeline": ["template"]})
    assert "Sentence model: off, installed" in render(off)
    on = await report_on(
        TemplateMatcher(), assistant={"pipeline": ["template"]}, plugins={"template": {"sentence_model": True}}
    )
    assert "Sentence model: in use, for utterances in en" in render(on)


class EnglishEar(STTEngine):
    id = "english-ear"
    langs = ("en",)

    def transcribe(self, audio: Audio, lang: str) -> Transcript:
        return Transcript(("hello",))


async def test_a_language_that_no_engine_knows_is_pointed_out() -> None:
    bus, runner = LocalBus(), Runner(SystemClock())
    engines: Engines[Any] = Engines("stt", runner)
    assert await engines.add(EnglishEar(), {}, lambda one: PluginHost(one, bus, runner, None, ("en-US",))) is None
    [found] = language_advice(engines, "de-DE", runner)
    assert found.key == ("voice", "stt")
    assert "none of the engines knows de-DE (english-ear)" in found.text
    assert list(language_advice(engines, "en-GB", runner)) == []
    await engines.close()
    assert list(language_advice(Engines("stt", runner), "de-DE", runner)) == [], "none is loaded"
    runner.threads.close()
    await bus.close()
