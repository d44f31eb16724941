"""Searching a locale folder: which files and folders are found, which break a rule, and which are never read."""

from __future__ import annotations

from pathlib import Path

import pytest
from locale_folder import write

from hark.intents.locale import Folder, Locale, MalformedResource, Role, Rule, scan


def found(folder: Path) -> dict[str, list[str]]:
    return {tag: sorted(map(str, one.files)) for tag, one in scan(folder).languages.items()}


def test_a_folder_set_aside_with_an_underscore_is_no_language_and_is_reported_as_unread(tmp_path: Path) -> None:
    write(tmp_path, {"_drafts/Bad Name.intent": "(", "_drafts/deep/a.voc": "a", "_notes/x.md": "", "en-US/a.voc": "a"})
    assert found(tmp_path) == {"en-US": ["a.voc"]}
    assert scan(tmp_path).unread == (tmp_path / "_drafts",)
    assert scan(tmp_path).violations == ()
    assert Locale(tmp_path).languages == ("en-US",)


def test_names_of_subfolders_mean_nothing_even_with_underscores(tmp_path: Path) -> None:
    write(tmp_path, {"en-US/__old/a.voc": "old", "en-US/_b/b.voc": "b", "en-US/c/d/c.voc": "c"})
    assert found(tmp_path) == {"en-US": ["a.voc", "b.voc", "c.voc"]}
    assert Locale(tmp_path).language("en-US").samples(Role.VOCABULARY, "a") == ("old",)


def test_a_file_in_an_old_folder_beside_its_successor_is_there_twice(tmp_path: Path) -> None:
    write(tmp_path, {"en-US/__old/a.voc": "old", "en-US/a.voc": "new"})
    [violation] = scan(tmp_path).languages["en-US"].violations
    assert (violation.rule, violation.path) == (Rule.FILE_TWICE, tmp_path / "en-US/__old/a.voc")
    assert "a.voc has the same name" in violation.reason
    with pytest.raises(MalformedResource, match="same name"):
        Folder(tmp_path)


def test_files_that_differ_by_case_are_the_same_file(tmp_path: Path) -> None:
    write(tmp_path, {"en-US/x/play.intent": "a", "en-US/y/Play.intent": "b"})
    [violation] = scan(tmp_path).languages["en-US"].violations
    assert violation.rule is Rule.FILE_TWICE
    assert "but for its case" in violation.reason


def test_a_file_with_a_wrong_name_is_left_out_and_the_others_are_found(tmp_path: Path) -> None:
    write(tmp_path, {"en-US/Bad-Name.voc": "a", "en-US/good.voc": "a"})
    assert found(tmp_path) == {"en-US": ["good.voc"]}
    assert [one.rule for one in scan(tmp_path).languages["en-US"].violations] == [Rule.FILE_NAME]


@pytest.mark.parametrize("name", ["en_US", "english", "x"])
def test_a_folder_with_resource_files_is_named_by_a_language_tag(tmp_path: Path, name: str) -> None:
    write(tmp_path, {f"{name}/deep/a.voc": "a", "de-DE/a.voc": "a"})
    assert found(tmp_path) == {"de-DE": ["a.voc"]}
    assert [(one.rule, one.path) for one in scan(tmp_path).violations] == [(Rule.LANGUAGE_NAME, tmp_path / name)]
    with pytest.raises(MalformedResource, match=f"'{name}' is no language tag"):
        Folder(tmp_path)


def test_two_folders_of_one_language_break_a_rule_and_the_first_is_taken(tmp_path: Path) -> None:
    write(tmp_path, {"en-US/a.voc": "a", "en-us/b.voc": "b"})
    assert found(tmp_path) == {"en-US": ["a.voc"]}
    assert [(one.rule, one.path) for one in scan(tmp_path).violations] == [(Rule.LANGUAGE_TWICE, tmp_path / "en-us")]


def test_a_resource_file_outside_of_every_language_is_unread(tmp_path: Path) -> None:
    write(tmp_path, {"loose.voc": "a", "README.md": "", "en-US/a.voc": "a"})
    assert scan(tmp_path).unread == (tmp_path / "loose.voc",)


def test_files_without_a_role_are_listed_apart_and_hidden_ones_are_not(tmp_path: Path) -> None:
    write(tmp_path, {"en-US/sub/notes.rx": "", "en-US/.a.voc.swp": "", "en-US/.git/a.voc": "", ".git/a.voc": ""})
    language = scan(tmp_path).languages["en-US"]
    assert (dict(language.files), language.others) == ({}, (tmp_path / "en-US/sub/notes.rx",))
    assert scan(tmp_path).unread == ()


def test_a_folder_that_cannot_be_listed_is_malformed(tmp_path: Path) -> None:
    write(tmp_path, {"locale": "a file"})
    with pytest.raises(MalformedResource, match="the folder cannot be read: Not a directory"):
        scan(tmp_path / "locale")


def test_a_language_is_searched_late_if_that_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, {"en-US/a.voc": "a", "de-DE/Bad.voc": "a"})
    folder = Folder(tmp_path, late=True)
    assert [str(resource) for resource in folder.files("en-US")] == ["a.voc"]
    with pytest.raises(MalformedResource, match="lower-case"):
        folder.files("de-DE")
