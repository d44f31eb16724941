"""What skills keep on disk."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from hark.builtin.skills.storage import StoredValue


class Disk:
    """As much of a host as it takes."""

    log = logging.getLogger("test.kept")

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @property
    def data_dir(self) -> Path:
        if self._folder is None:
            raise RuntimeError("nothing is kept on disk")
        return self._folder


def kept(folder: Path | None) -> StoredValue[list[str]]:
    host: Any = Disk(folder)
    return StoredValue(host, "list.json", list[str], [])


def test_what_was_written_is_there_after_a_restart(tmp_path: Path) -> None:
    kept(tmp_path).write(["milk", "Käse"])
    assert kept(tmp_path).read() == ["milk", "Käse"]
    assert "Käse" in (tmp_path / "list.json").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["list.json"]


def test_without_a_file_it_is_empty(tmp_path: Path) -> None:
    assert kept(tmp_path).read() == []
    assert list(tmp_path.iterdir()) == []


def test_without_a_disk_it_lives_as_long_as_the_process() -> None:
    memory = kept(None)
    memory.write(["milk"])
    assert memory.read() == ["milk"]
    assert kept(None).read() == []


@pytest.mark.parametrize("content", [b"", b"[", b'{"milk": 1}', b"[1, 2]", b"\xff\xfe", b'"milk"'])
def test_a_file_that_cannot_be_read_is_renamed_and_logged(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "list.json").write_bytes(content)
    assert kept(tmp_path).read() == []
    assert (tmp_path / "list.json.broken").read_bytes() == content
    assert "renamed to list.json.broken" in caplog.text


def test_what_could_not_be_written_is_not_there(tmp_path: Path) -> None:
    store = kept(tmp_path)
    store.write(["milk"])
    (tmp_path / "list.json.new").mkdir()
    with pytest.raises(OSError, match=r"list\.json\.new"):
        store.write(["eggs"])
    assert store.read() == ["milk"]
    assert kept(tmp_path).read() == ["milk"]
