"""Noticing that files have changed."""

from __future__ import annotations

import os
from pathlib import Path

from hark.app.reload.watch import GONE, SETTLED, ChangeDetector, stamps_of


def looks(watched: ChangeDetector, place: Path, times: int) -> list[bool]:
    return [watched.look(stamps_of([place])) for _ in range(times)]


def test_a_change_counts_once_when_it_is_at_rest(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("1")
    watched = ChangeDetector(stamps_of([file]))
    assert looks(watched, file, 3) == [False] * 3
    file.write_text("22")
    assert looks(watched, file, SETTLED + 3) == [False] * (SETTLED - 1) + [True] + [False] * 3


def test_a_file_that_is_still_being_written_is_not_at_rest(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("")
    watched = ChangeDetector(stamps_of([file]))
    for length in range(1, 10):
        file.write_text("x" * length)
        assert looks(watched, file, 1) == [False]
        assert watched.restless
    assert looks(watched, file, SETTLED - 1)[-1]
    assert not watched.restless


def test_a_missing_file_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("1")
    watched = ChangeDetector(stamps_of([file]))
    file.unlink()
    assert looks(watched, file, GONE - 1) == [False] * (GONE - 1)
    assert looks(watched, file, 1) == [True]


def test_a_change_that_was_taken_back_does_not_count(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("1")
    before = file.stat()
    watched = ChangeDetector(stamps_of([file]))
    file.write_text("22")
    looks(watched, file, 1)
    file.write_text("1")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert looks(watched, file, 5) == [False] * 5


def test_another_file_in_its_place_is_a_change_though_it_looks_the_same(tmp_path: Path) -> None:
    file, other = tmp_path / "a.py", tmp_path / "b.py"
    file.write_text("1")
    other.write_text("2")
    os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    watched = ChangeDetector(stamps_of([file]))
    other.rename(file)
    assert looks(watched, file, SETTLED)[-1]


def test_a_folder_is_all_that_is_in_it_but_what_editors_and_python_leave_there(tmp_path: Path) -> None:
    for name in ("a.py", "sub/b.dialog", "__pycache__/a.pyc", ".a.py.swp", "a.py~", ".git/config"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    found = [Path(name).relative_to(tmp_path).as_posix() for name in stamps_of([tmp_path, tmp_path / "missing"])]
    assert found == ["a.py", "sub/b.dialog"]
