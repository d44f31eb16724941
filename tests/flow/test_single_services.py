"""Services that are started singly on a websocket bus: they can be asked as one assistant can."""

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
    """Starts services, which end with the test."""
    with ExitStack() as stack:
        yield lambda *services: stack.enter_context(
            world.running("run", "--bus", url, *(word for name in services for word in ("--service", name)))
        )


@pytest.fixture
def bus(world: World, url: str) -> Iterator[None]:
    """A websocket server there."""
    port = url.removeprefix("ws://127.0.0.1:").removesuffix("/core")
    with world.running("bus", "--port", port) as running:
        assert "listens" in running.line()
        yield


def control_process(state: Path) -> int:
    """The process that answers at the control socket."""
    connection = connect(state)
    assert connection is not None
    with connection:
        [pong] = connection.ask(Ping())
    assert isinstance(pong, Pong)
    return pong.pid


@pytest.mark.usefixtures("bus")
def test_say_why_and_doctor_find_them_in_their_state_directory(world: World, start: Start) -> None:
    services = {name: start(name) for name in ("hear", "act", "speak", "understand")}
    eventually((world.state / "control.sock").exists)
    said = eventually(lambda: _answered(world, "say", "say", "good", "morning", "--why"))
    assert said[0] == "good morning"
    assert _stages(said) >= {"intent", "handler", "speak"}
    trace = world.hark("why")
    assert '"say good morning"  session default' in trace.stdout
    assert "rendered" in trace.stdout
    report = world.hark("doctor")
    assert report.returncode == 0, report.stdout
    for name, running in services.items():
        assert f"service {name}: process {running.pid} on " in report.stdout
    assert "Everything is in order." in report.stdout


@pytest.mark.usefixtures("bus")
def test_a_second_process_with_a_service_refuses_to_start(world: World, url: str, start: Start, tmp_path: Path) -> None:
    first = start("understand", "act")
    eventually((world.state / "control.sock").exists)
    other = World(tmp_path / "elsewhere")
    other.write_settings(f'[bus]\ntoken = "{world.state}/service.token"\n')
    done = other.hark("run", "--room", "understand", "--bus", url)  # as the option was called before
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"hark: the service understand already runs on this bus in process {first.pid} on ")


@pytest.mark.usefixtures("bus")
def test_another_one_answers_when_the_one_that_did_is_gone(world: World, url: str, start: Start) -> None:
    first = start("hear")
    eventually((world.state / "control.sock").exists)
    assert control_process(world.state) == first.pid
    others = {start(*names).pid for names in (("act",), ("speak",), ("understand",))}
    eventually(lambda: _answered(world, "say", "say hello"))
    assert control_process(world.state) == first.pid
    os.kill(first.pid, signal.SIGKILL)
    first.end()
    # At once: a client that asks while no process has the socket waits for it.
    assert world.hark("say", "say still here").stdout == "still here\n"
    second = control_process(world.state)
    assert second in others
    os.kill(second, signal.SIGTERM)
    eventually(lambda: second not in processes(url).values())
    assert control_process(world.state) in others - {second}


@pytest.mark.usefixtures("bus")
def test_over_the_bus_they_are_found_from_anywhere(world: World, url: str, start: Start, tmp_path: Path) -> None:
    start("hear", "act", "speak")
    start("understand")
    visitor = World(tmp_path / "elsewhere")
    assert "service token" in visitor.hark("say", "say good day", "--bus", url).stderr
    visitor.write_settings(f'[bus]\ntoken = "{world.state}/service.token"\n')
    said = eventually(lambda: _answered(visitor, "say", "say", "good", "day", "--why", "--bus", url))
    assert said[0] == "good day"
    assert _stages(said) >= {"intent", "handler", "speak"}
    assert '"say good day"' in visitor.hark("why", "--bus", url).stdout
    unmatched = visitor.hark("say", "what nobody understands", "--bus", url)
    assert unmatched.returncode == 1
    assert f" --bus {url})" in unmatched.stdout
    report = visitor.hark("doctor", "--bus", url)
    # A busy machine may have kept a matcher from being quick, which is reported and no fault of the services.
    assert report.returncode == 0 or "moved to a worker thread" in report.stdout, report.stdout
    assert "service understand: process " in report.stdout
    assert not visitor.state.exists()


def test_a_bus_that_is_not_there_is_reported_in_seconds(world: World, url: str) -> None:
    for command in (("say", "hello"), ("why",), ("doctor",)):
        began = monotonic()
        done = world.hark(*command, "--bus", url)
        assert monotonic() - began < PATIENCE / 2
        assert (done.returncode, done.stdout) == (2, "")
        assert url in done.stderr
    with socket.socket() as mute:  # it listens, and says nothing
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        address = f"ws://127.0.0.1:{mute.getsockname()[1]}/core"
        done = world.hark("say", "hello", "--bus", address)
    assert (done.returncode, done.stdout) == (2, "")
    assert address in done.stderr


@pytest.mark.usefixtures("bus")
def test_services_that_are_missing_are_named(world: World, url: str, start: Start) -> None:
    assert world.hark("say", "hello", "--bus", url).stderr == (
        f"hark: {url}: no process on this bus has the service understand, act, speak; "
        "start what is missing with: hark run --service understand --service act --service speak\n"
    )
    for command in ("why", "doctor"):
        assert f"{url}: no service of an assistant is on this bus" in world.hark(command, "--bus", url).stderr
    start("speak")
    eventually((world.state / "control.sock").exists)
    assert "no process on this bus has the service understand, act;" in world.hark("say", "hello").stderr


def _stages(lines: list[str]) -> set[str]:
    """The parts of a trace; those that overlap in several processes are in the order of the wall clock."""
    return {line.split()[2] for line in lines[2:-1]}


def _answered(world: World, *command: str) -> list[str] | None:
    done = world.hark(*command)
    return done.stdout.splitlines() if done.returncode == 0 else None
