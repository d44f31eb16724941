"""Reading the files of a locale folder: nothing but names, lines and bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from locale_folder import write

from hark.intents.locale import Folder, Line, MalformedResource, Resource, Role, read_lines, resource_of, role_of


def test_a_line_knows_where_it_stands(tmp_path: Path) -> None:
    write(tmp_path, {"a.voc": "# first\n\n   yes\t\n\tno way  \r\n"})
    assert read_lines(tmp_path / "a.voc") == [Line(3, 4, "yes"), Line(4, 2, "no way")]


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    write(tmp_path, {"a.voc": "one\u2028two\x0bthree\x0cfour\x85five\x1csix\rseven\n"})
    assert [line.number for line in read_lines(tmp_path / "a.voc")] == [1]


def test_a_byte_order_mark_counts_for_no_column(tmp_path: Path) -> None:
    write(tmp_path, {"a.voc": "\ufeffyes"})
    assert read_lines(tmp_path / "a.voc") == [Line(1, 1, "yes")]


def test_what_is_no_utf_8_is_named_with_line_and_column(tmp_path: Path) -> None:
    write(tmp_path, {"a.voc": b"\xef\xbb\xbfyes\nol\xc3\xa1 caf\xe9\n"})
    with pytest.raises(MalformedResource, match=r"a\.voc:2:8: the byte 0xe9 is no UTF-8") as caught:
        read_lines(tmp_path / "a.voc")
    assert (caught.value.line, caught.value.column) == (2, 8)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.voc").mkdir()
    with pytest.raises(MalformedResource, match=r"a\.voc: the file cannot be read: Is a directory"):
        read_lines(tmp_path / "a.voc")


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("a.intent", Role.INTENT),
        ("a.VOC", Role.VOCABULARY),
        ("a.rx", None),
        ("a", None),
        (".a.voc", None),
        (".#a.voc", None),
        ("a.voc~", None),
        ("a.voc.swp", None),
    ],
)
def test_the_extension_is_the_role(name: str, role: Role | None) -> None:
    assert role_of(name) is role


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a.VOC", "written .voc"),
        ("Bad.voc", "lower-case"),
        ("a-b.voc", "lower-case"),
        ("a b.voc", "lower-case"),
        ("ä.voc", "lower-case"),
        ("a.b.voc", "lower-case"),
        ("2bad.entity", "begin with a digit"),
    ],
)
def test_a_name_against_the_rules_is_refused(name: str, told: str) -> None:
    with pytest.raises(MalformedResource, match=told):
        resource_of(Path("locale/en-US", name))


def test_a_name_within_the_rules_is_what_a_file_is_known_by() -> None:
    assert resource_of(Path("en-US/deep/2nd_try.voc")) == Resource(Role.VOCABULARY, "2nd_try")
    assert resource_of(Path("en-US/hassil.json")) is None


def test_what_tools_leave_in_a_folder_is_no_language(tmp_path: Path) -> None:
    write(tmp_path, {".git/x.voc": "a", "__pycache__/x.voc": "a", "en-US/.git/Bad.voc": "a", "README.md": "a"})
    folder = Folder(tmp_path)
    assert list(folder.languages) == ["en-US"]
    assert folder.files("en-US") == {}


def test_a_folder_that_is_no_language_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"en_US/x.voc": "a"})
    with pytest.raises(MalformedResource, match="'en_US' is no language tag such as 'en-US'"):
        Folder(tmp_path)


def test_translations_of_another_kind_are_none_of_ours(tmp_path: Path) -> None:
    write(tmp_path, {"en_US/LC_MESSAGES/app.po": "", "de/LC_MESSAGES/app.mo": b"\xff", "de/x.voc": "ja"})
    folder = Folder(tmp_path)
    assert {tag: [str(resource) for resource in folder.files(tag)] for tag in folder.languages} == {"de": ["x.voc"]}


def test_a_language_there_are_two_folders_for_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"en-us/x.voc": "a", "en-US/y.voc": "a"})
    with pytest.raises(MalformedResource, match="same language"):
        Folder(tmp_path)


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert dict(Folder(tmp_path / "nowhere").languages) == {}
