"""Detecting that files have changed."""

from __future__ import annotations

import os
from pathlib import Path

from hark.app.reload.watch import GONE, SETTLED, ChangeDetector, stamps_of


def scans(detector: ChangeDetector, place: Path, times: int) -> list[bool]:
    return [detector.update(stamps_of([place])) for _ in range(times)]


def test_a_change_counts_once_when_it_has_settled(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("1")
    detector = ChangeDetector(stamps_of([file]))
    assert scans(detector, file, 3) == [False] * 3
    file.write_text("22")
    assert scans(detector, file, SETTLED + 3) == [False] * (SETTLED - 1) + [True] + [False] * 3


def test_a_file_that_is_still_being_written_has_not_settled(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("")
    detector = ChangeDetector(stamps_of([file]))
    for length in range(1, 10):
        file.write_text("x" * length)
        assert scans(detector, file, 1) == [False]
        assert detector.is_unsettled
    assert scans(detector, file, SETTLED - 1)[-1]
    assert not detector.is_unsettled


def test_a_missing_file_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("1")
    detector = ChangeDetector(stamps_of([file]))
    file.unlink()
    assert scans(detector, file, GONE - 1) == [False] * (GONE - 1)
    assert scans(detector, file, 1) == [True]


def test_a_change_that_was_undone_does_not_count(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("1")
    before = file.stat()
    detector = ChangeDetector(stamps_of([file]))
    file.write_text("22")
    scans(detector, file, 1)
    file.write_text("1")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert scans(detector, file, 5) == [False] * 5


def test_another_file_in_its_place_is_a_change_though_it_looks_the_same(tmp_path: Path) -> None:
    file, other = tmp_path / "a.py", tmp_path / "b.py"
    file.write_text("1")
    other.write_text("2")
    os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    detector = ChangeDetector(stamps_of([file]))
    other.rename(file)
    assert scans(detector, file, SETTLED)[-1]


def test_a_folder_is_all_that_is_in_it_but_what_editors_and_python_leave_there(tmp_path: Path) -> None:
    for name in ("a.py", "sub/b.dialog", "__pycache__/a.pyc", ".a.py.swp", "a.py~", ".git/config"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    found = [Path(name).relative_to(tmp_path).as_posix() for name in stamps_of([tmp_path, tmp_path / "missing"])]
    assert found == ["a.py", "sub/b.dialog"]
