"""What is kept of people has bounds, can be switched off, and is deleted when they ask."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hark.app.control.protocol import Forget
from hark.app.local_assistant import LocalAssistant
from hark.app.settings import Settings
from hark.app.settings.tables import LimitsTable, TraceTable
from hark.app.state.store import State
from hark.app.state.trace_file import TraceFile, find
from hark.builtin.intent_matchers import TemplateMatcher
from hark.cli import main
from hark.model import Message, Session, SystemClock
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.spec import topics
from hark.testing import FakeClock
from hark.trace import TraceStore, TurnTrace

DAY = 86_400.0
SECRET = "my pin is four seven one one"


def turn(utterance_id: str, session_id: str = "default", wall: float = 0.0, text: str = "hello") -> TurnTrace:
    return TurnTrace(utterance_id, session_id, (text,), wall, lambda: 0.0)


class Diary(Skill):
    id = "diary.skill"

    @intent("note that {text}")
    def note(self, turn: Turn) -> str:
        turn.remember("noted", turn.slots["text"])
        return "Noted."


def assistant_with(settings: Settings, state: State) -> LocalAssistant:
    return LocalAssistant(settings, [TemplateMatcher(), Diary()], SystemClock(), lambda _text: None, state=state)


def everything_in(directory: Path) -> str:
    return "\n".join(path.read_text(errors="replace") for path in directory.rglob("*") if path.is_file())


# Bounds.


def test_traces_in_memory_are_bounded_in_bytes() -> None:
    store = TraceStore(FakeClock(), most_bytes=100_000)
    for number in range(100):
        trace = store.begin(f"t{number}", "default", ("x" * 5_000,))
        trace.step("match", "a", "claimed", 0.0, "", "y" * 2_000, ("z" * 2_000,))
        store.ended(trace, "complete")
    assert 5 < len(store) < 12
    assert store.find("t99") is not None


def test_a_turn_with_a_million_steps_keeps_a_thousand() -> None:
    trace = turn("t")
    for _ in range(5_000):
        trace.step("dialog", "a", "changed")
    assert len(trace.steps) == 1_000


def test_traces_in_memory_grow_old() -> None:
    clock = FakeClock()
    store = TraceStore(clock, max_age=DAY)
    store.ended(store.begin("old", "default", ("hello",)), "complete")
    clock.pass_by(2 * DAY)
    store.begin("new", "default", ("hello",))
    assert store.find("old") is None
    assert store.find("new") is not None


def test_traces_on_disk_are_bounded_in_bytes(tmp_path: Path) -> None:
    with closing(TraceFile(tmp_path, most_bytes=20_000)) as traces:
        for number in range(100):
            traces.append([turn(f"t{number}", text="x" * 1_000)])
        traces.append([turn("huge", text="x" * 50_000)])
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 20_000
    assert find(tmp_path, "t99") is not None
    assert find(tmp_path, "t1") is None or find(tmp_path, "t1").utterance_id != "t1"  # type: ignore[union-attr]
    assert find(tmp_path, "huge") is None


def test_traces_on_disk_grow_old(tmp_path: Path) -> None:
    now = 100 * DAY
    with closing(TraceFile(tmp_path, days=30)) as traces:
        traces.append([turn("old", wall=now - 31 * DAY), turn("young", wall=now - 29 * DAY)], now - 29 * DAY)
        traces.append([turn("new", wall=now)], now)
    assert find(tmp_path, "old") is None
    assert find(tmp_path, "young") is not None
    assert find(tmp_path, "new") is not None


async def test_the_bound_of_a_session_is_a_setting(tmp_path: Path) -> None:
    settings = Settings(limits=LimitsTable(session=4_096))
    carrier = Session(lang="de-DE").trusted(x_own="x" * 5_000)
    with closing(State.under(settings, tmp_path, SystemClock())) as state:
        async with LocalAssistant(settings, [], SystemClock(), lambda _text: None, state=state) as assistant:
            said = {"utterances": ["hello"]}
            assistant.runtime.bus.emit(Message(topics.UTTERANCE_HANDLE, said, {"session": carrier.wire()}))
            await assistant.runtime.bus.settled()
            kept = await assistant.device_session(reset=False)
    assert kept.lang == "de-DE"
    assert "x_own" not in kept


# Privacy.


async def _noted(directory: Path, settings: Settings, parts: tuple[str, ...] = ()) -> None:
    with closing(State.under(settings, directory, SystemClock(), parts)) as state:
        async with LocalAssistant(
            settings, [TemplateMatcher(), Diary()], SystemClock(), lambda _text: None, state=state
        ) as assistant:
            await assistant.client.ask(f"note that {SECRET}", lambda _text: None)
            assert SECRET in json.dumps((await assistant.device_session(reset=False)).wire())
        assert state.turns is None or parts


@pytest.mark.parametrize("parts", [(), ("understand",)])
async def test_with_traces_off_the_disk_nothing_that_was_said_is_written(
    tmp_path: Path, parts: tuple[str, ...]
) -> None:
    await _noted(tmp_path / "open", Settings(), parts)
    assert SECRET in everything_in(tmp_path / "open")
    await _noted(tmp_path / "private", Settings(trace=TraceTable(disk=False)), parts)
    assert SECRET not in everything_in(tmp_path / "private")


def test_a_private_record_of_open_turns_still_ends_them(tmp_path: Path) -> None:
    settings = Settings(trace=TraceTable(disk=False))
    entry = Message(
        topics.UTTERANCE_HANDLE, {"utterances": [SECRET]}, {"session": {"session_id": "s"}, "utterance_id": "u"}
    )
    state = State.under(settings, tmp_path, SystemClock(), ["understand"])
    assert state.turns is not None
    state.turns.opened(entry)
    assert SECRET not in everything_in(tmp_path)
    state.close()
    with closing(State.under(settings, tmp_path, SystemClock(), ["understand"])) as after:
        assert after.turns is not None
        [lost] = after.turns.lost
    assert (lost.type, lost.session_id, lost.utterance_id) == (topics.UTTERANCE_HANDLE, "s", "u")


# Forgetting.


async def test_a_running_assistant_forgets_everything_in_memory_and_on_disk(tmp_path: Path) -> None:
    with closing(State.under(Settings(), tmp_path, SystemClock())) as state:
        async with LocalAssistant(
            Settings(), [TemplateMatcher(), Diary()], SystemClock(), lambda _text: None, state=state
        ) as assistant:
            for _ in range(2):  # the first one is on disk when they are forgotten, the second not yet
                await assistant.client.ask(f"note that {SECRET}", lambda _text: None)
                await asyncio.to_thread(state.writer.step, closing=True)
            assert await assistant.forget(Forget()) == 2
            assert await assistant.find_trace("") is None
            await asyncio.to_thread(state.writer.step, closing=True)
            assert SECRET not in everything_in(tmp_path)


async def test_only_what_is_meant_is_forgotten(tmp_path: Path) -> None:
    with closing(TraceFile(tmp_path)) as traces, closing(TraceFile(tmp_path, "act")) as slices:
        traces.append([turn("a", "kitchen", 10.0), turn("b", "hall", 20.0), turn("c", "kitchen", 30.0)])
        slices.append([turn(name, "", 15.0) for name in "abc"])
    (tmp_path / "session.json").write_text('{"lang":"de-DE"}')
    assert main(["forget", "--session", "kitchen", "--state", str(tmp_path)]) == 0
    assert [find(tmp_path, name) is not None for name in "abc"] == [False, True, False]
    assert '"a"' not in everything_in(tmp_path)
    assert "de-DE" in everything_in(tmp_path)
    assert main(["forget", "--before", "1970-02-01", "--state", str(tmp_path)]) == 0
    assert find(tmp_path, "b") is None


def test_all_of_it_is_forgotten_when_nothing_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(TraceFile(tmp_path)) as traces:
        traces.append([turn("a", text=SECRET)])
    with (tmp_path / "traces.jsonl").open("ab") as file:
        file.write(f'{{"utterances":["{SECRET}'.encode())
    (tmp_path / "session.json.broken").write_text(SECRET)
    (tmp_path / "session.json").write_text(json.dumps({"x_own": SECRET}))
    (tmp_path / "turns.log").write_text(
        f'+{{"type":"ovos.utterance.handle","data":{{"utterances":["{SECRET}"]}},"context":{{"utterance_id":"u"}}}}\n'
    )
    streams = tmp_path / "nats" / "jetstream" / "$G" / "streams"
    for name, text in (("hark-ends", SECRET), ("KV_hark-session", SECRET), ("KV_hark-schedules", "an alarm")):
        (streams / name / "msgs").mkdir(parents=True)
        (streams / name / "msgs" / "1.blk").write_text(text)
    assert main(["forget", "--state", str(tmp_path)]) == 0
    assert SECRET not in everything_in(tmp_path)
    assert "forgot 1 turn and the session of the device" in capsys.readouterr().err
    assert '"u"' in (tmp_path / "turns.log").read_text()  # it still has to end
    assert (streams / "KV_hark-schedules" / "msgs" / "1.blk").read_text() == "an alarm"


@pytest.mark.parametrize("when", ["yesterday", "30", "", "d"])
def test_a_time_that_is_none_is_named(when: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["forget", "--before", when])
    assert "2026-11-01" in capsys.readouterr().err


# A full disk.

_NO_SPACE = (resource.RLIMIT_FSIZE, (0, 0))
"""No file may grow: writes fail as on a full disk, with another errno."""


def test_a_disk_that_is_full_at_start_is_named(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hark", "run", "--no-plugins", "--state", str(tmp_path / "state")],
        input="hello\n",
        text=True,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(*_NO_SPACE),
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    [line] = [line for line in done.stderr.splitlines() if "cannot be written to" in line]
    assert "free some space, or choose another with --state" in line
