"""Notes of open turns: what a killed process leaves to the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hark.app.state import turns_file
from hark.app.state.session_file import SessionFile
from hark.app.state.turns_file import TurnsFile, settle_session
from hark.model import Message, Session, decode


def entry(utterance_id: str, text: str = "hello") -> Message:
    return Message("ovos.utterance.handle", {"utterances": [text]}, {"utterance_id": utterance_id}, Session("x"))


def test_the_next_process_finds_what_was_open_each_by_the_last_that_is_known_of_it(tmp_path: Path) -> None:
    notes = TurnsFile(tmp_path)
    for name in ("a", "b", "c"):
        notes.opened(entry(name))
    notes.dispatched(Message("clock.skill:time", {}, {"utterance_id": "b"}, Session("x")))
    notes.ended("a")
    left = TurnsFile(tmp_path).lost
    assert [(message.utterance_id, message.type) for message in left] == [
        ("b", "clock.skill:time"),
        ("c", "ovos.utterance.handle"),
    ]
    assert left[1].session == Session("x")


def test_turns_are_left_to_one_process_only(tmp_path: Path) -> None:
    TurnsFile(tmp_path).opened(entry("a"))
    second = TurnsFile(tmp_path)
    assert len(second.lost) == 1
    second.opened(entry("b"))
    second.forget_lost()
    assert second.lost == []
    assert [message.utterance_id for message in TurnsFile(tmp_path).lost] == ["b"]


def test_half_a_line_is_no_turn(tmp_path: Path) -> None:
    notes = TurnsFile(tmp_path)
    notes.opened(entry("a"))
    notes.opened(entry("b"))
    path = tmp_path / "turns.log"
    path.write_bytes(path.read_bytes()[:-20])
    assert [message.utterance_id for message in TurnsFile(tmp_path).lost] == ["a"]


def test_a_message_that_came_over_several_lines_is_noted_in_one(tmp_path: Path) -> None:
    raw = b'{"type": "ovos.utterance.handle", "data": {\n"utterances": ["hi"]}, "context": {\n"utterance_id": "a"\n}}'
    TurnsFile(tmp_path).opened(decode(raw))
    (left,) = TurnsFile(tmp_path).lost
    assert (left.utterance_id, left.data["utterances"]) == ("a", ("hi",))


def test_the_file_does_not_grow_with_turns_that_ended(tmp_path: Path) -> None:
    notes = TurnsFile(tmp_path)
    for number in range(500):
        notes.opened(entry(str(number), "x" * 500))
        notes.ended(str(number))
    assert (tmp_path / "turns.log").stat().st_size < 2 * 65_536


def test_a_large_file_is_written_anew_with_what_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_file, "LARGE", 10_000)
    notes = TurnsFile(tmp_path)
    notes.opened(entry("long"))
    for number in range(100):
        notes.opened(entry(str(number), "x" * 500))
        notes.ended(str(number))
    assert (tmp_path / "turns.log").stat().st_size < 12_000
    assert [message.utterance_id for message in TurnsFile(tmp_path).lost] == ["long"]


def test_a_disk_that_refuses_is_no_reason_for_a_turn_to_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    notes = TurnsFile(tmp_path)

    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(turns_file.os, "write", refuse)
    notes.opened(entry("a"))
    notes.ended("a")
    assert "an open turn cannot be noted: disk full" in caplog.text


def test_what_was_lost_stays_noted_until_it_was_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_file, "SMALL", 200)
    monkeypatch.setattr(turns_file, "LARGE", 600)
    TurnsFile(tmp_path).opened(entry("a"))
    second = TurnsFile(tmp_path)
    for number in range(50):  # it is written anew now and then
        second.opened(entry(f"b{number}"))
        second.ended(f"b{number}")
    assert (tmp_path / "turns.log").stat().st_size < 1_000
    assert [message.utterance_id for message in TurnsFile(tmp_path).lost] == ["a"]
    second.ended("a")
    assert TurnsFile(tmp_path).lost == []


def test_a_life_that_ended_in_the_middle_of_a_line_does_not_spoil_the_next_one(tmp_path: Path) -> None:
    TurnsFile(tmp_path).opened(entry("a"))
    path = tmp_path / "turns.log"
    path.write_bytes(path.read_bytes()[:-20])
    TurnsFile(tmp_path).opened(entry("b"))
    assert [message.utterance_id for message in TurnsFile(tmp_path).lost] == ["b"]


def test_a_session_that_was_noted_is_newer_than_the_one_that_was_written(tmp_path: Path) -> None:
    sessions = SessionFile(tmp_path)
    sessions.write(Session(lang="en-US"))
    notes = TurnsFile(tmp_path)
    notes.opened(entry("a"))
    notes.session(Session(lang="fr-FR"))
    notes.session(Session(lang="de-DE"))
    settle_session(tmp_path, sessions)
    assert sessions.restore() == Session(lang="de-DE")
    assert [message.utterance_id for message in TurnsFile(tmp_path).lost] == ["a"], "turns are left as they were"
    sessions.write(Session(lang="es-ES"))
    settle_session(tmp_path, sessions)
    assert sessions.restore() == Session(lang="es-ES"), "a note counts once"


def test_half_a_note_leaves_the_one_before(tmp_path: Path) -> None:
    notes = TurnsFile(tmp_path)
    notes.session(Session(lang="fr-FR"))
    notes.session(Session(lang="de-DE"))
    path = tmp_path / "turns.log"
    path.write_bytes(path.read_bytes()[:-5])
    sessions = SessionFile(tmp_path)
    settle_session(tmp_path, sessions)
    assert sessions.restore() == Session(lang="fr-FR")


def test_a_session_is_still_noted_when_the_file_was_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns_file, "SMALL", 100)
    notes = TurnsFile(tmp_path)
    notes.session(Session(lang="de-DE"))
    notes.opened(entry("a", "x" * 500))
    notes.ended("a")
    assert (tmp_path / "turns.log").stat().st_size < 200
    sessions = SessionFile(tmp_path)
    settle_session(tmp_path, sessions)
    assert sessions.restore() == Session(lang="de-DE")


def test_a_note_that_is_no_session_is_told_and_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "turns.log").write_bytes(b'={"session_id": "kitchen"}\n')
    sessions = SessionFile(tmp_path)
    settle_session(tmp_path, sessions)
    assert sessions.restore() is None
    assert "cannot be used: it holds the session 'kitchen'" in caplog.text
