"""`hark bus` and `hark token`, as processes."""

from __future__ import annotations

import asyncio
import json
import re
import resource
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from flow.hark_process import World, eventually, free_port, free_url
from hark.bus import RemoteBus
from hark.bus.websocket import BusUnavailable, WebSocketCarrier
from hark.model import Message, SystemClock

T = TypeVar("T")
TLS = Path(__file__).parents[1] / "unit" / "bus" / "tls"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "home")


@pytest.fixture
def pair(tmp_path: Path) -> str:
    """Settings that name a certificate and its key, which is private as it has to be."""
    key = tmp_path / "key.pem"
    key.write_bytes((TLS / "key.pem").read_bytes())
    key.chmod(0o600)
    return f'certificate = "{TLS}/certificate.pem"\nkey = "{key}"\n'


async def talks(url: str, token: str = "", tls: ssl.SSLContext | None = None) -> bool:
    """Whether a Message comes back over the bus."""
    bus = RemoteBus(WebSocketCarrier(url, SystemClock(), token=token, tls=tls, patience=0.0))
    await bus.open()
    heard = asyncio.Event()
    bus.on("test.note", lambda _: heard.set())
    bus.emit(Message("test.note"))
    async with asyncio.timeout(20):
        await heard.wait()
    await bus.close()
    return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_bus_says_where_it_listens_and_ends_when_it_is_told_to(world: World, number: signal.Signals) -> None:
    with world.running("bus", "--port", "0") as bus:
        line = await asyncio.to_thread(bus.line)
        assert line.startswith("the bus listens at ws://127.0.0.1:")
        assert await talks(line.split()[-1])
        bus.signal(number)
        assert await asyncio.to_thread(bus.end) == (0, "")


async def test_a_port_that_is_taken_is_told_with_its_remedy(world: World) -> None:
    with world.running("bus", "--port", "0") as bus:
        port = (await asyncio.to_thread(bus.line)).split(":")[-1].split("/")[0]
        done = await asyncio.to_thread(world.hark, "bus", "--port", port)
        assert done.returncode == 2
        assert f"port {port} of 127.0.0.1 is taken" in done.stderr
        assert "--port" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_the_bus_is_not_opened_to_others_by_accident(world: World, pair: str) -> None:
    done = world.hark("bus", "--host", "0.0.0.0", "--port", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "certificate and key" in done.stderr
    world.write_settings(f"[bus]\n{pair}")
    done = world.hark("bus", "--host", "0.0.0.0", "--port", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "hark token add NAME" in done.stderr


async def test_from_elsewhere_one_comes_in_with_a_token_until_it_is_revoked(world: World, pair: str) -> None:
    world.write_settings(f'[bus]\nport = 0\nremote_host = "0.0.0.0"\nremote_port = 0\n{pair}')
    token = world.hark("token", "add", "satellite").stdout.strip()
    tls = ssl.create_default_context(cafile=TLS / "certificate.pem")
    with world.running("bus") as bus:
        local, _, remote = (await asyncio.to_thread(bus.line)).removeprefix("the bus listens at ").split()
        remote = remote.replace("0.0.0.0", "127.0.0.1")
        assert await talks(local)
        assert await talks(remote, token, tls)
        assert await talks(f"{remote}/{token}", tls=tls)
        for wrong in ("", "wrong", token[:-1]):
            with pytest.raises(BusUnavailable, match="needs a token"):
                await talks(remote, wrong, tls)
        carrier = WebSocketCarrier(remote, SystemClock(), token=token, tls=tls)
        await carrier.open(lambda _frame, _via: None)
        assert (await asyncio.to_thread(world.hark, "token", "revoke", "satellite")).returncode == 0
        await until(lambda: not carrier.connected)
        await carrier.close()
        with pytest.raises(BusUnavailable, match="needs a token"):
            await talks(remote, token, tls)
        assert await talks(local)
        bus.signal(signal.SIGTERM)
        status, errors = await asyncio.to_thread(bus.end)
        assert status == 0
        assert "satellite at 127.0.0.1" in errors
        assert token not in errors


def test_tokens_are_listed_without_themselves(world: World) -> None:
    first = world.hark("token", "add", "kitchen")
    assert (first.returncode, first.stdout.startswith("hark_")) == (0, True)
    world.hark("token", "add", "door", "--emit", "ovos.utterance.handle", "--emit", "a.*", "--receive", "ovos.*")
    listed = world.hark("token", "list").stdout
    assert first.stdout.strip() not in listed
    kitchen, door = listed.splitlines()
    assert kitchen.endswith("emits everything  receives everything")
    assert door.endswith("emits ovos.utterance.handle, a.*  receives ovos.*")
    assert world.hark("token", "revoke", "nobody").returncode == 2
    assert world.hark("token").returncode == 2


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - nobody tells when the network is through
            await asyncio.sleep(0.01)


def test_without_the_extra_the_remedy_is_told(world: World) -> None:
    program = "import sys; sys.modules['picows'] = None; from hark.cli import main; sys.exit(main(['bus']))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=world.environment, timeout=30
    )
    assert done.returncode == 2
    assert done.stderr == "hark: the websocket bus needs picows; install it with: pip install 'hark-voice[websocket]'\n"


async def test_without_file_descriptors_left_the_others_go_on_and_the_log_is_short(world: World) -> None:
    with world.running("bus", "--port", "0") as bus:
        url = (await asyncio.to_thread(bus.line)).split()[-1]
        _, hard = resource.prlimit(bus.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(bus.pid, resource.RLIMIT_NOFILE, (40, hard))
        carrier = WebSocketCarrier(url, SystemClock())
        await carrier.open(lambda _frame, _via: None)
        port = int(url.split(":")[-1].split("/")[0])
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(60)]
        await carrier.flush()
        for _, writer in idle:
            writer.close()
        assert await talks(url)
        await carrier.close()
        bus.signal(signal.SIGTERM)
        status, errors = await asyncio.to_thread(bus.end)
    assert status == 0
    assert "no file descriptor is left" in errors
    assert len(errors.splitlines()) == 1


def test_port_in_the_settings_alone_moves_the_server_and_the_services(world: World) -> None:
    port = free_url().split(":")[-1].split("/")[0]
    world.write_settings(f"[bus]\nport = {port}\n")
    services = [word for service in ("understand", "act", "speak") for word in ("--room", service)]
    with world.running("bus") as bus, world.running("run", *services) as running:
        assert bus.line() == f"the bus listens at ws://127.0.0.1:{port}/core"

        eventually((world.state / "control.sock").exists)  # else `hark say` would start an assistant of its own

        def answered() -> bool:
            return world.hark("say", "say good morning").stdout == "good morning\n"

        assert eventually(answered)
        for process in (running, bus):
            process.signal(signal.SIGTERM)
            assert process.end() == (0, "")


def utterance(text: str, session_id: str = "shell") -> str:
    """A line for `hark bus pipe`."""
    context = {"session": {"session_id": session_id}}
    return json.dumps({"type": "ovos.utterance.handle", "data": {"utterances": [text]}, "context": context})


def pipe(world: World, *options: str, said: str) -> subprocess.CompletedProcess[str]:
    """Run it again until the server is there: it is started beside the first turns."""
    return eventually(
        lambda: done if (done := world.hark("bus", "pipe", *options, said=said)).returncode != 2 else None
    )


def test_the_assistant_in_one_process_serves_clients(world: World) -> None:
    port = free_port()
    world.write_settings(f"[bus]\nport = {port}\n")
    with world.running("run", "--no-plugins") as running:
        assert running.say("say hello") == "hello"
        options = ("--topic", "ovos.utterance.speak", "--until", "ovos.utterance.handled")
        done = pipe(world, *options, said=utterance("say good morning") + "\n")
        [line] = done.stdout.splitlines()
        assert json.loads(line)["data"]["utterance"] == "good morning"
        assert (done.returncode, done.stderr) == (0, "")
        url = f"ws://127.0.0.1:{port}/core"
        asked = world.hark("say", "say over the bus", "--bus", url, "--why")
        assert (asked.returncode, asked.stdout.splitlines()[0]) == (0, "over the bus")
        assert world.hark("doctor", "--bus", url).returncode == 0
        other = World(world.home / "other")
        refused = other.hark("say", "say hello", "--bus", url)
        assert refused.returncode == 2
        assert "service token" in refused.stderr
        assert running.say("say hello again") == "hello again"
        assert running.end() == (0, "")


def test_a_taken_port_is_reported_and_the_assistant_runs_without_a_server(world: World) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        world.write_settings(f"[bus]\nport = {port}\n")
        with world.running("run", "--no-plugins") as running:
            assert running.say("say hello") == "hello"
            report = eventually(lambda: found if "is taken" in (found := world.hark("doctor").stdout) else None)
            assert f"port {port} of 127.0.0.1 is taken" in report
            status, errors = running.end()
    assert status == 0
    [line] = errors.splitlines()
    assert f"port {port} of 127.0.0.1 is taken" in line
    assert "serve = false" in line


def test_a_setting_turns_the_server_off(world: World) -> None:
    port = free_port()
    world.write_settings(f"[bus]\nport = {port}\nserve = false\n")
    with world.running("run", "--no-plugins", "-v") as running:
        assert running.say("say hello") == "hello"
        assert running.end()[0] == 0
    assert "the bus listens" not in running.errors


def test_without_the_extra_the_assistant_runs_and_only_the_log_says_what_is_missing(world: World) -> None:
    world.write_settings("[bus]\nport = 0\n")
    program = "import sys; sys.modules['picows'] = None; from hark.cli import main; sys.exit(main())"
    for verbose in ((), ("-v",)):
        done = subprocess.run(
            [sys.executable, "-c", program, "run", "--no-plugins", *verbose],
            input="say hello\nsay goodbye\n",
            capture_output=True,
            text=True,
            env=world.environment,
            timeout=60,
        )
        assert (done.returncode, done.stdout) == (0, "hello\ngoodbye\n")
        assert ("pip install 'hark-voice[websocket]'" in done.stderr) is bool(verbose)


def test_a_line_that_is_no_message_is_named_and_the_others_are_sent(world: World) -> None:
    with world.running("bus", "--port", "0") as bus:
        url = bus.line().split()[-1]
        said = '{"type": "test.one"}\nnonsense\n\n{"type": "test.two"}\n'
        done = world.hark("bus", "pipe", "--bus", url, "--topic", "test.*", said=said)
        assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == ["test.one", "test.two"]
        assert done.returncode == 2
        assert done.stderr.startswith("hark: line 2: ")
        everything = world.hark("bus", "pipe", "--bus", url, said=said).stdout.splitlines()
        assert [json.loads(line)["type"] for line in everything] == ["connected", "test.one", "test.two"]
        file = world.home / "messages"
        file.write_text('{"type": "test.three"}')
        done = world.hark("bus", "pipe", str(file), "--bus", url, "--topic", "test.three")
        assert (done.returncode, json.loads(done.stdout)["type"]) == (0, "test.three")
        done = world.hark("bus", "pipe", "--bus", url, "--until", "test.never", "--timeout", "0.1", said=said[:21])
        assert (done.returncode, done.stderr) == (1, "hark: no test.never within 0.1 seconds\n")


async def test_a_pipe_goes_on_while_what_it_writes_is_not_read(world: World) -> None:
    """A shell script that thinks reads nothing meanwhile, and must not lose its connection for it."""
    with world.running("bus", "--port", "0") as bus:
        url = (await asyncio.to_thread(bus.line)).split()[-1]
        client = RemoteBus(WebSocketCarrier(url, SystemClock()))
        await client.open()
        heard: asyncio.Queue[Message] = asyncio.Queue()
        client.on("test.from.pipe", heard.put_nowait)
        command = [sys.executable, "-m", "hark", "bus", "pipe", "--bus", url]
        script = await asyncio.create_subprocess_exec(*command, stdin=-1, stdout=-1, env=world.environment)
        assert script.stdin is not None
        assert script.stdout is not None
        script._transport.get_pipe_transport(1).pause_reading()  # type: ignore[attr-defined]
        async with asyncio.timeout(60):
            script.stdin.write(b'{"type": "test.from.pipe", "data": {"n": 1}}\n')
            assert (await heard.get()).data["n"] == 1
            for number in range(100):
                client.emit(Message("test.noise", {"n": number, "x": "y" * 10_000}))
            await client.carrier.flush()
            for number in range(2, 5):  # the first ones may be read before the noise is written
                script.stdin.write(b'{"type": "test.from.pipe", "data": {"n": %d}}\n' % number)
                assert (await heard.get()).data["n"] == number
            script._transport.get_pipe_transport(1).resume_reading()  # type: ignore[attr-defined]
            script.stdin.close()
            output = await script.stdout.read()
            assert await script.wait() == 0
        shown = [json.loads(line) for line in output.splitlines()]
        assert [one["data"]["n"] for one in shown if one["type"] == "test.noise"] == list(range(100))
        await client.close()


def test_a_topic_that_is_none_is_named(world: World) -> None:
    said = world.hark("bus", "pipe", "--bus", "ws://127.0.0.1:1/core", "--topic", "(a+)+$")
    assert said.returncode == 2
    assert "'(a+)+$' is no topic" in said.stderr


def test_the_shell_example_of_the_page_works(world: World) -> None:
    page = (Path(__file__).parents[2] / "docs" / "bus.md").read_text()
    [script] = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    port = free_port()
    world.write_settings(f"[bus]\nport = {port}\n")
    bin_folder = world.home / "bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "hark").write_text(f'#!/bin/sh\nexec {sys.executable} -m hark "$@"\n')
    (bin_folder / "hark").chmod(0o755)
    environment = {**world.environment, "PATH": f"{bin_folder}:{world.environment['PATH']}"}
    with world.running("run", "--no-plugins") as running:
        assert running.say("say hello") == "hello"
        pipe(world, said="")
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=environment, timeout=60)
        assert running.end() == (0, "")
    assert (done.returncode, done.stderr) == (0, "")
    assert "It is" in done.stdout
