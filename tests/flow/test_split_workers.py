"""Several processes that understand, started and looked after together: at NATS, and at a bus of our own."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from flow.hark_process import PATIENCE, World, eventually, free_url, processes
from hark.app.bus_address import BusAddress
from hark.app.settings import read_settings
from hark.model import Message, Session, SystemClock
from hark.spec import topics
from hark.testing.nats_server import NatsServer, closed_port

_prefixes = count(1)
WORKERS = {"understand-1", "understand-2"}
ROOMS = {"hear", "act", "speak", *WORKERS}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def at_nats(world: World, nats_server: NatsServer) -> Iterator[str]:
    """An assistant whose settings name a NATS server; at the end, none of its processes is left."""
    world.write_settings(f'[nats]\nservers = ["{nats_server.url}"]\nprefix = "split{next(_prefixes)}."\n')
    yield str(world.state)
    eventually(lambda: not processes(str(world.state)))


@pytest.fixture
def at_bus(world: World) -> Iterator[str]:
    """One that meets at a bus of our own."""
    address = free_url()
    yield address
    eventually(lambda: not processes(address))


def _where(place: str) -> tuple[str, ...]:
    return ("--bus", place) if place.startswith("ws:") else ("--state", place)


def test_where_nats_servers_are_named_there_is_no_bus_process(world: World, at_nats: str) -> None:
    done = world.hark("run", "--split", *_where(at_nats), said="say hello world\nwhat nobody understands\n")
    assert done.returncode == 0, done.stderr
    assert (done.stdout.splitlines()[0], len(done.stdout.splitlines()), done.stderr) == ("hello world", 2, "")
    with world.running("run", "--split", "--stay", *_where(at_nats)) as running:
        assert running.say("say it") == "it"
        assert set(processes(at_nats)) == {"hear", "understand", "act", "speak"}
        # Whoever is not in the state directory finds it at NATS.
        other = World(world.home / "elsewhere")
        said = other.hark("say", "say", "good", "day", "--why", "--settings", str(world.settings))
        assert (said.returncode, said.stdout.splitlines()[0]) == (0, "good day"), said.stderr
        told = other.hark("why", "--settings", str(world.settings))
        assert '"say good day"' in told.stdout
        assert "act room: process " in other.hark("doctor", "--settings", str(world.settings)).stdout
        assert not other.state.exists()
        running.signal(signal.SIGTERM)
        assert running.end(hang_up=False) == (0, "")


@pytest.mark.parametrize("place", ["at_nats", "at_bus"])
def test_workers_share_the_work_and_one_that_is_killed_is_started_again(
    world: World, place: str, request: pytest.FixtureRequest
) -> None:
    place = request.getfixturevalue(place)
    with world.running("run", "--split", "--workers", "2", *_where(place)) as running:
        assert running.say("say first") == "first"
        rooms = eventually(lambda: _all_of(place))
        eventually(lambda: all(_is_told_of(world, rooms[worker]) for worker in WORKERS))
        for number in range(6):  # by whichever worker the broker picks
            assert world.hark("say", f"say {number}").stdout == f"{number}\n"
        killed = rooms["understand-1"]
        os.kill(killed, signal.SIGKILL)
        assert running.say("say second") == "second"
        again = eventually(lambda: _other(place, "understand-1", killed))
        assert processes(place)["understand-2"] == rooms["understand-2"]
        assert again != killed
        eventually(lambda: _is_told_of(world, again) and not _is_told_of(world, killed))
        assert '"say second"' in world.hark("why").stdout
        status, errors = running.end()
    assert status == 0
    assert "understand-1 was ended by SIGKILL; it is started again in 0.1 s" in errors
    # What is on disk is told in one piece as well, when nobody runs any more.
    told = world.hark("why")
    assert '"say second"' in told.stdout
    assert "rendered" in told.stdout


@pytest.mark.parametrize("place", ["at_nats", "at_bus"])
async def test_each_utterance_ends_once_although_a_worker_is_killed_in_the_middle(
    world: World, place: str, request: pytest.FixtureRequest
) -> None:
    place = request.getfixturevalue(place)
    with world.running("run", "--split", "--workers", "2", "--stay", *_where(place)) as running:
        assert await asyncio.to_thread(running.say, "say hello") == "hello"
        rooms = await asyncio.to_thread(eventually, lambda: _all_of(place))
        await asyncio.to_thread(eventually, lambda: all(_is_told_of(world, rooms[worker]) for worker in WORKERS))
        settings = read_settings(world.settings, named=False)
        bus = await BusAddress.of(settings, place if place.startswith("ws:") else None).connect(SystemClock())
        ended: Counter[str] = Counter()
        all_ended = asyncio.Event()

        def handled(message: Message) -> None:
            if message.session_id.startswith("visitor-"):
                ended[message.session_id] += 1
                if len(ended) == 140:
                    all_ended.set()

        bus.on(topics.UTTERANCE_HANDLED, handled)
        await bus.settled()
        for number in range(140):
            if number == 70:
                await bus.carrier.flush()
                os.kill(rooms["understand-2"], signal.SIGKILL)
            session = Session(f"visitor-{number}")
            bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["say hello"]}, {}, session))
        with suppress(TimeoutError):  # what is missing then says more than that it took too long
            async with asyncio.timeout(PATIENCE):
                await all_ended.wait()
        await bus.settled()
        assert ended == {f"visitor-{number}": 1 for number in range(140)}
        await bus.close()
        running.signal(signal.SIGTERM)
        status, _ = await asyncio.to_thread(lambda: running.end(hang_up=False))
        assert status == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_one_signal_ends_all_of_them(world: World, at_nats: str, number: signal.Signals) -> None:
    with world.running("run", "--split", "--workers", "2", "--stay", *_where(at_nats)) as running:
        assert running.say("say hello") == "hello"
        assert set(processes(at_nats)) == ROOMS
        running.signal(number)
        status, errors = running.end(hang_up=False)
    assert status == 0
    # Workers that come one after the other may say who took what was said meanwhile.
    assert "ERROR" not in errors
    assert "Traceback" not in errors
    assert not (world.state / "control.sock").exists()


def test_what_was_remembered_is_there_after_all_workers_were_started_anew(world: World, at_nats: str) -> None:
    world.install("probe", REMEMBERING, "skill: Keeping")
    run = ("run", "--split", "--workers", "2", *_where(at_nats))
    assert world.hark(*run, said="remember apples\n").stdout == "yes\n"
    assert world.hark(*run, said="what was it\n").stdout == "it was apples\n"


def test_a_broker_that_is_not_there_is_told_before_anything_is_started(world: World) -> None:
    server = f"nats://127.0.0.1:{closed_port()}"
    world.write_settings(f'[nats]\nservers = ["{server}"]\n')
    done = world.hark("run", "--split")
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"hark: no NATS server could be reached at {server} within ")
    assert not (world.state / "control.sock").exists()


def test_workers_that_nobody_would_look_after_are_refused(world: World) -> None:
    done = world.hark("run", "--workers", "2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--workers goes with --split" in done.stderr
    for number in ("0", "-1", "many", "100"):
        assert (
            f"argument --workers: '{number}' is not a number from 1 to 99"
            in world.hark("run", "--split", f"--workers={number}").stderr
        )


REMEMBERING = """
from hark.skills import Skill, intent

class Keeping(Skill):
    id = "keeping.skill"

    @intent("remember {word}")
    def keep(self, turn):
        turn.remember("word", turn.slots["word"])
        return "yes"

    @intent("what was it")
    def recall(self, turn):
        entry = turn.session.intent_context.get("keeping.skill:word")
        return f"it was {entry.value}" if entry else "I do not know"
"""


def _all_of(place: str) -> dict[str, int] | None:
    found = processes(place)
    return found if set(found) >= ROOMS else None


def _other(place: str, worker: str, before: int) -> int | None:
    pid = processes(place).get(worker, before)
    return pid if pid != before else None


def _is_told_of(world: World, pid: int) -> bool:
    return any(
        line.startswith(f"understand room: process {pid} on ") and "not ready" not in line
        for line in world.hark("doctor").stdout.splitlines()
    )
