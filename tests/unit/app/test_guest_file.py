"""Who is connected to a bus, on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from hark.app.state.guest_file import GuestFile


def test_who_was_written_is_read_by_the_next_and_each_port_has_its_own(tmp_path: Path) -> None:
    directory = tmp_path / "not" / "there"
    book = GuestFile(directory, 8181)
    assert book.read() == frozenset()
    book.write({"b", "a"})
    assert GuestFile(directory, 8181).read() == {"a", "b"}
    assert GuestFile(directory, 8182).read() == frozenset()
    assert (directory / "bus-8181.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b'["a"'])
def test_a_file_that_makes_no_sense_has_nobody_in_it(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "bus-1.json").write_bytes(content)
    assert GuestFile(tmp_path, 1).read() == frozenset()
    assert "bus-1.json" in caplog.text


def test_a_place_that_cannot_be_written_is_told_of_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    book = GuestFile(tmp_path / "file", 1)
    book.write(["a"])
    book.write(["b"])
    assert caplog.text.count("cannot be noted") == 1
