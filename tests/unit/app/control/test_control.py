"""The control socket: nothing a client does can hurt the assistant."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hark.app.control import client
from hark.app.control.client import NoAnswer, connect
from hark.app.control.protocol import NAME, Accepted, Ended, Explained, Ping, Pong, Say, SpokenText, Why
from hark.app.control.server import listening
from hark.app.local_assistant import LocalAssistant
from hark.app.plugin_set import plugins
from hark.app.settings import settings_from
from hark.app.state.directory import StateError
from hark.app.state.store import State
from hark.model import SystemClock
from hark.spec import topics

SETTINGS = settings_from({"assistant": {"langs": ["de-DE"]}})


@asynccontextmanager
async def assistant(directory: Path) -> AsyncIterator[LocalAssistant]:
    state = State(directory, SystemClock(), traces=False)
    try:
        with listening(directory) as channel:
            local = LocalAssistant(
                SETTINGS, plugins(installed=False), SystemClock(), lambda _: None, state=state, control_socket=channel
            )
            async with local:
                yield local
    finally:
        state.close()


async def exchange(directory: Path, *lines: bytes) -> list[Any]:
    """What comes back for these lines."""
    reader, writer = await asyncio.open_unix_connection(str(directory / NAME))
    try:
        for line in lines:
            writer.write(line + b"\n")
        writer.write_eof()
        async with asyncio.timeout(20):
            return [msgspec.json.decode(line) for line in (await reader.read()).splitlines()]
    finally:
        writer.close()
        await writer.wait_closed()


def asked(directory: Path, request: Ping | Say | Why) -> list[Any]:
    """What the client of the command line gets."""
    connection = connect(directory)
    assert connection is not None
    with connection:
        return list(connection.ask(request))


async def test_the_three_requests(tmp_path: Path) -> None:
    async with assistant(tmp_path):
        assert isinstance(*await asyncio.to_thread(asked, tmp_path, Ping()), Pong)
        heard, *spoken, ended = await asyncio.to_thread(asked, tmp_path, Say("say hello world"))
        assert (heard, spoken) == (Accepted(), [SpokenText("hello world")])
        assert isinstance(ended, Ended)
        assert ended.outcome == "complete"
        (explained,) = await asyncio.to_thread(asked, tmp_path, Why(ended.utterance_id))
        assert isinstance(explained, Explained)
        assert '"say hello world"  session default' in explained.text


async def test_an_utterance_is_said_in_the_session_of_the_device_or_in_a_named_one(tmp_path: Path) -> None:
    async with assistant(tmp_path) as local:
        desk = b'{"do": "say", "utterance": "help", "session": "desk"}'
        await exchange(tmp_path, desk, b'{"do": "say", "utterance": "frobnicate"}')
        traces = list(local.runtime.traces)
        assert [trace.session_id for trace in traces] == ["say-desk", "default"]
        assert local.runtime.store.current.active_handlers == ()


async def test_an_unknown_turn_or_language_is_refused(tmp_path: Path) -> None:
    async with assistant(tmp_path):
        answers = await exchange(
            tmp_path,
            b'{"do": "why"}',
            b'{"do": "why", "id": "zz"}',
            b'{"do": "say", "utterance": "hallo", "lang": "fr"}',
            b'{"do": "say", "utterance": "hallo", "lang": "de-de"}',
        )
    assert [answer.get("reason", "") for answer in answers] == [
        "this assistant has had no turn yet",
        "this assistant has had no turn whose id begins with zz",
        "this assistant does not understand fr; it understands de-DE, en-US",
        "",
        "",  # what it says of that
        "",
    ]


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"hello",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"do": "dance"}',
        b'{"do": "say"}',
        b'{"do": "say", "utterance": 7}',
        b'{"do": "why", "id": null}',
        b"\xff\xfe\x00",
        b'{"do": "say", "utterance": "\xff"}',
        b'{"do": "say", "utterance": "\\ud800"}',
        b"[" * 100_000,
    ],
)
async def test_garbage_is_refused_and_the_connection_goes_on(tmp_path: Path, garbage: bytes) -> None:
    async with assistant(tmp_path):
        refused, *_, pong = await exchange(tmp_path, garbage, b'{"do": "ping"}')
        assert refused["is"] in ("refused", "heard")
        assert pong["is"] == "pong"


async def test_a_request_without_end_is_refused(tmp_path: Path) -> None:
    async with assistant(tmp_path):
        with suppress(ConnectionError):  # the rest of it is not even read
            await exchange(tmp_path, b"x" * 2_000_000)
        assert (await exchange(tmp_path, b'{"do": "ping"}'))[0]["is"] == "pong"


async def test_half_a_request_is_nothing(tmp_path: Path) -> None:
    async with assistant(tmp_path):
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / NAME))
        writer.write(b'{"do": "ping"')
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()


async def test_a_client_that_goes_away_leaves_the_turn_to_its_end(tmp_path: Path) -> None:
    async with assistant(tmp_path) as local:
        ended = asyncio.Semaphore(0)
        local.runtime.bus.on(topics.UTTERANCE_HANDLED, lambda _: ended.release())
        for _ in range(20):
            channel = socket.socket(socket.AF_UNIX)
            channel.connect(str(tmp_path / NAME))
            channel.sendall(b'{"do": "say", "utterance": "say hello"}\n' * 3)
            channel.close()
        assert (await exchange(tmp_path, b'{"do": "ping"}'))[0]["is"] == "pong"
        async with asyncio.timeout(20):
            for _ in range(20):
                await ended.acquire()
    assert {trace.outcome for trace in local.runtime.traces} == {"complete"}


async def test_a_client_that_never_reads_does_not_block_others(tmp_path: Path) -> None:
    async with assistant(tmp_path):
        channel = socket.socket(socket.AF_UNIX)
        channel.setblocking(False)
        channel.connect(str(tmp_path / NAME))
        channel.send(b'{"do": "ping"}\n' * 2_000)
        assert (await exchange(tmp_path, b'{"do": "ping"}'))[0]["is"] == "pong"
        channel.close()


async def test_waiting_clients_are_disconnected_when_the_assistant_stops(tmp_path: Path) -> None:
    async with assistant(tmp_path):
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / NAME))
    assert await reader.read() == b""
    writer.close()
    assert not (tmp_path / NAME).exists()


async def test_a_client_that_connects_early_is_answered_when_the_assistant_is_ready(tmp_path: Path) -> None:
    state = State(tmp_path, SystemClock(), traces=False)
    channel = listening(tmp_path)
    early = asyncio.create_task(asyncio.to_thread(asked, tmp_path, Ping()))
    local = LocalAssistant(
        SETTINGS, plugins(installed=False), SystemClock(), lambda _: None, state=state, control_socket=channel
    )
    async with local:
        assert isinstance((await early)[0], Pong)
    state.close()


def test_the_socket_is_for_its_owner_alone(tmp_path: Path) -> None:
    with listening(tmp_path):
        assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600
        assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_socket_that_was_left_behind_counts_for_nothing_and_is_replaced(tmp_path: Path) -> None:
    listening(tmp_path).close()
    assert connect(tmp_path) is None
    with listening(tmp_path):
        connection = connect(tmp_path)
        assert connection is not None
        connection.__exit__()


def test_there_is_no_connection_where_no_assistant_ran(tmp_path: Path) -> None:
    assert connect(tmp_path / "never") is None
    (tmp_path / NAME).touch()
    assert connect(tmp_path) is None


async def test_a_path_longer_than_a_socket_address_works_all_the_same(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 100) / ("y" * 100)
    async with assistant(deep):
        assert isinstance((await asyncio.to_thread(asked, deep, Ping()))[0], Pong)
        assert (deep / NAME).is_socket()


def test_a_socket_that_cannot_be_created_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    with pytest.raises(StateError, match=f"the control socket {tmp_path / NAME} cannot be created.*--state"):
        listening(tmp_path)


def test_an_assistant_that_hangs_counts_as_silent_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PATIENCE", 0.01)
    with listening(tmp_path):
        connection = connect(tmp_path)
        assert connection is not None
        with connection, pytest.raises(NoAnswer, match="timed out"):
            list(connection.ask(Ping()))


def test_an_assistant_that_does_not_keep_to_the_protocol_counts_as_silent(tmp_path: Path) -> None:
    with listening(tmp_path) as channel:
        connection = connect(tmp_path)
        assert connection is not None
        with connection:
            peer, _ = channel.accept()
            peer.sendall(b"what?\n")
            with pytest.raises(NoAnswer):
                list(connection.ask(Ping()))
            peer.close()
            with pytest.raises(NoAnswer):
                list(connection.ask(Ping()))


async def test_a_client_with_many_requests_does_not_keep_others_waiting(tmp_path: Path) -> None:
    async with assistant(tmp_path):
        busy_reader, busy = await asyncio.open_unix_connection(str(tmp_path / "control.sock"))
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / "control.sock"))
        busy.write(b'{"do": "why"}\n' * 3_000)
        writer.write(b'{"do": "ping"}\n')
        answered: list[str] = []

        async def read(name: str, lines: asyncio.StreamReader, count: int) -> None:
            for _ in range(count):
                await lines.readline()
            answered.append(name)

        async with asyncio.timeout(20):
            await asyncio.gather(read("busy", busy_reader, 3_000), read("other", reader, 1))
        assert answered == ["other", "busy"]
        for one in (busy, writer):
            one.close()
