"""`hark lint`: a folder with each kind of mistake, each of them found once and in the right place."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hark.cli import main
from hark.errors import UserError
from hark.intents.grammar import MAX_SENTENCES
from hark.intents.locale import Role
from hark.tools.lint import LintCode, Severity, as_json, as_text, check

Files = Mapping[str, str | bytes]
Places = list[tuple[str, int, int, str]]


def write(folder: Path, files: Files) -> Path:
    """A skill with these files in its locale folder."""
    for name, content in files.items():
        path = folder / "locale" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def found(folder: Path) -> Places:
    """Place and code of everything that is found, with paths below `locale`."""
    report = check([folder])
    locale = folder / "locale"
    return [
        (
            str(finding.path.relative_to(locale)) if locale in finding.path.parents else str(finding.path.name),
            finding.line,
            finding.column,
            finding.code.value,
        )
        for finding in report.findings
    ]


def codes(folder: Path, files: Files) -> list[str]:
    """What is found in a skill with these files."""
    return [code for *_, code in found(write(folder, files))]


GOOD: Files = {
    "en-US/play.intent": "play {song} [on {device}]\n# a comment (with anything <in> it\n\n  start <music>\n",
    "en-US/music.voc": "music\n(some|any) songs\n",
    "en-US/device.entity": "kitchen radio\n",
    "en-US/play.blacklist": "video game\n",
    "en-US/device.blacklist": "it\n",
    "en-US/playing.dialog": "Playing {song}!\nHere's [your] {song}.\n",
    "en-US/ask.prompt": "# Ask\n{{city}} {city} (anything\n",
    "de-DE/sub/play.intent": "spiel {song} [auf {device}]\nstarte <music>\n",
    "de-DE/music.voc": "musik\n",
    "de-DE/device.entity": "küchenradio\n",
    "de-DE/playing.dialog": "Es läuft {song}.\n",
    "de-DE/README.md": "whatever",
}

BAD: list[tuple[str, Files, Places]] = [
    ("ENCODING", {"en/a.voc": b"yes\nna\xefve\n"}, [("en/a.voc", 2, 3, "L001")]),
    ("EMPTY_FILE", {"en/a.voc": "# nothing\n\n"}, [("en/a.voc", 0, 0, "L003")]),
    ("EMPTY_FILE", {"en/a.prompt": " \n"}, [("en/a.prompt", 0, 0, "L003")]),
    ("BYTE_ORDER_MARK", {"en/a.voc": b"\xef\xbb\xbfyes\n"}, [("en/a.voc", 1, 1, "L004")]),
    ("UNKNOWN_ROLE", {"en/a.voc": "yes\n", "en/b.rx": "(?P<x>.*)\n"}, [("en/b.rx", 0, 0, "L005")]),
    ("UNKNOWN_ROLE", {"en/a.voc": "yes\n", "en/b.intents": "no\n"}, [("en/b.intents", 0, 0, "L005")]),
    ("FILE_NAME", {"en/Bad-Name.voc": "yes\n"}, [("en/Bad-Name.voc", 0, 0, "L006")]),
    ("FILE_NAME", {"en/a.VOC": "yes\n"}, [("en/a.VOC", 0, 0, "L006")]),
    ("FILE_NAME", {"en/a.b.voc": "yes\n", "de/a_b.voc": "ja\n"}, [("en/a.b.voc", 0, 0, "L006")]),
    ("FILE_NAME", {"en/2a.entity": "yes\n"}, [("en/2a.entity", 0, 0, "L006")]),
    ("MISPLACED", {"en/a.voc": "yes\n", "b.voc": "no\n"}, [("b.voc", 0, 0, "L007")]),
    ("MISPLACED", {"en/a.voc": "yes\n", "../vocab/en/b.voc": "no\n"}, [("b.voc", 0, 0, "L007")]),
    ("LANGUAGE_NAME", {"en/a.voc": "yes\n", "english/a.voc": "yes\n"}, [("english", 0, 0, "L008")]),
    ("LANGUAGE_NAME", {"en/a.voc": "yes\n", "en_US/a.voc": "yes\n"}, [("en_US", 0, 0, "L008")]),
    ("LANGUAGE_TWICE", {"en-US/a.voc": "yes\n", "en-us/a.voc": "yes\n"}, [("en-us", 0, 0, "L009")]),
    ("FILE_TWICE", {"en/a.voc": "yes\n", "en/sub/a.voc": "yes\n"}, [("en/sub/a.voc", 0, 0, "L010")]),
    ("FILE_TWICE", {"en/a.voc": "yes\n", "en/sub/A.voc": "yes\n"}, [("en/sub/A.voc", 0, 0, "L010")]),
    ("UNUSABLE_VOCABULARY_NAME", {"en/2nd.voc": "second\n"}, [("en/2nd.voc", 0, 0, "L011")]),
    ("UNBALANCED", {"en/a.intent": "yes\n\n  turn (on\n"}, [("en/a.intent", 3, 8, "L101")]),
    ("EMPTY_GROUP", {"en/a.intent": "yes () no\n"}, [("en/a.intent", 1, 5, "L102")]),
    ("EMPTY_SAMPLE", {"en/a.voc": "[yes]\n"}, [("en/a.voc", 1, 1, "L103")]),
    ("SLOT_ONLY", {"en/a.intent": "yes\n{n}\n"}, [("en/a.intent", 2, 1, "L104")]),
    ("ADJACENT_SLOTS", {"en/a.intent": "go {x} [to] {y}\n"}, [("en/a.intent", 1, 13, "L105")]),
    ("REPEATED_SLOT", {"en/a.dialog": "{x} and {date:x}\n"}, [("en/a.dialog", 1, 9, "L106")]),
    ("INVALID_SLOT", {"en/a.intent": "go {X}\n"}, [("en/a.intent", 1, 4, "L107")]),
    ("SLOT_NOT_ALLOWED", {"en/a.voc": "go\ngo {x}\n"}, [("en/a.voc", 2, 4, "L108")]),
    ("SLOT_NOT_ALLOWED", {"en/a.intent": "go\n", "en/a.required": "{x}\n"}, [("en/a.required", 1, 1, "L108")]),
    ("PIPE_OUTSIDE_GROUP", {"en/a.voc": "red|blue\n"}, [("en/a.voc", 1, 4, "L109")]),
    ("PIPE_OUTSIDE_GROUP", {"en/a.dialog": "Red|blue!\n"}, [("en/a.dialog", 1, 4, "L109")]),
    ("INVALID_REFERENCE", {"en/a.intent": "a <Color> car\n"}, [("en/a.intent", 1, 3, "L110")]),
    ("UNDEFINED_VOCABULARY", {"en/a.intent": "a <color> car\n"}, [("en/a.intent", 1, 3, "L111")]),
    (
        "UNDEFINED_VOCABULARY",
        {"en/a.intent": "a <b> car\n", "en/b.voc": "red\n<c>\n"},
        [("en/b.voc", 2, 1, "L111")],
    ),
    (
        "UNDEFINED_VOCABULARY",
        {"en/a.intent": "a <c>\n", "en/c.voc": "x\n", "de/a.intent": "ein <c>\n"},
        [("de/a.intent", 1, 5, "L111")],
    ),
    (
        "CYCLIC_VOCABULARY",
        {"en/a.intent": "a <b> car\n", "en/b.voc": "red\n<c>\n", "en/c.voc": "x [<b>]\n"},
        [("en/c.voc", 1, 4, "L112")],
    ),
    ("CYCLIC_VOCABULARY", {"en/b.voc": "red\n<b>\n"}, [("en/b.voc", 2, 1, "L112")]),
    ("TOO_MANY_SENTENCES", {"en/a.intent": "go (a|b)" + " (c|d)" * 12 + "\n"}, [("en/a.intent", 1, 4, "L113")]),
    (
        "TOO_MANY_SENTENCES",
        {"en/a.intent": "a <b>\n", "en/b.voc": "\n".join(f"w{n}" for n in range(MAX_SENTENCES + 1))},
        [("en/b.voc", 1, 1, "L113")],
    ),
    ("SINGLE_BRANCH", {"en/a.intent": "go (home)\n"}, [("en/a.intent", 1, 4, "L201")]),
    ("EMPTY_OPTIONAL", {"en/a.intent": "go [] home\n"}, [("en/a.intent", 1, 4, "L202")]),
    ("UNREGISTERED_TYPE", {"en/a.intent": "go {place:x} now\n"}, [("en/a.intent", 1, 4, "L203")]),
    ("NORMAL_FORM", {"en/a.intent": "turn On\n"}, [("en/a.intent", 1, 6, "L204")]),
    ("NORMAL_FORM", {"en/a.intent": "it's (on|off)\n"}, [("en/a.intent", 1, 3, "L204")]),
    ("NORMAL_FORM", {"fr/a.intent": "va, l'{chose}\n"}, [("fr/a.intent", 1, 3, "L204")]),
    ("NORMAL_FORM", {"it/a.intent": "di' qualcosa\n"}, [("it/a.intent", 1, 3, "L204")]),
    ("LEADING_UNDERSCORE", {"en/a.intent": "say {_x}\n"}, [("en/a.intent", 1, 5, "L205")]),
    ("WHITE_SPACE", {"en/a.dialog": "It is\tlate.\n"}, [("en/a.dialog", 1, 6, "L206")]),
    ("GLUED_SLOT", {"en/a.intent": "all {x}s\n"}, [("en/a.intent", 1, 5, "L207")]),
    ("BARE_SENTENCE", {"en/a.intent": "[please] {x}\n"}, [("en/a.intent", 1, 10, "L208")]),
    ("SLOT_IN_BRANCHES", {"en/a.intent": "(say {x}|tell {x})\n"}, [("en/a.intent", 1, 15, "L209")]),
    ("MANY_SENTENCES", {"en/a.intent": "go" + " (a|b)" * 10 + "\n"}, [("en/a.intent", 1, 1, "L210")]),
    ("DIALOG_SLOTS", {"en/a.dialog": "Hi {x}\nBye\nHi [{x}]\n"}, [("en/a.dialog", 2, 1, "L301")]),
    ("ENTITY_WITHOUT_SLOT", {"en/a.intent": "go {x}\n", "en/y.entity": "z\n"}, [("en/y.entity", 0, 0, "L302")]),
    ("REQUIRED_WITHOUT_INTENT", {"en/a.required": "x\n"}, [("en/a.required", 0, 0, "L303")]),
    ("BLACKLIST_OF_NOTHING", {"en/a.blacklist": "x\n"}, [("en/a.blacklist", 0, 0, "L304")]),
    (
        "REQUIRED_NOWHERE",
        {"en/a.intent": "lights on\n", "en/a.required": "light\nlights\n"},
        [("en/a.required", 1, 1, "L305")],
    ),
    (
        "LACKS_REQUIRED",
        {"en/a.intent": "lights on\nlamp (on|off)\n", "en/a.required": "lights\n"},
        [("en/a.intent", 2, 1, "L306")],
    ),
    (
        "BARRED",
        {"en/a.intent": "show (modern art|films)\nstart\n", "en/a.blacklist": "art\n"},
        [("en/a.intent", 1, 1, "L307")],
    ),
    (
        "BARRED",
        {"en/a.intent": "call {who}\n", "en/who.entity": "it\nthe it crowd\n", "en/who.blacklist": "it\n"},
        [("en/who.entity", 1, 1, "L307")],
    ),
    (
        "REQUIRED_SLOT",
        {"en/a.intent": "play {song}\n", "en/a.required": "play\nsong\n"},
        [("en/a.required", 2, 1, "L308")],
    ),
    (
        "MISSING_FILE",
        {"en/a.dialog": "Yes.\n", "en/b.voc": "yes\n", "de/a.dialog": "Ja.\n"},
        [("de", 0, 0, "L401")],
    ),
    (
        "MISSING_SLOT",
        {"en/a.intent": "play {song} [on {x}]\n", "pt/a.intent": "toca {musica} [no {x}]\n"},
        [("en/a.intent", 0, 0, "L402"), ("pt/a.intent", 0, 0, "L402")],
    ),
    ("SAID_TWICE", {"en/a.intent": "turn [it] on\nturn off\nturn (it|that) on\n"}, [("en/a.intent", 3, 1, "L501")]),
    ("SAID_TWICE", {"en/a.dialog": "Yes.\nNo.\nYes.\n"}, [("en/a.dialog", 3, 1, "L501")]),
    (
        "SAID_BY_TWO",
        {"en/a.intent": "play {song} [now]\n", "en/b.intent": "stop\nplay {title}\n"},
        [("en/b.intent", 2, 1, "L502")],
    ),
]


def test_a_good_skill_has_nothing_to_fix(tmp_path: Path) -> None:
    assert found(write(tmp_path, GOOD)) == []
    assert as_text(check([tmp_path])) == "11 files in 2 languages: nothing to fix"


@pytest.mark.spec("INTENT-1/1.1.a")
@pytest.mark.spec("INTENT-1/2.c")
@pytest.mark.spec("INTENT-1/3.2.b")
@pytest.mark.spec("INTENT-1/4.3.a")
@pytest.mark.spec("INTENT-1/5.5.a")
@pytest.mark.parametrize(("kind", "files", "expected"), BAD, ids=[f"{n}-{case[0]}" for n, case in enumerate(BAD)])
def test_each_kind_of_mistake_is_found_once_and_in_its_place(
    tmp_path: Path, kind: str, files: Files, expected: Places
) -> None:
    assert {code for *_, code in expected} == {LintCode[kind].value}
    assert found(write(tmp_path, files)) == expected


def test_every_kind_has_its_example() -> None:
    hard_to_write = {LintCode.UNREADABLE}
    assert {LintCode[kind] for kind, *_ in BAD} == set(LintCode) - hard_to_write


def test_mistakes_do_not_hide_each_other(tmp_path: Path) -> None:
    """All of them at once, each in a skill of its own."""
    expected = set()
    for number, (_, files, places) in enumerate(BAD):
        if any("/" not in name or name.startswith("..") for name in files):
            continue
        write(tmp_path / f"skill{number}", files)
        expected |= {(f"skill{number}", *place[1:]) for place in places}
    report = check([tmp_path])
    told = {(f.path.relative_to(tmp_path).parts[0], f.line, f.column, f.code.value) for f in report.findings}
    assert told == expected


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    folder = write(tmp_path, {"en/a.voc": "yes\n"})
    (folder / "locale/en/b.voc").symlink_to("nowhere")
    assert found(folder) == [("en/b.voc", 0, 0, "L002")]


def test_signs_and_letters_of_all_scripts_are_normal(tmp_path: Path) -> None:
    # ruff: noqa: RUF001 - letters of other scripts are meant
    files = {"hi/a.intent": "बत्ती जलाओ\n", "fa/a.intent": "چراغ‌ها را روشن کن\n", "de/a.intent": "straße öffnen\n"}
    assert codes(tmp_path, files) == []


def test_signs_that_stay_when_text_is_compared_are_normal(tmp_path: Path) -> None:
    texts = {"fr/a.intent": "(qu'est-ce|c'est) (l'|cette )heure d'aujourd'hui\n", "fr/b.voc": "+\nkm/h\n20 %\n"}
    assert codes(tmp_path, texts) == []


def test_a_required_phrase_may_be_said_within_a_slot(tmp_path: Path) -> None:
    assert codes(tmp_path, {"en/a.intent": "work out {sum}\n", "en/a.required": "plus\nminus\n"}) == []


def test_dialogs_may_have_capitals_and_signs(tmp_path: Path) -> None:
    assert codes(tmp_path, {"en/a.dialog": "It's {temp}°, {cond}!\n"}) == []


@pytest.mark.parametrize("role", ["blacklist", "prompt"])
def test_some_roles_need_no_counterpart(tmp_path: Path, role: str) -> None:
    assert codes(tmp_path, {"en/a.intent": "go\n", f"en/a.{role}": "x\n", "de/a.intent": "los\n"}) == []


def test_parity_ignores_folders_between(tmp_path: Path) -> None:
    assert codes(tmp_path, {"en/one/a.voc": "yes\n", "de/two/deep/a.voc": "ja\n"}) == []


def test_a_sentence_with_a_slot_may_have_the_required_phrase_in_it(tmp_path: Path) -> None:
    files = {"en/a.intent": "lights on\nswitch {thing} on\n", "en/a.required": "lights\n"}
    assert codes(tmp_path, files) == []


def test_a_sentence_without_a_slot_needs_a_required_phrase_whatever_the_other_lines_have(tmp_path: Path) -> None:
    files = {"en/a.intent": "switch {thing} on\nswitch it on\nlights on\n", "en/a.required": "lights\n"}
    assert found(write(tmp_path, files)) == [("en/a.intent", 2, 1, "L306")]


def test_a_folder_set_aside_is_not_read_and_is_no_language(tmp_path: Path) -> None:
    files = {"en-US/a.voc": "yes\n", "_drafts/a.voc": "(\n", "_drafts/b.voc": "<b>\n"}
    assert found(write(tmp_path, files)) == [("_drafts", 0, 0, "L007")]
    report = check([tmp_path])
    assert (report.files, report.languages) == (1, ["en-US"])


def test_a_folder_set_aside_without_resource_files_is_passed_over(tmp_path: Path) -> None:
    assert codes(tmp_path, {"en-US/a.voc": "yes\n", "_notes/todo.md": "translate\n", "__pycache__/x.pyc": ""}) == []


def test_names_of_folders_within_a_language_mean_nothing(tmp_path: Path) -> None:
    files = {"en-US/a.intent": "go <b>\n", "en-US/__old/b.voc": "home\n(\n", "en-US/_new/a.intent": "leave\n"}
    assert found(write(tmp_path, files)) == [
        ("en-US/__old/b.voc", 2, 1, "L101"),
        ("en-US/_new/a.intent", 0, 0, "L010"),
    ]


def test_a_malformed_file_is_not_missing_as_well(tmp_path: Path) -> None:
    assert codes(tmp_path, {"en/a.intent": "play {x}\n", "de/a.intent": "spiel ({x}\n"}) == ["L101"]


def test_slots_of_python_code_count_for_entities(tmp_path: Path) -> None:
    folder = write(tmp_path, {"en/city.entity": "london\n"})
    assert [code for *_, code in found(folder)] == ["L302"]
    (folder / "__init__.py").write_text('@intent("time in {city}")\n')
    assert found(folder) == []


def test_what_is_in_a_file_with_a_bad_name_counts_all_the_same(tmp_path: Path) -> None:
    assert codes(tmp_path, {"en/what.time.intent": "time in {city}\n(\n", "en/city.entity": "london\n"}) == [
        "L006",
        "L101",
    ]


def test_findings_come_in_order(tmp_path: Path) -> None:
    places = [place[:3] for place in found(write(tmp_path, {"en/b.voc": "(\n\n)\n", "en/a.voc": "Yes\n[\n"}))]
    assert places == sorted(places)
    assert len(places) == 4


def test_every_finding_says_how_to_fix_it(tmp_path: Path) -> None:
    for number, (_, files, _) in enumerate(BAD):
        write(tmp_path / str(number), files)
    for finding in check([tmp_path]).findings:
        assert finding.message
        assert finding.fix
        assert not finding.message.endswith(".")


LINES = st.one_of(
    st.text(max_size=20),
    st.text(alphabet="ab (|)[]{}<>:_#A,", max_size=20),
    st.sampled_from(["<a>", "<b>", "go {x}", "go {x} [now]", "{x} {y}", "(say {x}|tell {y})"]),
)
CONTENT = st.one_of(
    st.lists(LINES, max_size=4).map(lambda lines: "\n".join(lines).encode("utf-8", "replace")), st.binary()
)


@settings(deadline=None, max_examples=60)
@given(
    files=st.dictionaries(
        st.tuples(st.sampled_from(["en", "de"]), st.sampled_from("ab"), st.sampled_from([role.value for role in Role])),
        CONTENT,
        max_size=6,
    )
)
def test_whatever_is_in_the_files_they_are_checked(tmp_path_factory: pytest.TempPathFactory, files: Any) -> None:
    folder = tmp_path_factory.mktemp("skill")
    write(folder, {f"{lang}/{name}{role}": content for (lang, name, role), content in files.items()} or GOOD)
    for finding in check([folder]).findings:
        lines = finding.path.read_bytes().decode("utf-8", "replace").split("\n") if finding.line else [""]
        assert 0 <= finding.line <= len(lines)
        assert 0 <= finding.column <= len(lines[finding.line - 1]) + 1


# Where it looks.


@pytest.mark.parametrize("named", ["", "locale", "locale/en/a.voc", "locale/en"])
def test_a_path_may_be_a_skill_its_locale_a_language_or_a_file(
    tmp_path: Path, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "skill", {"en/a.voc": "(\n"})
    (told,) = check([tmp_path / "skill" / named]).findings
    assert told.path == tmp_path / "skill/locale/en/a.voc"
    monkeypatch.chdir(tmp_path / "skill")
    (told,) = check([Path(named)]).findings
    assert told.path == Path("locale/en/a.voc")


def test_a_file_may_be_named_from_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"en/a.voc": "(\n", "en/b.voc": "(\n"})
    monkeypatch.chdir(tmp_path / "locale/en")
    (told,) = check([Path("a.voc")]).findings
    assert told.path == tmp_path / "locale/en/a.voc"


def test_of_a_file_only_its_own_mistakes_are_told_but_others_are_known(tmp_path: Path) -> None:
    write(tmp_path, {"en/a.intent": "go <b>\n", "en/b.voc": "(\n", "en/c.voc": "(\n", "de/a.intent": "los\n"})
    assert check([tmp_path / "locale/en/a.intent"]).findings == []


def test_a_folder_of_languages_is_a_locale_by_another_name(tmp_path: Path) -> None:
    write(tmp_path, {"en/a.voc": "(\n"})
    (tmp_path / "locale").rename(tmp_path / "mine")
    assert [finding.code for finding in check([tmp_path / "mine"]).findings] == [LintCode.UNBALANCED]


def test_many_skills_are_checked_at_once(tmp_path: Path) -> None:
    write(tmp_path / "one", {"en/a.intent": "go\n"})
    write(tmp_path / "two", {"en/b.intent": "go\n"})
    report = check([tmp_path])
    assert (report.files, report.findings) == (2, []), "skills do not know each other"


def test_a_python_package_may_be_called_locale(tmp_path: Path) -> None:
    write(tmp_path, {"en/a.voc": "(\n"})
    package = tmp_path / "src/locale"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    assert [finding.code for finding in check([tmp_path]).findings] == [LintCode.UNBALANCED]
    with pytest.raises(UserError, match="nothing to check"):
        check([tmp_path / "src"])


# The command.


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    status = main(["lint", *map(str, arguments)])
    told = capsys.readouterr()
    return status, told.out, told.err


def test_the_exit_status_tells_whether_something_has_to_be_fixed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, odd, bad = (tmp_path / name for name in ("good", "odd", "bad"))
    write(good, {"en/a.voc": "yes\n"})
    write(odd, {"en/a.voc": "(yes)\n"})
    write(bad, {"en/a.voc": "(\n"})
    assert run(capsys, good)[0] == 0
    assert run(capsys, good, "--strict")[0] == 0
    assert run(capsys, odd)[0] == 0
    assert run(capsys, odd, "--strict")[0] == 1
    assert run(capsys, bad)[0] == 1


@pytest.mark.parametrize("path", ["nowhere", "empty", "notes.txt"])
def test_nothing_to_look_at_is_a_mistake_of_usage(
    tmp_path: Path, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").touch()
    status, out, err = run(capsys, tmp_path / path)
    assert (status, out) == (2, "")
    assert path in err


def test_text_names_place_code_and_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path, {"en/a.voc": "yes\n (no\n"})
    _, out, _ = run(capsys, folder)
    first, fix, summary = out.splitlines()
    assert first == f"{folder}/locale/en/a.voc:2:2: error L101: '(' is never closed"
    assert fix.startswith("    add the bracket")
    assert summary == "1 file in 1 language: 1 error, 0 warnings"


def test_json_has_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path, {"en/a.voc": "(yes)\n", "en/b.dialog": "Hi\n", "de/a.voc": "ja\n"})
    status, out, _ = run(capsys, folder, "--format", "json")
    told = json.loads(out)
    assert status == 1
    assert (told["files"], told["languages"], told["errors"], told["warnings"]) == (3, ["de", "en"], 1, 1)
    missing, odd = told["findings"]
    assert (missing["code"], missing["kind"], missing["parity"]) == ("L401", "missing-file", True)
    assert odd == {
        "path": f"{folder}/locale/en/a.voc",
        "line": 1,
        "column": 1,
        "code": "L201",
        "kind": "single-branch",
        "severity": "warning",
        "parity": False,
        "message": odd["message"],
        "fix": odd["fix"],
    }


def test_colours_are_for_terminals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path, {"en/a.voc": "(\n"})
    assert "\x1b" not in run(capsys, folder)[1]
    assert "\x1b" not in as_json(check([folder]))
    assert "\x1b[31merror\x1b[0m" in as_text(check([folder]), colours=True)


# The page.

PAGE = (Path(__file__).parents[3] / "docs" / "lint.md").read_text("utf-8")


def test_the_page_explains_every_code_and_no_other() -> None:
    rows = re.findall(r"^\| (L\d{3}) \| (error|warning) \|", PAGE, re.MULTILINE)
    assert rows == [(code.value, code.severity.value) for code in LintCode]
    assert {Severity(severity) for _, severity in rows} == set(Severity)


def test_a_line_with_thousands_of_mistakes_does_not_fill_the_terminal(tmp_path: Path) -> None:
    folder = write(tmp_path, {"en-US/deep.intent": "(" * 3_000 + "a" + ")" * 3_000 + "\n"})
    text = as_text(check([folder]))
    assert len(text) < 20_000
    assert "2980 more of L201" in text
