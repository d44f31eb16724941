"""`hark convert`: hassil's sentences as locale folders, and back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import home_assistant_intents
import pytest
import yaml

from hark.cli import main
from hark.intents.locale import LanguageFolder, Locale, Role
from hark.tools.convert.files import LanguageSource, write
from hark.tools.convert.hassil_export import to_hassil
from hark.tools.convert.hassil_import import from_hassil
from hark.tools.convert.report import ConversionReport, Verdict

COMMON = """\
language: en
settings: {ignore_whitespace: false}
lists:
  area: {values: [kitchen, "living[ ]room"]}
  colours:
    values:
      - {in: "(red|crimson)", out: "#f00", context: {warm: true}}
      - {in: blue, out: blue, metadata: {hex: "00f"}}
      - {in: "%", out: nothing}
  bright: {range: {from: 0, to: 100, type: percentage}}
  anything: {wildcard: true}
expansion_rules:
  the: "(the|my)"
  maybe: "[<the>]"
  in_area: "in <the> {area}"
  all: "all [of <the>]"
  Greeting: "[hello]"
  itself: "<itself> again"
skip_words: ["please", "I'd like", "[or] else", "[maybe]"]
responses:
  errors: {no_area: "No area called {{ area }}"}
  intents:
    SetLight: {default: "Set {{ slots.area }}.", logic: "{% if x %}y{% endif %}"}
    Silent: {}
"""
INTENTS = """\
language: en
intents:
  SetLight:
    data:
      - sentences:
          - "Turn <all> lights {colours:colour}"
          - "<maybe> lamp (on;<in_area>)"
          - "set {area} to {bright:level}[%| percent]"
          - "{area} {colours:colour}"
          - "{area} and {area} too"
          - "(broken"
          - "<nowhere> x"
          - "<itself>"
        slots: {domain: light}
        response: default
      - sentences: ["<fancy> {area} [<fancy>]", "turn {shade} on", "<Greeting>you {area}"]
        expansion_rules: {fancy: "(fancy|posh)", the: "your"}
        lists: {shade: {values: [dark, pale]}}
        requires_context: {area: {slot: true}}
        excludes_context: {night: true}
        metadata: {kind: [a, b]}
    description: Lights
  Silent:
    data:
      - sentences: ["say {anything:text}", "take {0..9:count} of {unknown}"]
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "sentences" / "en"
    folder.mkdir(parents=True)
    (folder / "_common.yaml").write_text(COMMON)
    (folder / "lights.yaml").write_text(INTENTS)
    (folder / "notes.json").write_text("[1, 2]")
    return tmp_path / "sentences"


def merged() -> dict[str, Any]:
    return {**yaml.safe_load(COMMON), **yaml.safe_load(INTENTS)}


def lines(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def source_of(folder: Path) -> LanguageSource:
    return LanguageSource(LanguageFolder(folder.name, folder))


def converted(source: Path, dest: Path, *more: str) -> Path:
    assert main(["convert", "from-hassil", str(source), str(dest), *more]) == 0
    return dest / "en"


def test_sentences_become_lines_of_their_intent(source: Path, tmp_path: Path) -> None:
    folder = converted(source, tmp_path / "locale")
    assert lines(folder / "set_light.intent") == [
        "turn <all> lights {colour}",
        "[<maybe>] lamp (on in <the> {area}|in <the> {area} on)",
        "set {area} to {number:level}[ percent]",
        "(kitchen|(living room|livingroom)) {beside_area:colour}",
        "<fancy> {area} [<fancy>]",
        "turn {shade} on",
        "[<greeting>]you {area}",
    ]
    assert lines(folder / "silent.intent") == ["say {text}", "take {number:count} of {unknown}"]


def test_lists_and_rules_become_entities_and_vocabularies(source: Path, tmp_path: Path) -> None:
    folder = converted(source, tmp_path / "locale")
    assert lines(folder / "area.entity") == ["kitchen", "(living room|livingroom)"]
    assert lines(folder / "colour.entity") == ["<colours>"]
    assert lines(folder / "colours.voc") == ["(red|crimson)", "blue"]
    assert lines(folder / "shade.entity") == ["<shade_set_light_2>"]
    assert lines(folder / "the.voc") == ["the", "my"]
    assert lines(folder / "all.voc") == ["all [of <the>]"]
    assert lines(folder / "fancy.voc") == ["fancy", "posh"]
    assert lines(folder / "skip_words.voc") == ["please", "i would like", "[or] else", "maybe"]
    assert not (folder / "in_area.voc").exists(), "a rule with a slot is no vocabulary"


def test_plain_responses_become_dialogs(source: Path, tmp_path: Path) -> None:
    folder = converted(source, tmp_path / "locale")
    assert lines(folder / "set_light.dialog") == ["Set {area}."]
    assert lines(folder / "error_no_area.dialog") == ["No area called {area}"]
    assert not (folder / "set_light_logic.dialog").exists()


def test_a_locale_folder_that_was_imported_is_well_formed(source: Path, tmp_path: Path) -> None:
    converted(source, tmp_path / "locale")
    language = Locale(tmp_path / "locale").language("en")
    language.check()
    assert "crimson" in language.samples(Role.ENTITY, "colour")


def test_there_and_back_again_gives_what_it_was(source: Path, tmp_path: Path) -> None:
    folder = converted(source, tmp_path / "locale")
    assert to_hassil(source_of(folder), ConversionReport("en")) == merged()
    assert main(["convert", "to-hassil", str(tmp_path / "locale"), str(tmp_path / "back")]) == 0
    again: dict[str, Any] = {"intents": {}}
    for path in sorted((tmp_path / "back" / "en").glob("*.yaml")):
        data = yaml.safe_load(path.read_text())
        again["intents"] |= data.pop("intents")
        again |= data
    assert again == merged()


def test_what_was_edited_meanwhile_is_exported_as_it_stands(source: Path, tmp_path: Path) -> None:
    folder = converted(source, tmp_path / "locale")
    intent = folder / "set_light.intent"
    text = intent.read_text().replace("set {area} to", "put {area} at").replace("turn <all> lights {colour}\n", "")
    intent.write_text(f"{text}paint {{area}} {{number:level}} times {{wish}}\n")
    (folder / "the.voc").write_text("the\nthat\n")
    (folder / "colours.voc").write_text("(red|crimson)\n(grey|gray)\n")
    (folder / "set_light.dialog").write_text("{area} is set.\nDone with {area}.\n")
    (folder / "skip_words.voc").write_text("please\nkindly\n")
    (folder / "fancy.voc").write_text("grand\n")
    report = ConversionReport("en")
    data = to_hassil(source_of(folder), report)
    first, second, fresh = data["intents"]["SetLight"]["data"]
    assert "Turn <all> lights {colours:colour}" not in first["sentences"]
    assert "set {area} to {bright:level}[%| percent]" not in first["sentences"]
    assert "<maybe> lamp (on;<in_area>)" in first["sentences"], "it was not touched"
    assert second == merged()["intents"]["SetLight"]["data"][1]
    assert fresh == {
        "sentences": ["put {area} at {bright:level}[ percent]", "paint {area} {bright:level} times {wish}"]
    }
    assert data["expansion_rules"]["the"] == "(the|that)"
    assert data["lists"]["colours"]["values"] == [
        {"in": "(red|crimson)", "out": "#f00", "context": {"warm": True}},
        {"in": "%", "out": "nothing"},
        {"in": "(grey|gray)", "out": "(grey|gray)"},
    ]
    assert data["lists"]["wish"] == {"wildcard": True}
    assert data["responses"]["intents"]["SetLight"]["default"] == "{{ slots.area }} is set."
    assert data["skip_words"] == ["please", "kindly"]
    assert [finding.text for finding in report.findings if finding.verdict is Verdict.LOST] == [
        "fancy",
        "Done with {area}.",
    ]


def test_everything_that_cannot_be_said_is_reported_with_its_place(source: Path, tmp_path: Path) -> None:
    converted(source, tmp_path / "locale", "--report", str(tmp_path / "report.json"))
    (report,) = json.loads((tmp_path / "report.json").read_text())
    refused = {(one["text"], one["reason"], one["line"]) for one in report["findings"] if one["verdict"] == "refused"}
    assert refused == {
        ("{area} and {area} too", "a slot appears twice", 10),
        ("(broken", "a bracket is never closed", 11),
        ("<nowhere> x", "the rule <nowhere> is not defined", 12),
        ("<itself>", "the rule <itself> refers to itself", 13),
        ("<itself> again", "the rule <itself> refers to itself", 18),
        ("%", "everything can be left out", 9),
    }
    assert {one["file"].rpartition("/")[2] for one in report["findings"] if one["line"] > 9} >= {"lights.yaml"}
    kept = {one["reason"] for one in report["findings"] if one["verdict"] == "kept"}
    assert kept == {
        "slots with a fixed value are not filled in",
        "a required context is not checked",
        "an excluded context is not checked",
        "its response is not selected",
        "metadata are not passed on",
        "the bounds of a range are not checked",
        "values stand for something else than their text",
        "values carry context",
        "values carry metadata",
        "a response does more than fill in slots",
        "settings have no equivalent",
    }
    assert report["verdicts"]["lost"] == 0
    assert report["counts"]["sentences"] == 13
    assert report["expansions"]["silent"] == 2


def test_a_locale_folder_of_our_own_comes_back_as_it_was(tmp_path: Path) -> None:
    files = {
        "play.intent": "play {query} [on {engine}]\n(start|begin) <thing>\nwait {number:minutes} minutes\n",
        "engine.entity": "spotify\n[my] radio\n",
        "thing.voc": "music\n(a|the) song\n",
        "play.dialog": "Playing {query}.\n",
        "play_later.dialog": "Later.\n",
    }
    write(tmp_path / "one" / "en", files, force=False)
    report = ConversionReport("en")
    data = to_hassil(source_of(tmp_path / "one" / "en"), report)
    assert data["lists"]["minutes"] == {"range": {"from": 0, "to": 1000}}
    back = from_hassil("en", data, 5_000).files
    assert {name: lines_of(text) for name, text in back.items() if name != "hassil.json"} == {
        name: lines_of(text) for name, text in files.items()
    }


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_what_hassil_cannot_say_is_lost_and_told(tmp_path: Path) -> None:
    files = {
        "play.intent": "play {date:when} song\n",
        "play.blacklist": "trailer\n",
        "play.required": "play\n",
        "ask.prompt": "Be {{brief}}.\n",
        "other.dialog": "Hm.\n",
        "play.dialog": "(Fine|Good).\n",
        "odd.voc": "(a\n",
        "odd.intent": "{a\nfine\n",
        "odd.entity": "b)\nc\n",
    }
    write(tmp_path / "en", files, force=False)
    report = ConversionReport("en")
    data = to_hassil(source_of(tmp_path / "en"), report)
    assert data["intents"]["odd"] == {"data": [{"sentences": ["fine"]}]}
    assert data["lists"]["odd"] == {"values": ["c"]}
    lost = {finding.text for finding in report.findings if finding.verdict is Verdict.LOST}
    assert lost == {
        "{date:when}", "play.blacklist", "play.required", "ask.prompt", "other", "(Fine|Good).", "(a", "{a", "b)",
    }  # fmt: skip


def test_nothing_is_overwritten_without_force(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = converted(source, tmp_path / "locale")
    (folder / "the.voc").write_text("mine\n")
    assert main(["convert", "from-hassil", str(source), str(tmp_path / "locale")]) == 2
    assert "--force" in capsys.readouterr().err
    assert lines(folder / "the.voc") == ["mine"]
    converted(source, tmp_path / "locale", "--force")
    assert lines(folder / "the.voc") == ["the", "my"]


def test_strict_tells_by_its_exit_status_that_something_could_not_be_said(source: Path, tmp_path: Path) -> None:
    assert main(["convert", "from-hassil", str(source), str(tmp_path / "locale"), "--strict"]) == 1
    assert main(["convert", "to-hassil", str(tmp_path / "locale"), str(tmp_path / "back"), "--strict"]) == 0


@pytest.mark.parametrize(
    ("files", "arguments", "told"),
    [
        ({}, ["from-hassil", "{source}", "{dest}"], "contains no YAML"),
        ({"a.yaml": "language: en\nintents: ]"}, ["from-hassil", "{source}", "{dest}"], "a.yaml:2"),
        ({"a.json": "{"}, ["from-hassil", "{source}", "{dest}"], "a.json:1"),
        ({"a.yaml": "intents: {}"}, ["from-hassil", "{source}", "{dest}"], "states no language"),
        ({"a.yaml": "language: '../x'"}, ["from-hassil", "{source}", "{dest}"], "not a language tag"),
        ({"a.yaml": "language: de"}, ["from-hassil", "{source}", "{dest}", "--lang", "en"], "no sentences in en"),
        ({"a.yaml": "language: de\nlists: {}", "b.yaml": "language: de\nlists: []"},
         ["from-hassil", "{source}", "{dest}"], "a list here and a dict elsewhere"),
        ({"a.yaml": "language: de"}, ["from-hassil", "{dest}"], "either the folder"),
        ({"a.yaml": "language: de"}, ["from-hassil", "--package", "{source}", "{dest}"], "either the folder"),
        ({"a.yaml": "language: de"}, ["from-hassil", "{source}", "{dest}", "--max-sentences", "0"], "above 0"),
        ({}, ["from-hassil", "--package", "--lang", "tlh", "{dest}"], "has no tlh"),
        ({}, ["to-hassil", "{source}/none", "{dest}"], "not a folder"),
        ({}, ["to-hassil", "{source}", "{dest}"], "no folder for any language"),
        ({"en/hassil.json": "{"}, ["to-hassil", "{source}", "{dest}"], "cannot be read"),
        ({"en/hassil.json": "{}"}, ["to-hassil", "{source}", "{dest}"], "not of format"),
        ({"en/a.voc": "x", "en/b/a.voc": "y"}, ["to-hassil", "{source}", "{dest}"], "a.voc has the same name"),
    ],
)  # fmt: skip
def test_mistakes_are_told_and_nothing_is_written(
    files: dict[str, str], arguments: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, dest = tmp_path / "source", tmp_path / "dest"
    source.mkdir()
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    filled = [argument.format(source=source, dest=dest) for argument in arguments]
    assert main(["convert", *filled]) == 2
    assert told in capsys.readouterr().err
    assert not dest.exists()


def test_a_missing_package_is_told_with_the_extra(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert main(["convert", "from-hassil", str(source), str(tmp_path / "locale")]) == 2
    assert "pip install 'hark-voice[hassil]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "data",
    [
        {"intents": {"A": {}}},
        {"intents": {"A": {"data": ["x"]}}},
        {"intents": {"A": {"data": [{"sentences": [True]}]}}},
        {"lists": {"a": 3}},
        {"lists": {"a": {"values": [True, {"in": "{b}"}, {"out": 1}]}}},
        {"expansion_rules": {"a": 3}},
        {"skip_words": ["(", "%"]},
        {"responses": {"intents": {"A": {"default": 3}, "B": 4}}},
    ],
)
def test_data_of_a_wrong_kind_are_told_and_never_raise(data: dict[str, Any], tmp_path: Path) -> None:
    found = from_hassil("en", {"language": "en", **data}, 5_000)
    assert found.report.findings
    write(tmp_path / "en", found.files, force=False)
    to_hassil(source_of(tmp_path / "en"), ConversionReport("en"))


def test_the_english_sentences_of_home_assistant_come_back_as_they_were(tmp_path: Path) -> None:
    assert main(["convert", "from-hassil", "--package", "--lang", "en", str(tmp_path)]) == 0
    Locale(tmp_path).language("en").check()
    assert to_hassil(source_of(tmp_path / "en"), ConversionReport("en")) == home_assistant_intents.get_intents("en")


# Which folders and files are read: as by the loader and by lint.


def exported(folder: Path, dest: Path) -> dict[str, dict[str, Any]]:
    """What is exported, by language."""
    assert main(["convert", "to-hassil", str(folder), str(dest)]) == 0
    return {
        path.name: yaml.safe_load((path / "go.yaml").read_text())["intents"]["go"]["data"] for path in dest.iterdir()
    }


def test_a_folder_set_aside_is_not_exported(tmp_path: Path) -> None:
    write(tmp_path / "locale" / "en-US", {"go.intent": "go home\n"}, force=False)
    write(tmp_path / "locale" / "_drafts", {"go.intent": "walk home\n"}, force=False)
    assert exported(tmp_path / "locale", tmp_path / "out") == {"en-US": [{"sentences": ["go home"]}]}


def test_names_of_folders_within_a_language_mean_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "locale" / "en-US" / "__old", {"go.intent": "go home\n"}, force=False)
    assert exported(tmp_path / "locale", tmp_path / "out") == {"en-US": [{"sentences": ["go home"]}]}
    write(tmp_path / "locale" / "en-US", {"go.intent": "walk home\n"}, force=False)
    assert main(["convert", "to-hassil", str(tmp_path / "locale"), str(tmp_path / "again")]) == 2
    assert "has the same name" in capsys.readouterr().err


def test_a_package_is_not_taken_for_its_locale_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "src" / "light" / "locale" / "en", {"go.intent": "go home\n"}, force=False)
    assert main(["convert", "to-hassil", str(tmp_path), str(tmp_path / "out")]) == 2
    assert f"contains one: {tmp_path / 'src/light/locale'}" in capsys.readouterr().err


def test_a_folder_that_is_no_language_stops_the_export_of_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "locale" / "en", {"go.intent": "go home\n"}, force=False)
    write(tmp_path / "locale" / "english", {"go.intent": "go home\n"}, force=False)
    arguments = ["convert", "to-hassil", str(tmp_path / "locale"), str(tmp_path / "out")]
    assert main(arguments) == 2
    assert "english" in capsys.readouterr().err
    assert main([*arguments, "--lang", "en"]) == 0


def test_signs_that_mean_something_to_hassil_only_are_escaped(tmp_path: Path) -> None:
    write(tmp_path / "locale" / "en", {"go.intent": "go; then stop\n"}, force=False)
    [block] = exported(tmp_path / "locale", tmp_path / "out")["en"]
    assert block["sentences"] == [r"go\; then stop"]
    back = converted(tmp_path / "out", tmp_path / "back")
    assert lines(back / "go.intent") == ["go then stop"]


def test_what_is_no_template_of_ours_is_not_exported(tmp_path: Path) -> None:
    write(tmp_path / "en", {"go.intent": "go (home\n", "place.entity": "[x]\n", "way.voc": "<Way>\n"}, force=False)
    report = ConversionReport("en")
    to_hassil(source_of(tmp_path / "en"), report)
    assert {(finding.verdict, finding.text) for finding in report.findings} >= {
        (Verdict.LOST, "go (home"),
        (Verdict.LOST, "[x]"),
        (Verdict.LOST, "<Way>"),
    }


BOMB = "language: en\nintents: {}\na0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOMB, "expand to"),
        ("language: en\nintents: &a {A: *a}\n", "contains itself"),
        ("language: en\nintents: " + "[" * 5_000 + "]" * 5_000, "nested too deep"),
    ],
)
def test_a_file_that_would_take_all_memory_is_refused_by_name(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bomb.yaml").write_text(text)
    assert main(["convert", "from-hassil", str(tmp_path / "bomb.yaml"), str(tmp_path / "locale")]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert "bomb.yaml" in said
    assert not (tmp_path / "locale").exists()
