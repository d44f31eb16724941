"""The default session on disk."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from hark.app.state.session_file import SessionFile
from hark.model import Handler, Session

SESSION = Session(lang="de-DE", active_handlers=[Handler("clock.skill", 7)], favourite={"colour": ["blue"]})


def test_a_session_comes_back_as_it_was_written(tmp_path: Path) -> None:
    SessionFile(tmp_path).write(SESSION)
    assert SessionFile(tmp_path).restore() == SESSION
    assert json.loads((tmp_path / "session.json").read_bytes())["active_handlers"] == [
        {"skill_id": "clock.skill", "activated_at": 7}
    ]


def test_the_file_is_for_its_owner_alone_and_nothing_else_is_left(tmp_path: Path) -> None:
    file = SessionFile(tmp_path)
    file.write(SESSION)
    file.sync()
    assert [path.name for path in tmp_path.iterdir()] == ["session.json"]
    assert file.path.stat().st_mode & 0o777 == 0o600


def test_without_a_file_there_is_no_session(tmp_path: Path) -> None:
    assert SessionFile(tmp_path).restore() is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b'{"lang": "de', b"[]", b'"text"', b"\xff\xfe", b'{"session_id": "other"}', b"[" * 100_000],
    ids=["empty", "cut", "cut later", "list", "text", "no UTF-8", "other session", "deep"],
)
def test_a_file_that_cannot_be_used_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture, text: bytes) -> None:
    file = SessionFile(tmp_path)
    file.path.write_bytes(text)
    with caplog.at_level(logging.WARNING):
        assert file.restore() is None
    assert (tmp_path / "session.json.broken").read_bytes() == text
    assert not file.path.exists()
    assert f"{file.path} cannot be used" in caplog.text
    assert f"it is kept as {tmp_path / 'session.json.broken'}" in caplog.text


def test_a_field_that_is_wrong_does_not_cost_the_others(tmp_path: Path) -> None:
    file = SessionFile(tmp_path)
    file.path.write_text('{"lang": "de-DE", "active_handlers": "nobody"}')
    restored = file.restore()
    assert restored is not None
    assert restored.lang == "de-DE"
    assert restored.active_handlers == ()


def test_even_something_that_cannot_be_set_aside_does_not_stop_the_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "session.json").mkdir()
    (tmp_path / "session.json.broken" / "full").mkdir(parents=True)
    assert SessionFile(tmp_path).restore() is None
    assert "it could not be set aside" in caplog.text


def test_a_session_of_too_many_bytes_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "session.json").write_text(json.dumps({"unheard_of": "x" * 70_000}))
    assert SessionFile(tmp_path).restore() is None
    assert (tmp_path / "session.json.broken").exists()
    assert "more than 65536 bytes" in caplog.text
