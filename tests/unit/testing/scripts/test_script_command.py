"""`hark test`, and scripts as tests of pytest."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hark.cli import main

PARROT = "language: en-US\nuser: say {word}\nhark: {word}\n"
SKILL = """
from hark.skills import Skill, intent

class Door(Skill):
    id = "door.skill"

    @intent("open the door")
    def open(self, turn):
        return "It is open."
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with nobody's settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


def write(path: Path, word: str = "hello", answer: str = "hello") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"language: en-US\nuser: say {word}\nhark: {answer}\n")


def test_a_line_for_each_conversation_and_a_summary(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "b.talk")
    write(folder / "deep" / "a.talk")
    assert main(["test", "."]) == 0
    first, second, summary = capsys.readouterr().out.splitlines()
    assert first.split()[:2] == ["ok", "b.talk"]
    assert second.split()[:2] == ["ok", "deep/a.talk"]
    assert summary == "2 conversations: 2 passed."


def test_a_difference_is_shown_in_the_script_with_what_was_said_and_why(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(folder / "a.talk", "good night", "good morning")
    assert main(["test", "a.talk"]) == 1
    headline, *shown, summary = capsys.readouterr().out.splitlines()
    assert headline.startswith("FAIL  a.talk ")
    assert shown[:7] == [
        "      a.talk:3: Hark said something else",
        "           1  language: en-US",
        "           2  user: say good night",
        "       >   3  hark: good morning",
        '                said: "good night"',
        "                            ^^^^^",
        "        why:",
    ]
    assert "parrot.skill:say" in "".join(shown[7:])
    assert summary == "1 conversation: 1 failed."


def test_the_lines_shown_are_of_the_same_conversation(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.talk").write_text(f"{PARROT.format(word='a')}== Two ==\nuser: say b\nhark: c\n")
    assert main(["test", "a.talk"]) == 1
    out = capsys.readouterr().out
    assert "ok    a.talk" in out
    assert "FAIL  a.talk: Two" in out
    assert "user: say a" not in out
    assert "           4  == Two ==" in out


def test_only_some(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.talk").write_text("== Milk ==\nuser: say a\nhark: a\n== Bread ==\nuser: say b\nhark: no\n")
    assert main(["test", "a.talk", "-k", "milk"]) == 0
    assert capsys.readouterr().out.endswith("1 conversation: 1 passed.\n")
    assert main(["test", "a.talk", "-k", "cheese"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == (
        "0 conversations: nothing to play.\n",
        "hark: no conversation has 'cheese' in its path or title\n",
    )


def test_for_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "a.talk")
    write(folder / "b.talk", "good night", "good morning")
    assert main(["test", ".", "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["passed"], told["failed"]) == (1, 1)
    passed, failed = told["conversations"]
    assert (passed["script"], passed["passed"], passed["difference"]) == ("a.talk", True, None)
    difference = failed["difference"]
    assert (difference["line"], difference["expected"], difference["said"]) == (3, "hark: good morning", ["good night"])
    assert "parrot.skill:say" in difference["why"]


def test_a_script_that_cannot_be_read_does_not_keep_others_from_being_played(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.talk").write_text("harc: hello\n")
    (folder / "b.talk").write_text(f"settings: none.toml\n{PARROT.format(word='a')}")
    write(folder / "c.talk")
    assert main(["test", "."]) == 2
    told = capsys.readouterr()
    assert "hark: a.talk:1: this cannot be read: harc: hello; did you mean hark:?\n" in told.err
    assert "none.toml: there is no such file" in told.err
    assert told.out.endswith("1 conversation: 1 passed.\n")


@pytest.mark.parametrize(("path", "told"), [("missing.talk", "there is no "), (".", "contains no script")])
def test_no_script_is_a_mistake(folder: Path, path: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", path]) == 2
    assert told in capsys.readouterr().err


def test_skills_are_files_or_classes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "doors.py").write_text(SKILL)
    (folder / "talk").mkdir()
    for name, skills in (("file", "../doors.py"), ("class", "doors:Door")):
        (folder / "talk" / f"{name}.talk").write_text(
            f"skills: {skills}\nlanguage: en-US\nuser: open the door\nhark: it is open\n"
        )
    try:
        assert main(["test", "talk"]) == 0, capsys.readouterr()
    finally:
        sys.modules.pop("doors", None)


@pytest.mark.parametrize(
    ("skills", "told"),
    [
        ("missing.py", "there is no "),
        ("no_such_module:Door", "cannot be imported: ModuleNotFoundError"),
        ("pathlib:Path", "is not a plugin class"),
        ("broken.py", "importing it failed"),
        ("a b c", "there is no "),
    ],
)
def test_skills_that_are_not_there(folder: Path, skills: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "broken.py").write_text("1 / 0")
    (folder / "a.talk").write_text(f"# first\nskills: {skills}\nuser: hello\n")
    assert main(["test", "a.talk"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("hark: a.talk:")
    assert told in err


def test_a_plugin_that_nobody_asked_for_may_be_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "broken.py").write_text("1 / 0")
    (folder / "some.toml").write_text('[assistant]\nfiles = ["broken.py"]\n')
    write(folder / "a.talk")
    write(folder / "b.talk")
    assert main(["test", ".", "--settings", "some.toml"]) == 0
    told = capsys.readouterr()
    assert told.err.count("importing it failed: ZeroDivisionError") == 1
    assert told.out.endswith("2 conversations: 2 passed.\n")


def test_settings_are_those_of_the_script_else_those_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mute.toml").write_text('[deny]\nskills = ["parrot.skill"]\n')
    write(folder / "a.talk")
    (folder / "b.talk").write_text("settings: mute.toml\nuser: say a\nhark: * did not *\n")
    (folder / "c.talk").write_text("settings: none\nuser: say a\nhark: a\n")
    assert main(["test", ".", "--settings", "mute.toml"]) == 1
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if ".talk  " in line] == [
        "FAIL",
        "ok",
        "ok",
    ]


@pytest.mark.parametrize(
    "asks",
    ['pytest_plugins = ["hark.testing.scripts"]', "from hark.testing.scripts import pytest_collect_file"],
)
def test_scripts_are_tests_for_those_who_ask(folder: Path, asks: str) -> None:
    is_for_all = asks.startswith("pytest_plugins")
    write(folder / "talk" / "a.talk")
    (folder / "talk" / "b.talk").write_text("== Two words ==\nuser: say b\nhark: c\n")
    (folder / "talk" / "c.talk").write_text("harc: hello\n")
    write(folder / "other" / "d.talk")
    (folder / "conftest.py" if is_for_all else folder / "talk" / "conftest.py").write_text(asks)
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    done = subprocess.run([*command, "talk", "other"], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "talk/a.talk::a PASSED" in done.stdout
    assert "talk/b.talk::Two words FAILED" in done.stdout
    assert "talk/b.talk:3: Hark said something else" in done.stdout
    assert "Traceback" not in done.stdout
    assert "c.talk:1: this cannot be read: harc: hello" in done.stdout
    assert ("other/d.talk::d PASSED" in done.stdout) == is_for_all
