"""Clients of OVOS on Hark's websocket server, as they are."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import ovos_client
import pytest
from picows import WSMsgType
from websocket_fixtures import connected, eventually, raw, serving

from hark.bus.websocket.translation import ClientLink
from hark.model import Message, decode


async def ovos(part: str, url: str) -> Any:
    """What the real client has seen; see ovos_client.py."""
    address = urlsplit(url)
    script = Path(ovos_client.__file__)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        script,
        part,
        str(address.hostname),
        str(address.port),
        address.path,
        stdout=asyncio.subprocess.PIPE,
    )
    seen, _ = await process.communicate()
    return json.loads(seen.splitlines()[-1])


async def test_an_ovos_client_hears_hark_and_is_heard() -> None:
    async with serving() as (_, url), connected(url) as bus:
        bus.on("test.ask", lambda message: bus.emit(message.response({"n": message.data["n"] + 1})))
        await bus.carrier.flush()
        reply = await ovos("ask", url)
    assert reply == {"type": "test.ask.response", "data": {"n": 2}, "destination": "ovos"}


async def test_ovos_clients_hear_each_other_and_themselves() -> None:
    async with serving() as (_, url):
        assert await ovos("talk", url) == [list(range(20))] * 2


async def test_an_ovos_client_comes_back_when_the_server_does() -> None:
    async with serving() as (server, url):
        staying = asyncio.create_task(ovos("stay", url))
        await eventually(lambda: len(server) == 1)
    async with serving(port=urlsplit(url).port) as (server, url), connected(url) as bus:
        await eventually(lambda: len(server) == 2)
        while not staying.done():  # it may be connected before it listens
            bus.emit(Message("test.welcome"))
            await asyncio.wait({staying}, timeout=0.05)
        assert await staying is True


async def test_the_first_message_is_that_of_ovos_messagebus() -> None:
    async with serving() as (_, url):
        client = await raw(url)
        frames = await client.until(lambda frames: len(frames) == 1)
        assert decode(frames[0]).type == "connected"
        await client.end()


@pytest.mark.spec("MSG-1/3.3.d")
@pytest.mark.spec("MSG-1/5.4.a")
@pytest.mark.spec("MSG-1/2.g")
async def test_every_client_gets_every_message_unchanged_in_one_order() -> None:
    odd = b'{"type": "test.odd", "data": {"x": 1.50}, "extra": [1], "context": {"destination": "somebody else"}}'
    async with serving() as (_, url):
        clients = [await raw(url) for _ in range(3)]
        for client in clients:
            await client.until(lambda frames: len(frames) == 1)
        for number, client in enumerate(clients):
            client.send(odd)
            client.send(b'{"type":"test.note","data":{"n":%d}}' % number)
        frames = [(await client.until(lambda frames: len(frames) == 7))[1:] for client in clients]
        assert frames[0] == frames[1] == frames[2]
        assert frames[0].count(odd) == 3
        for client in clients:
            await client.end()


class Answering:
    """A translator that answers a question for its client, in the moment in which the client gets it."""

    def __init__(self, link: ClientLink) -> None:
        self._link = link

    def from_client(self, message: Message) -> Iterable[Message]:
        return (message,)

    def to_client(self, message: Message) -> Iterable[Message] | None:
        if message.type != "test.question":
            return None
        self._link.emit(message.reply("test.answer"))
        return (message.with_data({"translated": True}),)

    def close(self) -> None: ...


async def test_what_a_translator_emits_follows_the_message_that_each_client_gets_translated() -> None:
    async with serving(translators=Answering) as (_, url):
        clients = [await raw(url) for _ in range(3)]
        for client in clients:
            await client.until(lambda frames: len(frames) == 1)
        clients[0].send(b'{"type":"test.question","data":{}}')
        for client in clients:
            frames = [decode(frame) for frame in (await client.until(lambda frames: len(frames) == 5))[1:]]
            assert [one.type for one in frames] == ["test.question", *["test.answer"] * 3]
            assert frames[0].data == {"translated": True}
            await client.end()


async def test_a_message_in_several_frames_and_in_a_binary_one_arrive() -> None:
    async with serving() as (_, url), connected(url) as bus:
        heard: list[int] = []
        bus.on("test.note", lambda message: heard.append(message.data["n"]))
        await bus.carrier.flush()
        client = await raw(url)
        client.transport.send(WSMsgType.TEXT, b'{"type":"test.', fin=False)
        client.transport.send_ping(b"there?")
        client.transport.send(WSMsgType.CONTINUATION, b'note","data":', fin=False)
        client.transport.send(WSMsgType.CONTINUATION, b'{"n":1}}')
        client.send(b'{"type":"test.note","data":{"n":2}}', WSMsgType.BINARY)
        await client.until(lambda frames: len(frames) == 3)
        await bus.carrier.flush()
        assert heard == [1, 2]
        await client.end()
