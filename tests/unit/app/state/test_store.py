"""State is written without any turn waiting for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hark.app.state.session_file import SessionFile
from hark.app.state.store import BATCH, RETRY, SYNC, State, Writer
from hark.app.state.trace_file import TraceFile, find
from hark.model import Session, SystemClock
from hark.testing import FakeClock
from hark.trace import TurnTrace


class Watched(SessionFile):
    """Records what is done to the session file."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.did: list[str] = []
        self.full = False

    def write(self, session: Session) -> None:
        if self.full:
            raise OSError(28, "No space left on device")
        super().write(session)
        self.did.append(f"write {session.lang}")

    def sync(self) -> None:
        super().sync()
        self.did.append("sync")


def turn(utterance_id: str) -> TurnTrace:
    return TurnTrace(utterance_id, "default", ("hello",), 0.0, lambda: 0.0)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def sessions(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


@pytest.fixture
def writer(sessions: Watched, tmp_path: Path, clock: FakeClock) -> Iterator[Writer]:
    with closing(TraceFile(tmp_path)) as traces:
        yield Writer(sessions, traces, clock)


def test_a_session_is_written_at_once_and_synced_at_most_once_a_second(
    writer: Writer, sessions: Watched, clock: FakeClock
) -> None:
    for lang in ("aa", "bb", "cc"):
        writer.session(Session(lang=lang))
        writer.step()
    assert sessions.did == ["write aa", "sync", "write bb", "write cc"]
    assert writer.step() == SYNC
    clock.pass_by(SYNC)
    assert writer.step() is None
    assert sessions.did[4:] == ["sync"]
    clock.pass_by(10 * SYNC)
    assert writer.step() is None
    assert sessions.did[5:] == []


def test_of_sessions_that_come_faster_than_the_disk_only_the_last_is_written(writer: Writer, sessions: Watched) -> None:
    for lang in ("aa", "bb", "cc"):
        writer.session(Session(lang=lang))
    writer.step()
    assert sessions.did == ["write cc", "sync"]


def test_at_the_end_everything_is_written_and_synced(writer: Writer, sessions: Watched, tmp_path: Path) -> None:
    writer.session(Session(lang="aa"))
    writer.step()
    writer.session(Session(lang="bb"))
    writer.trace(turn("t-1"))
    assert writer.step(closing=True) is None
    assert sessions.did == ["write aa", "sync", "write bb", "sync"]
    assert find(tmp_path) == turn("t-1").record()


def test_traces_are_written_in_batches_with_what_came_after_the_turn(
    writer: Writer, clock: FakeClock, tmp_path: Path
) -> None:
    first = turn("t-1")
    writer.trace(first)
    assert writer.step() == BATCH
    first.step("speak", "default", "rendered")
    writer.trace(turn("t-2"))
    clock.pass_by(BATCH)
    assert writer.step() is None
    found = find(tmp_path, "t-1")
    assert found is not None
    assert [step.stage for step in found.steps] == ["speak"]
    assert find(tmp_path, "t-2") is not None


def test_without_a_trace_file_nothing_of_a_turn_is_kept(sessions: Watched, clock: FakeClock, tmp_path: Path) -> None:
    writer = Writer(sessions, None, clock)
    writer.trace(turn("t-1"))
    assert writer.step(closing=True) is None
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_refuses_is_reported_once_and_tried_again(
    writer: Writer, sessions: Watched, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    sessions.full = True
    writer.session(Session(lang="aa"))
    assert writer.step() == RETRY
    clock.pass_by(1.0)
    assert writer.step() == RETRY - 1.0
    for _ in range(3):
        clock.pass_by(RETRY)
        writer.step()
    assert caplog.text.count("No space left on device") == 1
    sessions.full = False
    clock.pass_by(RETRY)
    assert writer.step() is None
    assert sessions.did == ["write aa", "sync"]
    assert "the state can be written again" in caplog.text


def test_the_thread_writes_what_is_handed_to_it(tmp_path: Path) -> None:
    written = threading.Event()

    class Signalling(SessionFile):
        def write(self, session: Session) -> None:
            super().write(session)
            written.set()

    writer = Writer(Signalling(tmp_path), TraceFile(tmp_path), SystemClock())
    writer.start()
    writer.session(Session(lang="aa"))
    assert written.wait(20)
    writer.session(Session(lang="bb"))
    writer.trace(turn("t-1"))
    writer.close()
    restored = SessionFile(tmp_path).restore()
    assert restored is not None
    assert restored.lang == "bb"
    assert find(tmp_path) == turn("t-1").record()


def test_the_thread_survives_an_unexpected_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    class Odd(SessionFile):
        def write(self, session: Session) -> None:
            raise LookupError("odd")

    writer = Writer(Odd(tmp_path), TraceFile(tmp_path), SystemClock())
    writer.start()
    writer.session(Session(lang="aa"))
    writer.close()
    assert "the state could not be written" in caplog.text


def test_a_state_directory_gives_back_what_it_was_given(tmp_path: Path) -> None:
    state = State(tmp_path / "state", SystemClock(), traces=True)
    assert state.restored is None
    assert state.plugin_data == tmp_path / "state" / "plugins"
    state.writer.session(Session(lang="de-DE"))
    state.close()
    state = State(tmp_path / "state", SystemClock(), traces=False)
    assert state.restored == Session(lang="de-DE")
    state.close()
