"""The last turns on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from hark.app.state.trace_file import TraceFile, find
from hark.trace import TraceRecord, TurnTrace


def turn(utterance_id: str, text: str = "hello") -> TurnTrace:
    trace = TurnTrace(utterance_id, "default", (text,), 0.0, lambda: 0.0)
    trace.step("match", "template", "declined", 0.001, "nothing fits", ("a",), {"b": 1})
    trace.end("unmatched")
    return trace


def kept(directory: Path) -> list[str]:
    """The ids on disk, oldest first."""
    ids = []
    for name in ("traces.old.jsonl", "traces.jsonl"):
        if (directory / name).exists():
            lines = (directory / name).read_text().splitlines()
            ids += [line.split('"')[3] for line in lines]
    return ids


def test_a_turn_is_found_again_whole(tmp_path: Path) -> None:
    file = TraceFile(tmp_path)
    file.append([turn("aa-1"), turn("ab-1")])
    assert find(tmp_path) == turn("ab-1").record()
    assert find(tmp_path, "aa") == turn("aa-1").record()
    assert find(tmp_path, "ac") is None
    file.close()
    assert (tmp_path / "traces.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_whole_id_is_that_turn_and_not_a_later_one_that_begins_so(tmp_path: Path) -> None:
    file = TraceFile(tmp_path)
    file.append([turn("a-1"), turn("a-10"), turn("a-11")])
    file.close()
    assert find(tmp_path, "a-1") == turn("a-1").record()
    assert find(tmp_path, "a-") == turn("a-11").record()


def test_what_somebody_said_is_not_taken_for_an_id(tmp_path: Path) -> None:
    file = TraceFile(tmp_path)
    file.append([turn("a-1", "tell me about beef")])
    file.close()
    assert find(tmp_path, "beef") is None


def test_the_last_turns_are_kept_and_older_ones_go(tmp_path: Path) -> None:
    file = TraceFile(tmp_path, kept=3)
    for number in range(11):
        file.append([turn(f"t-{number}")])
    file.close()
    assert kept(tmp_path) == [f"t-{number}" for number in (6, 7, 8, 9, 10)]


def test_another_life_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    for number in range(4):
        file = TraceFile(tmp_path, kept=3)
        file.append([turn(f"t-{number}")])
        file.close()
    assert kept(tmp_path) == ["t-0", "t-1", "t-2", "t-3"]
    assert (tmp_path / "traces.old.jsonl").exists()


def test_a_line_that_was_cut_costs_no_other(tmp_path: Path) -> None:
    file = TraceFile(tmp_path)
    file.append([turn("t-0"), turn("t-1")])
    file.close()
    path = tmp_path / "traces.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    file = TraceFile(tmp_path)
    assert find(tmp_path) == turn("t-0").record()
    file.append([turn("t-2")])
    file.close()
    assert find(tmp_path) == turn("t-2").record()
    assert find(tmp_path, "t-0") == turn("t-0").record()


class Unsayable(TurnTrace):
    """A trace that cannot be written down."""

    def record(self) -> TraceRecord:
        raise TypeError("JSON has no word for this")


def test_a_trace_that_json_cannot_say_costs_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    odd = Unsayable("t-1", "default", (), 0.0, lambda: 0.0)
    file = TraceFile(tmp_path)
    file.append([turn("t-0"), odd, turn("t-2")])
    file.close()
    assert kept(tmp_path) == ["t-0", "t-2"]
    assert "the trace of turn t-1 cannot be written" in caplog.text


def test_nothing_on_disk_is_nothing_found(tmp_path: Path) -> None:
    assert find(tmp_path / "never") is None


def test_the_last_turn_is_the_last_of_any_worker(tmp_path: Path) -> None:
    for worker, wall in (("understand-1", 2.0), ("understand-2", 3.0)):
        trace = TurnTrace(f"{worker}-x", "default", ("hello",), wall, lambda: 0.0)
        trace.end("unmatched")
        file = TraceFile(tmp_path, worker)
        file.append([trace])
        file.close()
    found = find(tmp_path)
    assert found is not None
    assert found.utterance_id == "understand-2-x"
    found = find(tmp_path, "understand-1")
    assert found is not None
    assert found.utterance_id == "understand-1-x"
    assert find(tmp_path, "understand-3") is None
