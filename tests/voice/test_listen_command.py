"""`hark listen` on recordings that another voice has spoken than the one that answers."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from flow.hark_process import World
from hark.cli import main
from hark.model import Audio
from hark.model.wav import read_wav, write_wav
from voice_engines import MODEL, Real

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = f"""
[voice]
tts = ["hibari"]
[engine.faster-whisper]
model = "{MODEL}"
download = false
threads = 1
"""


def recording(path: Path, *sounds: Audio | float) -> Path:
    """A WAV file of speech, and of so many seconds of silence."""
    samples = b"".join(bytes(2 * int(one * 16_000)) if isinstance(one, float) else one.samples for one in sounds)
    path.write_bytes(write_wav(Audio(samples, 16_000)))
    return path


def where_it_is_ten() -> str:
    """A time zone in which it is ten o'clock and some minutes: of all hours one that cannot be taken for a word, as
    four can for "for" and two for "to".
    """
    return f"HERE{datetime.now(UTC).hour - 10:+d}"  # hours west of Greenwich


def assert_ten_is_heard(heard: str) -> None:
    """The recogniser writes 10:05 as 1005, 10.05 or 10-05, and 10:00 as 10 o'clock or ten."""
    assert re.match(r"it is (10|ten)", heard.lower()), heard


@pytest.mark.parametrize(("file", "text"), [("", "usage: make listen"), ("FILE=nowhere.wav", "there is no such file")])
def test_make_names_a_missing_recording_before_it_installs_anything(file: str, text: str, tmp_path: Path) -> None:
    command = ["make", "listen", f"VENV={tmp_path / 'venv'}", *filter(None, [file])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert (done.returncode, list(tmp_path.iterdir())) == (0, [])
    assert text in done.stderr


def test_a_process_answers_a_recording_aloud(world: World, tmp_path: Path, real: Real) -> None:
    world.write_settings(SETTINGS)
    question = recording(tmp_path / "question.wav", 0.3, real.says("what time is it", "nanotts"), 0.5)
    command = [sys.executable, "-m", "hark", "listen", question, "--to", tmp_path / "answer.wav", "--why"]
    environment = {**world.environment, "TZ": where_it_is_ten()}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert re.search(r"[Ii]t is 10:\d\d", done.stdout), done.stdout
    assert 'heard "What time is it?"' in done.stderr
    for step in ("record", "faster-whisper", "clock.skill:time", "hibari", "kept"):
        assert step in done.stdout
    answer = read_wav((tmp_path / "answer.wav").read_bytes())
    assert answer.sample_rate == 24_000  # hibari's: it was not nanotts that answered
    assert_ten_is_heard(real.understands(answer))


class TestInProcess:
    @pytest.fixture(autouse=True)
    def _world(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "hark.toml").write_text(SETTINGS)
        monkeypatch.chdir(tmp_path)

    def listen(self, *options: str) -> int:
        return main(["listen", *options, "--settings", "hark.toml", "--state", "state"])

    def test_a_wake_word_and_a_command_in_one_recording(
        self, tmp_path: Path, real: Real, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Through microWakeWord and Silero; what is said before the wake word is nobody's business."""
        aside, name = real.says("the weather was fine yesterday", "nanotts"), real.says("hey jarvis", "nanotts")
        command = real.says("what is six times seven", "nanotts")
        recording(tmp_path / "q.wav", 0.5, aside, 1.0, name, 0.4, command, 1.0)
        assert self.listen("q.wav", "--wake") == 0
        told = capsys.readouterr()
        assert told.out.strip() == "That is 42."
        assert told.err.count("heard") == 1
        assert "42" in real.understands(read_wav((tmp_path / "q.answer.wav").read_bytes()))

    def test_nothing_is_heard_without_the_wake_word(
        self, tmp_path: Path, real: Real, capsys: pytest.CaptureFixture[str]
    ) -> None:
        recording(tmp_path / "q.wav", 0.5, real.says("what time is it", "nanotts"), 1.0)
        assert self.listen("q.wav", "--wake") == 1
        assert "there is no speech in this recording" in capsys.readouterr().err
        assert not (tmp_path / "q.answer.wav").exists()

    def test_silence_is_no_speech(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        recording(tmp_path / "q.wav", 3.0)
        assert self.listen("q.wav") == 1
        assert "there is no speech in this recording" in capsys.readouterr().err

    def test_two_questions_in_one_recording(
        self, tmp_path: Path, real: Real, capsys: pytest.CaptureFixture[str]
    ) -> None:
        one, other = real.says("what time is it", "nanotts"), real.says("what is six times seven", "nanotts")
        recording(tmp_path / "q.wav", 0.3, one, 1.2, other, 0.2)
        assert self.listen("q.wav", "--to", "a.wav") == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line[:6] for line in lines] == ["It is ", "That i"]
        heard = real.understands(read_wav((tmp_path / "a.wav").read_bytes()))
        assert "42" in heard
