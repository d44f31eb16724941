"""`hark transformers`."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

import pytest

from hark.cli import main
from hark.model import Audio
from hark.model.audio import int16_bytes
from hark.model.wav import read_wav, write_wav


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["transformers", *arguments])
    return status, capsys.readouterr().out


def test_it_lists_every_chain_with_what_runs_and_what_is_off(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = said(capsys)
    assert status == 0
    assert "  1. normalize           10" in text
    assert "  -  speakable           60  writes out numbers" in text
    for kind in ("audio_tap", "audio", "utterance", "metadata", "intent", "dialog", "tts"):
        assert f"\n{kind}" in f"\n{text}"


def test_one_chain_is_listed_where_it_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "list", "dialog") == said(capsys, "--chain", "dialog")
    assert "utterance" not in said(capsys, "list", "dialog")[1]
    assert main(["transformers", "list", "dialog", "length"]) == 2


def test_what_the_settings_enable_is_listed_in_its_place(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "hark.toml"
    file.write_text('[transformers]\nenable = ["corrections", "dialog.translate"]\n')
    _status, text = said(capsys, "--settings", str(file), "--json")
    chains = {chain["kind"]: chain for chain in json.loads(text)}
    assert [one["id"] for one in chains["utterance"]["members"]] == ["normalize", "corrections", "cancel"]
    assert [one["id"] for one in chains["dialog"]["members"]] == ["translate"]


def test_try_shows_before_and_after(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = said(capsys, "try", "dialog", "length", "A long answer. And more.", "--set", "characters=20")
    assert status == 0
    assert 'before   "A long answer. And more."\nafter    "A long answer."\n' in text
    assert "context  length.dropped = 10" in text


def test_try_reports_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = said(
        capsys, "try", "dialog", "length", "A long answer. And more.", "--set", "characters=20", "--json"
    )
    assert status == 0
    assert json.loads(text)["after"] == '"A long answer."'


def test_try_shows_a_cancellation_and_what_is_emitted(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = said(capsys, "try", "utterance", "validate", "[Music]", "--set", "typed=true")
    assert status == 0
    assert "cancelled in" in text
    assert "emits    ovos.utterance.speak" in text


def test_try_takes_sound_and_writes_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    quiet, louder = tmp_path / "quiet.wav", tmp_path / "louder.wav"
    samples = array("h", ((300 * (1 if n % 40 < 20 else -1)) for n in range(32_000)))
    quiet.write_bytes(write_wav(Audio(int16_bytes(samples), 16_000)))
    status, text = said(capsys, "try", "audio", "level", str(quiet), "--out", str(louder))
    assert status == 0
    assert "changed in" in text
    assert max(array("h", read_wav(louder.read_bytes()).samples)) > 1_000


def test_try_names_what_is_wrong_with_a_settings_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transformers", "try", "dialog", "length", "text", "--set", "characters=1"]) != 0
    assert "its settings are wrong" in capsys.readouterr().err


def test_try_takes_the_language_and_the_context_a_rule_goes_by(capsys: pytest.CaptureFixture[str]) -> None:
    rule = 'routes=[{wake_words=["hey mycroft"],langs=["de"],persona="clown"}]'
    heard = ("--context", "wake_word=hey_mycroft")
    status, text = said(capsys, "try", "metadata", "router", *heard, "--lang", "de-DE", "--set", rule)
    assert status == 0
    assert "persona_id = clown" in text
    assert "wake_word" not in text, "only what it set"
    assert "clown" not in said(capsys, "try", "metadata", "router", *heard, "--lang", "en-US", "--set", rule)[1]


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        (("--set", 'rules=[{phrases=["x"]'), "the value of rules is no TOML"),
        (("--set", "rules"), "'rules' is not KEY=VALUE"),
        (("--slot", "who"), "'who' is not NAME=TEXT"),
    ],
)
def test_an_option_that_is_malformed_is_named(
    capsys: pytest.CaptureFixture[str], option: tuple[str, str], reason: str
) -> None:
    assert main(["transformers", "try", "utterance", "policy", "x", *option]) != 0
    assert reason in capsys.readouterr().err


def test_an_unknown_transformer_is_answered_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transformers", "try", "dialog", "speakabel", "text"]) != 0
    assert "there are: content, length, speakable, tone, translate" in capsys.readouterr().err


def test_a_sound_that_is_no_wav_file_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "x.wav").write_text("no sound")
    assert main(["transformers", "try", "audio", "level", str(tmp_path / "x.wav")]) != 0
    assert "is no WAV file" in capsys.readouterr().err


def test_the_doctor_names_a_server_that_does_not_answer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "hark.toml"
    file.write_text('[transformers]\nenable = ["tone", "nope"]\n[plugins.tone]\nurl = "http://127.0.0.1:9/v1"\n')
    assert main(["doctor", "--alone", "--settings", str(file)]) != 0
    text = capsys.readouterr().out
    assert "! http://127.0.0.1:9 cannot be reached: Connection refused; start it, or correct url" in text
    assert "[transformers] enable names 'nope', which is not installed" in text
