"""Rooms that are started singly: they can be asked as one assistant can, from their state directory or over the bus."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

import pytest

from flow.hark_process import PATIENCE, Running, World, eventually, free_url, processes
from hark.app.control.client import connect
from hark.app.control.protocol import Ping, Pong

Start = Callable[..., Running]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def url() -> str:
    return free_url()


@pytest.fixture
def start(world: World, url: str) -> Iterator[Start]:
    """Starts rooms, which end with the test."""
    with ExitStack() as stack:
        yield lambda *rooms: stack.enter_context(
            world.running("run", "--bus", url, *(word for room in rooms for word in ("--room", room)))
        )


def door_keeper(state: Path) -> int:
    """The process that answers at the control socket."""
    connection = connect(state)
    assert connection is not None
    with connection:
        [pong] = connection.ask(Ping())
    assert isinstance(pong, Pong)
    return pong.pid


def test_say_why_and_doctor_find_them_in_their_state_directory(world: World, url: str, start: Start) -> None:
    start("bus")
    rooms = {room: start(room) for room in ("hear", "act", "speak", "understand")}
    eventually((world.state / "control.sock").exists)
    said = eventually(lambda: _answered(world, "say", "say", "good", "morning", "--why"))
    assert said[0] == "good morning"
    assert _stages(said) >= {"intent", "handler", "speak"}
    told = world.hark("why")
    assert '"say good morning"  session say-' in told.stdout
    assert "rendered" in told.stdout
    looked = world.hark("doctor")
    assert looked.returncode == 0, looked.stdout
    for room, running in rooms.items():
        assert f"{room} room: process {running.pid} on " in looked.stdout
    assert "Everything is in order." in looked.stdout


def test_another_one_answers_when_the_one_that_did_is_gone(world: World, url: str, start: Start) -> None:
    start("bus")
    first = start("hear")
    eventually((world.state / "control.sock").exists)
    assert door_keeper(world.state) == first.pid
    others = {start(*rooms).pid for rooms in (("act",), ("speak",), ("understand",))}
    eventually(lambda: _answered(world, "say", "say hello"))
    assert door_keeper(world.state) == first.pid
    os.kill(first.pid, signal.SIGKILL)
    first.end()
    # At once: whoever asks in the moment in which nobody has the socket waits for it.
    assert world.hark("say", "say again").stdout == "again\n"
    second = door_keeper(world.state)
    assert second in others
    os.kill(second, signal.SIGTERM)
    eventually(lambda: second not in processes(url).values())
    assert door_keeper(world.state) in others - {second}


def test_over_the_bus_they_are_found_from_anywhere(world: World, url: str, start: Start, tmp_path: Path) -> None:
    start("bus")
    start("hear", "act", "speak")
    start("understand")
    visitor = World(tmp_path / "elsewhere")
    said = eventually(lambda: _answered(visitor, "say", "say", "good", "day", "--why", "--bus", url))
    assert said[0] == "good day"
    assert _stages(said) >= {"intent", "handler", "speak"}
    assert '"say good day"' in visitor.hark("why", "--bus", url).stdout
    lost = visitor.hark("say", "what nobody understands", "--bus", url)
    assert lost.returncode == 1
    assert f" --bus {url})" in lost.stdout
    looked = visitor.hark("doctor", "--bus", url)
    assert looked.returncode == 0, looked.stdout
    assert "understand room: process " in looked.stdout
    assert not visitor.state.exists()


def test_a_bus_that_nobody_serves_is_told_in_seconds(world: World, url: str, start: Start) -> None:
    for command in (("say", "hello"), ("why",), ("doctor",)):
        began = monotonic()
        done = world.hark(*command, "--bus", url)
        assert monotonic() - began < PATIENCE / 2
        assert (done.returncode, done.stdout) == (2, "")
        assert url in done.stderr
    with socket.socket() as mute:  # somebody listens there, and says nothing
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        address = f"ws://127.0.0.1:{mute.getsockname()[1]}/core"
        done = world.hark("say", "hello", "--bus", address)
    assert (done.returncode, done.stdout) == (2, "")
    assert address in done.stderr


def test_a_bus_without_rooms_is_told_with_what_is_missing(world: World, url: str, start: Start) -> None:
    start("bus")
    done = eventually(lambda: _refused(world, "say", "hello", "--bus", url))
    assert done == (
        f"hark: {url}: nobody has the room understand, act, speak on this bus; "
        "start what is missing with: hark run --room understand --room act --room speak\n"
    )
    for command in ("why", "doctor"):
        assert f"{url}: no room of an assistant is on this bus" in world.hark(command, "--bus", url).stderr
    start("speak")
    eventually((world.state / "control.sock").exists)
    done = world.hark("say", "hello").stderr
    assert "nobody has the room understand, act on this bus" in done


def _stages(told: list[str]) -> set[str]:
    """What a story is told in parts of; those that overlap in several processes are put in order by the wall clock."""
    return {line.split()[2] for line in told[2:-1]}


def _answered(world: World, *command: str) -> list[str] | None:
    done = world.hark(*command)
    return done.stdout.splitlines() if done.returncode == 0 else None


def _refused(world: World, *command: str) -> str | None:
    done = world.hark(*command)
    return done.stderr if "nobody has the room" in done.stderr else None
