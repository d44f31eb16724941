"""Plugins of OVOS's plugin manager as they are, in process: each peer has Hark and the plugins in one environment."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from interop.conftest import Peer, peers

PROGRAM = Path(__file__).parent / "programs" / "opm.py"
CORRECTIONS = {"wether in lisbon": "what is the weather in lisbon"}


def tried(peer: Peer, trial: str, home: Path) -> dict[str, Any]:
    """What came of a trial in the environment of a peer, with a home of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "XDG_", "COV"))}
    (home / ".local" / "share" / "mycroft").mkdir(parents=True)
    (home / ".local" / "share" / "mycroft" / "corrections.json").write_text(json.dumps(CORRECTIONS))
    done = subprocess.run(
        [peer.python, PROGRAM, trial],
        capture_output=True,
        text=True,
        timeout=180,
        cwd=home,
        env={**kept, "HOME": str(home)},
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def stable() -> Peer:
    [peer] = [one for one in peers("opm") if one.name == "opm-stable"]
    return peer


def prerelease() -> Peer:
    [peer] = [one for one in peers("opm") if one.name == "opm-prerelease"]
    return peer


@pytest.mark.acceptance("A12", line="stable")
def test_the_normalizer_expands_contractions(tmp_path: Path) -> None:
    found = tried(stable(), "normalizer", tmp_path)
    assert (found["spoken"], found["markers"]) == (["heard it is not what i said"], 1)


@pytest.mark.peers("opm")
@pytest.mark.acceptance("A13")
def test_the_cancel_plugin_cancels_with_a_reason(peer: Peer, tmp_path: Path) -> None:
    # The newer one does not cancel what begins like a question about a word.
    trials = tried(peer, "cancel", tmp_path)["trials"][0 if peer.name == "opm-stable" else 1 :]
    for found in trials:
        assert (found["spoken"], found["markers"]) == ([], 1)
        assert found["cancelled"] == [{"cancel_reason": "stop_word", "cancel_word": "cancel that"}]


@pytest.mark.acceptance("A14", line="stable")
def test_the_corrections_plugin_reads_its_own_file(tmp_path: Path) -> None:
    found = tried(stable(), "corrections", tmp_path)
    assert (found["spoken"], found["markers"]) == (["city lisbon"], 1)


@pytest.mark.acceptance("A15", line="stable")
def test_the_dialog_normalizer_writes_numbers_out(tmp_path: Path) -> None:
    found = tried(stable(), "dialog_normalizer", tmp_path)
    assert found["spoken"] == ["I am five km away from Doctor Who at 10:30"]


@pytest.mark.acceptance("A16", line="stable")
def test_the_ahocorasick_plugin_adds_a_slot(tmp_path: Path) -> None:
    found = tried(stable(), "ahocorasick", tmp_path)
    assert json.loads(found["spoken"][0]) == {"city": "lisbon"}


@pytest.mark.peers("opm")
@pytest.mark.acceptance("A17")
def test_padatious_claims_plain_sentences_and_such_with_slots(peer: Peer, tmp_path: Path) -> None:
    found = tried(peer, "padatious", tmp_path)
    assert (found["spoken"], found["markers"]) == (["plain", '{"city": "lisbon"}'], 2)


@pytest.mark.peers("opm")
@pytest.mark.acceptance("A18")
def test_adapt_claims_with_both_keywords(peer: Peer, tmp_path: Path) -> None:
    found = tried(peer, "adapt", tmp_path)
    assert json.loads(found["spoken"][0]) == {"robot": "droid", "kitchen": "living room"}


def test_translation_goes_both_ways(tmp_path: Path) -> None:
    found = tried(prerelease(), "translation", tmp_path)
    assert (found["spoken"], found["markers"]) == (["Estoy lejos."], 1)
    assert found["asked"] == [["es-ES", "en-US"], ["en-US", "es-ES"]]


def test_the_keyword_template_plugin_fills_slots(tmp_path: Path) -> None:
    found = tried(prerelease(), "keyword_templates", tmp_path)
    assert json.loads(found["spoken"][0])["city"] == "lisbon"


def test_a_stable_solver_answers(tmp_path: Path) -> None:
    assert tried(stable(), "solvers", tmp_path)["answers"]["ovos-solver-failure-plugin"] == "404"


def test_prerelease_solvers_answer_and_a_toolbox_lists_its_tools(tmp_path: Path) -> None:
    found = tried(prerelease(), "solvers", tmp_path)
    assert "RiveScript" in found["answers"]["ovos-solver-rivescript-plugin"]
    assert found["answers"]["ovos-solver-failure-plugin"]
    assert {"define_word", "word_relations"} <= set(found["tools"])


@pytest.mark.acceptance("A19", line="prerelease")
def test_espeakng_speaks(tmp_path: Path) -> None:
    found = tried(prerelease(), "espeak", tmp_path)
    assert found["format"] == [22_050, 2, 1]
    assert 1.7 < found["seconds"] < 2.3


@pytest.mark.acceptance("A20", line="stable")
def test_the_server_plugin_recognises(tmp_path: Path) -> None:
    found = tried(stable(), "stt_server", tmp_path)
    assert found == {"utterances": ["what time is it"], "sent": ["RIFF"]}


@pytest.mark.acceptance("A21", line="prerelease")
def test_sound_stays_as_it_is_where_the_sox_plugin_returns_nothing(tmp_path: Path) -> None:
    found = tried(prerelease(), "sox", tmp_path)
    assert found["unchanged"]
    assert any("returned no file" in line for line in found["log"])
