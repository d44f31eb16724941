"""How command lines are read: what is accepted where, and what mistakes are answered with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from hark.cli import main


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_a_misspelt_command_or_option_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert 'did you mean "doctor"?' in refused(capsys, "docter")
    assert 'did you mean "--workers"?' in refused(capsys, "run", "--wokers", "2")
    assert 'did you mean "revoke"?' in refused(capsys, "token", "revok")
    assert "there are: text, json" in refused(capsys, "why", "--format", "yaml")


def test_a_missing_word_is_listed_with_what_it_may_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert "ACTION is one of: add, list, revoke" in refused(capsys, "token")
    assert "KIND is one of: skill, transformer, pipeline" in refused(capsys, "new")
    assert "is one of" not in refused(capsys, "new", "skill")
    assert "expected one argument, such as understand, act" in refused(capsys, "run", "--service")
    assert "expected one argument, such as de-DE" in refused(capsys, "say", "--lang")


@pytest.mark.parametrize(
    ("words", "option"),
    [(["token", "list"], "--settings"), (["session", "show"], "--state"), (["skills", "list"], "--state")],
)
def test_settings_and_state_may_stand_behind_the_action(words: list[str], option: str, tmp_path: Path) -> None:
    place = tmp_path / "hark.toml"
    place.write_text("")
    assert main([*words, option, str(place if option == "--settings" else tmp_path)]) == 0


def test_every_command_has_its_description_beside_its_name(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = capsys.readouterr().out.partition("commands:\n  COMMAND\n")[2].partition("\n\n")[0]
    assert all(len(line.split()) > 1 for line in commands.splitlines()), commands


def test_help_is_a_command_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["help", "token", "add"], ["token", "add", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
        assert capsys.readouterr().out.startswith("usage: hark token add")


def test_the_help_of_a_command_may_be_asked_for_with_verbosity(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["help", "say", "-v"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: hark say")


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--settings", ""],
        ["say", "hello", "--state="],
        ["skills", "install", ""],
        ["say", "hello", "--bus", ""],
        ["explain", ""],
    ],
)
def test_a_value_that_means_nothing_when_it_is_empty_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "it is empty" in refused(capsys, *words)


@pytest.mark.parametrize("command", ["say", "explain"])
def test_what_is_not_utf_8_is_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "caf\udce9"]) == 2
    assert "not UTF-8" in capsys.readouterr().err


def test_an_interrupt_while_the_program_is_loaded_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(ModuleType):
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "hark.cli.program", Interrupted("hark.cli.program"))
    assert main(["token", "list"]) == 130


@pytest.mark.parametrize("words", [["-q", "token", "list"], ["token", "-q", "list"], ["token", "list", "-q", "-v"]])
def test_verbosity_can_stand_anywhere(words: list[str], tmp_path: Path) -> None:
    assert main([*words, "--state", str(tmp_path)]) == 0


def test_descriptions_are_wrapped_and_examples_are_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    about, _, rest = capsys.readouterr().out.partition("\nexamples:\n")
    assert max(map(len, about.splitlines())) <= 60
    assert "  hark run --service understand --service act --bus ws://127.0.0.1:8181/core\n" in rest


def test_settings_in_effect_say_where_they_come_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hark.toml"
    file.write_text('[assistant]\nlang = "de-DE"\n\n[plugins."clock.skill"]\nx = 1\n')
    assert main(["settings", "show", "--settings", str(file), "--format", "json"]) == 0
    values = {(one["table"], one["key"]): one for one in json.loads(capsys.readouterr().out)}
    assert (values["assistant", "lang"]["value"], values["assistant", "lang"]["line"]) == ("de-DE", 2)
    assert values["bus", "port"]["line"] is None
    assert values['plugins."clock.skill"', "x"]["line"] == 5


def test_settings_are_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hark.toml"
    file.write_text('[deny]\nskills = ["clok.skill"]\n')
    assert main(["settings", "check", "--no-plugins", "--settings", str(file)]) == 1
    assert "did you mean 'clock.skill'?" in capsys.readouterr().out
    file.write_text('[deny]\nskills = ["a-skill-of-another-machine"]\n')
    assert main(["settings", "check", "--no-plugins", str(file)]) == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[deny]\n# those\nskills = ["clok.skill"]\n', ":3: [deny] skills names 'clok.skill'"),
        ('[voice]\nstt = ["faster-whisper", "wisper"]\n', ":2: [voice] stt: there is no stt engine 'wisper'"),
        ('[assistant]\nfiles = ["gone.py"]\n', ":2: plugin file gone.py is not loaded: there is no such file"),
        ('[plugins."timers.skill"]\nnope = 1\n', 'remove [plugins."timers.skill"] nope'),
        (
            '[bus]\nport = 0\nremote_host = "0.0.0.0"\n',
            ":3: 0.0.0.0 can be reached from other machines, so it needs TLS",
        ),
        ('[bus]\nurl = "http://hub"\n', ':2: [bus] url: "http://hub" is not the address of a bus'),
        ("[assistant]\nlang = de-DE\n", ":2:8: this is not TOML: this is no value; text is in quotes"),
        ('[pipeline.x]\nplugin = "stop"\n', ":1: [pipeline.x] has no effect"),
    ],
)
def test_a_mistake_in_the_settings_is_found_with_its_line(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hark.toml"
    file.write_text(text)
    assert main(["settings", "check", "--no-plugins", str(file)]) == 1
    assert told in capsys.readouterr().out


def test_a_language_without_skills_is_noted_by_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "hark.toml"
    file.write_text('[assistant]\nlang = "nl-NL"\n')
    assert main(["settings", "check", "--no-plugins", str(file)]) == 0
    assert "the skills of Hark do not speak nl-NL" in capsys.readouterr().err


def test_settings_in_effect_are_shown_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "show", "--settings", str(tmp_path / "hark.toml")]) == 2
    capsys.readouterr()
    (tmp_path / "hark.toml").write_text("")
    assert main(["settings", "show", str(tmp_path / "hark.toml")]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("pipeline = ")]
    assert '"fallback"]' in line


def test_settings_of_engines_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings", "--no-plugins"]) == 0
    text = capsys.readouterr().out
    assert "#[engine.faster-whisper]\n" in text
    assert "#[engine.hibari]\n" in text


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("hark tok", ["token"]),
        ("hark token r", ["revoke"]),
        ("hark run --wor", ["--worker", "--workers"]),
        ("hark why --format j", ["json"]),
        ("hark -v doctor --al", ["--alone"]),
    ],
)
def test_bash_completes_commands_options_and_values(
    typed: str, completed: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "hark"
    script.write_text(capsys.readouterr().out)
    words = typed.split(" ")
    ask = f"source {script}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _hark; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert (done.stdout.split(), done.stderr) == (completed, "")


def test_every_option_is_completed_in_zsh_and_fish(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "zsh"]) == 0
    assert capsys.readouterr().out.startswith("#compdef hark\n")
    assert main(["completion", "fish"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("__fish_seen_subcommand_from run'" in line and "-l voice" in line for line in lines)
    assert any("from token; and __fish_seen_subcommand_from add'" in line and "-l emit" in line for line in lines)
