"""What becomes of an installation of OVOS."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from hark.app import migration
from hark.bridges.opm import mycroft_conf
from hark.cli import main
from hark.errors import UserError

CONF = {
    "lang": "en-us",
    "secondary_langs": ["de-de"],
    "system_unit": "metric",
    "time_format": "full",
    "location": {"city": {"name": "Lisbon"}, "coordinate": {"latitude": 38.7, "longitude": -9.1}},
    "utterance_transformers": {"own-b": {"level": 3}, "own-a": {}, "off": {"active": False}},
    "dialog_transformers": {"ovos-dialog-normalizer-plugin": {}},
    "intents": {"pipeline": ["ovos-stop-pipeline-plugin-high", "ovos-own-pipeline-plugin-high", "ovos-gone-plugin"]},
    "stt": {"module": "own-stt", "own-stt": {"url": "http://x"}},
    "tts": {"module": "ovos-tts-plugin-piper"},
    "skills": {"blacklisted_skills": ["unwanted.someone"]},
    "listener": {"wake_word": "hey_you"},
    "hotwords": {"hey_you": {"module": "gone-ww", "stt_lang": "de-de"}, "wake_up": {"wakeup": True}},
}
POINTS = """
[opm.transformer.text]
own-a = m:A
own-b = m:B
idle = m:C
[opm.transformer.dialog]
ovos-dialog-normalizer-plugin = m:D
[opm.pipeline]
ovos-own-pipeline-plugin = m:P
[opm.stt]
own-stt = m:S
[opm.skill]
ovos-skill-alerts.openvoiceos = m:K
someone.else = radio:L
unwanted.someone = m:L
[opm.agents.chat]
own-solver = m:C
[opm.phal]
leds = m:H
[ovos.plugin.phal]
leds = m:H
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    info = tmp_path / "site" / "ovos_skill_things-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ovos-skill-things\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    (info.parent / "radio").mkdir()
    (info.parent / "radio" / "__init__.py").write_text("@ocp_search()\ndef search(self, phrase): ...\n")
    (tmp_path / "mycroft.conf").write_text(f"// mine\n{json.dumps(CONF)}")
    return info.parent


def found(site: Path, **options: bool) -> migration.Migration:
    conf = mycroft_conf.read([site.parent / "mycroft.conf"])
    return migration.migrate(conf, [str(site)], **options)


def outcomes(result: migration.Migration) -> dict[str, str]:
    return {one.name: one.outcome for one in result.findings}


def test_each_skill_and_plugin_gets_a_verdict(site: Path) -> None:
    verdicts = outcomes(found(site))
    assert verdicts["own-a"] == verdicts["own-b"] == verdicts["idle"] == verdicts["own-stt"] == "bridge"
    assert verdicts["someone.else"] == "bridge"
    assert verdicts["ovos-dialog-normalizer-plugin"] == verdicts["ovos-tts-plugin-piper"] == "native"
    assert verdicts["leds"] == verdicts["ovos-gone-plugin"] == "not supported"
    assert "off" not in verdicts


def test_a_skill_that_asks_for_a_player_says_so_and_a_plugin_of_two_groups_is_named_once(site: Path) -> None:
    findings = found(site).findings
    [radio] = [one for one in findings if one.name == "someone.else"]
    [other] = [one for one in findings if one.name == "ovos-skill-alerts.openvoiceos"]
    assert ("OCP" in radio.how, "OCP" in other.how) == (True, False)
    assert sum(one.name == "leds" for one in findings) == 1


def test_a_skill_that_was_blacklisted_stays_so_and_a_solver_is_a_tool(site: Path) -> None:
    result = found(site)
    assert outcomes(result)["unwanted.someone"] == "not supported"
    assert result.settings["deny", "skills"] == ["unwanted.someone"]
    [solver] = [one for one in result.findings if one.name == "own-solver"]
    assert (solver.outcome, "toolboxes" in solver.how) == ("bridge", True)


def test_transformers_keep_the_order_and_settings_of_mycroft_conf(site: Path) -> None:
    settings = found(site).settings
    assert settings["transformers", "enable"] == ["utterance.own-b", "utterance.own-a", "speakable"]
    assert settings["plugins", "own-b", "level"] == 3


def test_a_plugin_is_kept_where_the_user_says_so(site: Path) -> None:
    kept = found(site, keep_plugins=True)
    assert outcomes(kept)["ovos-dialog-normalizer-plugin"] == "bridge"
    assert "dialog.ovos-dialog-normalizer-plugin" in kept.settings["transformers", "enable"]


def test_the_settings_file_that_is_written_can_be_read(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from hark.app.settings import read_settings

    file = tmp_path / "hark.toml"
    file.write_text('[assistant]\nlang = "fr-FR"  # old\n\n[limits]\nmatch = 3.0\n')
    conf = str(tmp_path / "mycroft.conf")
    # The packages are found by the Python of the tests; the settings come from the file alone.
    assert main(["migrate", "ovos", "--config", conf, "--write", str(file)]) == 0
    assert "Not supported" in capsys.readouterr().out
    settings = read_settings(file, named=True)
    assert (settings.assistant.lang, settings.assistant.langs) == ("en-US", ("de-DE",))
    assert (settings.home.place, settings.home.units, settings.home.clock) == ("Lisbon", "metric", 24)
    assert settings.limits.match == 3.0
    assert {name: (word.phrase, word.lang) for name, word in settings.wake.items()} == {"hey_you": ("hey you", "de-DE")}
    assert tomllib.loads(file.read_text())["voice"]["tts"] == ["piper"]


def test_what_is_wrong_in_a_configuration_is_named_and_the_rest_is_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {
        "lang": "de_at",
        "secondary_langs": 7,
        "location": {"city": [], "coordinate": {"latitude": 480, "longitude": True}, "timezone": {"code": "Mars/X"}},
        "websocket": [],
        "time_format": {"full": 1},
        "system_unit": "english",
        "hotwords": {"hey you": "precise", "computer": {"module": 3}},
        "gui": {},
    }
    file = tmp_path / "wrong.conf"
    file.write_text(json.dumps(wrong))
    assert main(["migrate", "ovos", "--config", str(file)]) == 0
    printed = capsys.readouterr().out
    assert 'lang = "de-AT"' in printed
    assert "Not read: gui" in printed
    for key in ("secondary_langs", "location.city", "location.coordinate.latitude", "location.coordinate.longitude",
                "location.timezone.code", "websocket", "time_format", "system_unit", "hotwords.hey you",
                "hotwords.computer.module"):  # fmt: skip
        assert f"  {key}: " in printed, key


def test_a_pipeline_entry_of_a_plugin_has_a_table_with_its_level(site: Path) -> None:
    settings = found(site).settings
    assert settings["pipeline", "own-high", "plugin"] == "ovos-own-pipeline-plugin"
    assert settings["pipeline", "own-high", "level"] == "high"
    own = ["stop", "interrupt", "converse", "several", "correction"]
    assert settings["assistant", "pipeline"] == [*own, "own-high", "fallback"]


def test_a_python_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nowhere"):
        migration.import_path(tmp_path / "nowhere")
    with pytest.raises(UserError, match="/bin/true does not answer as a Python does"):
        migration.import_path(Path("/bin/true"))
