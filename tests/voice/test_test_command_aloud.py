"""`hark test --aloud`, and the scripts of the documentation."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hark.cli import main
from hark.testing import play
from hark.testing.scripts.voice import VoiceSetup
from voice_engines import MODEL, voice_settings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scripts.md"

SETTINGS = f"""
[voice]
tts = ["nanotts"]
[engine.faster-whisper]
model = "{MODEL}"
download = false
threads = 1
"""
SCRIPT = """
settings: none  # but with the engines of whoever plays it
language: en-US
now: 2026-03-05 08:00
user: what time is it
hark: it is {time}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hark.toml").write_text(SETTINGS)


def test_a_script_is_played_aloud(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "right.talk").write_text(SCRIPT.replace("{time}", "8:00 AM"))
    (tmp_path / "wrong.talk").write_text(SCRIPT.replace("{time}", "09:00"))
    options = ["--aloud", "--listen-back", "--settings", "hark.toml", "--format", "json", "--no-plugins"]
    assert main(["test", *options, "right.talk", "wrong.talk"]) == 1
    right, wrong = json.loads(capsys.readouterr().out)["conversations"]
    assert right["passed"], right
    assert wrong["difference"]["said"] == ["It is 8:00 AM."]
    for step in ("hey jarvis", "faster-whisper", "nanotts"):
        assert step in wrong["difference"]["why"]


def test_without_a_recogniser_it_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.talk").write_text(SCRIPT.replace("{time}", "08:00"))
    (tmp_path / "deaf.toml").write_text('[engine.faster-whisper]\nmodel = "/nowhere"\ndownload = false\n')
    assert main(["test", "--aloud", "--settings", "deaf.toml", "--no-plugins", "a.talk"]) == 2
    told = capsys.readouterr().err
    assert "no stt engine works here" in told
    assert "faster-whisper: the model '/nowhere' cannot be " in told
    assert "remedy: " in told


def test_options_that_mean_nothing_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", "--listen-back", "a.talk"]) == 2
    assert "go with --aloud" in capsys.readouterr().err


async def test_the_interruption_on_the_page_holds_aloud(ensemble: VoiceSetup) -> None:
    scripts = re.findall(r"```talk\n(.*?)```", PAGE.read_text(), re.DOTALL)
    [script] = [one for one in scripts if "interrupts" in one]
    await play(script, settings=voice_settings(), aloud=ensemble)
