"""Hark's own client on Hark's own server: `own_hark.py URL SUBSCRIBERS MESSAGES ROUNDS`, figures as JSON."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from pathlib import Path

from hark.bus import RemoteBus
from hark.bus.websocket import WebSocketCarrier
from hark.model import Message, SystemClock, decode

MESSAGE = decode((Path(__file__).resolve().parents[1] / "message.json").read_bytes())
WINDOW = 200


async def connected(url: str) -> RemoteBus:
    bus = RemoteBus(WebSocketCarrier(url, SystemClock()))
    await bus.open()
    return bus


async def round_trip(url: str, rounds: int) -> tuple[float, float]:
    one, other = await connected(url), await connected(url)
    times: list[float] = []
    over = asyncio.Event()
    question, answer = MESSAGE.forward("bench.question", MESSAGE.data), MESSAGE.forward("bench.answer", MESSAGE.data)
    sent = time.perf_counter()

    def answered(_: Message) -> None:
        nonlocal sent
        now = time.perf_counter()
        times.append(now - sent)
        if len(times) == rounds:
            over.set()
        else:
            sent = time.perf_counter()
            one.emit(question)

    other.on("bench.question", lambda _: other.emit(answer))
    one.on("bench.answer", answered)
    await one.carrier.flush()
    await other.carrier.flush()
    sent = time.perf_counter()
    one.emit(question)
    await asyncio.wait_for(over.wait(), 120)
    await one.close()
    await other.close()
    cuts = statistics.quantiles(times[rounds // 10 :], n=100)
    return cuts[49] * 1e6, cuts[98] * 1e6


async def throughput(url: str, subscribers: int, messages: int) -> float:
    sender, *others = [await connected(url) for _ in range(subscribers + 1)]
    counts = [0] * subscribers

    for number, bus in enumerate(others):

        def got(_: Message, number: int = number) -> None:
            counts[number] += 1

        bus.on(MESSAGE.type, got)
        await bus.carrier.flush()
    began = time.perf_counter()
    sent = 0
    while min(counts) < messages:
        while sent < min(messages, min(counts) + WINDOW):
            sender.emit(MESSAGE)
            sent += 1
        await asyncio.sleep(0)
        if time.perf_counter() - began > 120:
            raise TimeoutError
    rate = messages / (time.perf_counter() - began)
    for bus in (sender, *others):
        await bus.close()
    return rate


async def main() -> None:
    url, subscribers, messages, rounds = sys.argv[1], *map(int, sys.argv[2:])
    p50, p99 = await round_trip(url, rounds)
    print(json.dumps({"p50": p50, "p99": p99, "rate": await throughput(url, subscribers, messages)}))


asyncio.run(main())
