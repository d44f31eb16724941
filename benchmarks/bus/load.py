"""Load on a server, by the same bare clients whichever server it is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

MESSAGE = (Path(__file__).resolve().parents[1] / "message.json").read_bytes().strip()
WINDOW = 200
"""Messages under way at most: a server that is behind is not drowned, it is measured."""


class Bare(WSListener):
    """Counts the frames it gets, and calls `got` with each."""

    def __init__(self) -> None:
        self.transport: WSTransport
        self.count = 0
        self.got: Callable[[], None] | None = None
        self.first = asyncio.Event()

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type != WSMsgType.TEXT:
            return
        self.count += 1
        if self.got is not None:
            self.got()
        elif not self.first.is_set():
            self.first.set()

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...


async def join(url: str) -> Bare:
    transport, client = await ws_connect(Bare, url)
    assert isinstance(client, Bare)
    client.transport = transport
    return client


async def joined(url: str, number: int, greets: bool) -> list[Bare]:
    """Clients that are connected; a bus of OVOS greets each."""
    clients = [await join(url) for _ in range(number)]
    if greets:
        for client in clients:
            await asyncio.wait_for(client.first.wait(), 10)
    return clients


async def leave(clients: list[Bare]) -> None:
    for client in clients:
        client.transport.disconnect(graceful=False)
    await asyncio.sleep(0.1)


async def round_trip(url: str, rounds: int, greets: bool = True) -> list[float]:
    """One says something, another answers: how long that took each time."""
    asking, answering = await joined(url, 2, greets)
    times: list[float] = []
    over = asyncio.Event()
    sent = 0.0
    heard = 0

    def ask() -> None:
        nonlocal sent
        sent = time.perf_counter()
        asking.transport.send(WSMsgType.TEXT, MESSAGE)

    def asker_got() -> None:  # its own question first, then the answer
        nonlocal heard
        heard += 1
        if heard % 2 == 0:
            times.append(time.perf_counter() - sent)
            if len(times) < rounds:
                ask()
            else:
                over.set()

    answers = 0

    def answerer_got() -> None:
        nonlocal answers
        answers += 1
        if answers % 2:
            answering.transport.send(WSMsgType.TEXT, MESSAGE)

    asking.got, answering.got = asker_got, answerer_got
    ask()
    await asyncio.wait_for(over.wait(), 120)
    await leave([asking, answering])
    return times[rounds // 10 :]


async def echo(url: str, rounds: int, greets: bool = True) -> list[float]:
    """A client hears what it said itself: how long that took each time."""
    [client] = await joined(url, 1, greets)
    times: list[float] = []
    over = asyncio.Event()
    sent = 0.0

    def say() -> None:
        nonlocal sent
        sent = time.perf_counter()
        client.transport.send(WSMsgType.TEXT, MESSAGE)

    def got() -> None:
        times.append(time.perf_counter() - sent)
        if len(times) < rounds:
            say()
        else:
            over.set()

    client.got = got
    say()
    await asyncio.wait_for(over.wait(), 120)
    await leave([client])
    return times[rounds // 10 :]


async def throughput(url: str, subscribers: int, messages: int, greets: bool = True) -> float:
    """Messages a second from one client until all subscribers have them."""
    sender, *others = await joined(url, subscribers + 1, greets)
    clients = [sender, *others]
    for client in clients:
        client.count = 0
    over = asyncio.Event()
    sent = 0

    def push() -> None:
        nonlocal sent
        slowest = min(client.count for client in clients)
        if slowest >= messages:
            over.set()
        while sent < min(messages, slowest + WINDOW):
            sender.transport.send(WSMsgType.TEXT, MESSAGE)
            sent += 1

    def got() -> None:
        if sender.count % 20 == 0 or sender.count >= messages:
            push()

    def got_last() -> None:
        push() if clients[-1].count % 20 == 0 else None

    sender.got = got
    clients[-1].got = got_last
    began = time.perf_counter()
    push()
    while not over.is_set():
        push()
        try:
            await asyncio.wait_for(over.wait(), 0.005)
        except TimeoutError:
            if time.perf_counter() - began > 120:
                raise
    rate = messages / (time.perf_counter() - began)
    await leave(clients)
    return rate
