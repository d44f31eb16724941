"""The state directory: private, and one assistant's at a time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hark.app.paths import NoHomeDirectory, settings_file, state_directory
from hark.app.state.directory import Lock, Locked, StateError, make_directory
from hark.app.state.store import State
from hark.model import Session, SystemClock


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_directory_is_for_its_owner_alone(tmp_path: Path) -> None:
    make_directory(tmp_path / "deep" / "state")
    assert mode(tmp_path / "deep" / "state") == 0o700


def test_an_existing_directory_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_directory(tmp_path)
    assert mode(tmp_path) == 0o755


@pytest.mark.parametrize("writable", [0o720, 0o702, 0o777], ids=["group", "others", "everyone"])
def test_a_directory_others_can_write_to_is_refused(tmp_path: Path, writable: int) -> None:
    tmp_path.chmod(writable)
    with pytest.raises(StateError, match=f"can be written to by others; chmod go-w {tmp_path}"):
        make_directory(tmp_path)


def test_a_place_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StateError, match="choose another with --state"):
        make_directory(tmp_path / "file" / "state")


def test_a_lock_that_is_held_says_who_holds_it(tmp_path: Path) -> None:
    lock = Lock(tmp_path)
    with pytest.raises(Locked, match=f"{tmp_path} is in use by the assistant with process id {os.getpid()}"):
        Lock(tmp_path)
    lock.release()
    Lock(tmp_path).release()
    assert mode(tmp_path / "lock") == 0o600


def test_a_lock_that_cannot_be_opened_is_trouble_not_an_assistant(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    with pytest.raises(StateError, match="cannot be opened"):
        Lock(tmp_path)


def test_the_environment_says_where_things_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert settings_file({"XDG_CONFIG_HOME": "/config"}) == Path("/config/hark/hark.toml")
    assert state_directory({"XDG_STATE_HOME": "/state"}) == Path("/state/hark")
    assert settings_file({}) == tmp_path / ".config/hark/hark.toml"
    assert state_directory({"XDG_STATE_HOME": "relative"}) == tmp_path / ".local/state/hark"


def test_without_any_home_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(NoHomeDirectory, match="name a path with --state"):
        state_directory({})


def test_workers_share_a_directory_and_the_session_in_it(tmp_path: Path) -> None:
    one = State(tmp_path, SystemClock(), traces=False, parts=["understand"], worker="understand-1")
    two = State(tmp_path, SystemClock(), traces=False, parts=["understand"], worker="understand-2")
    with pytest.raises(Locked):
        State(tmp_path, SystemClock(), traces=False, parts=["understand"], worker="understand-2")
    assert one.plugin_data != two.plugin_data
    assert one.turns is two.turns is None, "the broker has them"
    one.writer.session(Session(lang="de-DE"))
    one.close()
    one = State(tmp_path, SystemClock(), traces=False, parts=["understand"], worker="understand-1")
    assert one.restored == Session(lang="de-DE")
    one.close()
    two.close()


@pytest.mark.parametrize("parts", [(), ("understand",)])
def test_what_a_killed_process_had_no_time_to_write_is_there_for_the_next_one(
    tmp_path: Path, parts: tuple[str, ...]
) -> None:
    killed = State(tmp_path, SystemClock(), traces=False, parts=["understand"])
    killed.writer.session = lambda _session: None  # type: ignore[method-assign] - its thread never gets to it
    killed.save(Session(lang="de-DE"))
    killed.lock.release()
    after = State(tmp_path, SystemClock(), traces=False, parts=parts)
    assert after.restored == Session(lang="de-DE")
    after.save(Session(lang="fr-FR"))
    after.close()
    (tmp_path / "session.json").unlink()  # somebody wants it to begin anew
    last = State(tmp_path, SystemClock(), traces=False, parts=["understand"])
    assert last.restored is None
    last.close()
    killed.writer.close()
