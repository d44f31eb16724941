"""The client of OVOS on its own server: `own_ovos.py URL SUBSCRIBERS MESSAGES ROUNDS`, figures as JSON."""

from __future__ import annotations

import json
import os
import statistics
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from ovos_bus_client import Message, MessageBusClient

WIRE = (Path(__file__).resolve().parents[1] / "message.json").read_text()
WINDOW = 200


def connected(url: str) -> MessageBusClient:
    address = urlsplit(url)
    client = MessageBusClient(host=address.hostname, port=address.port, route=address.path)
    client.run_in_thread()
    assert client.connected_event.wait(20)
    return client


def round_trip(url: str, rounds: int) -> tuple[float, float]:
    one, other = connected(url), connected(url)
    message = Message.deserialize(WIRE)
    answered = threading.Event()
    other.on("bench.question", lambda m: other.emit(m.forward("bench.answer", m.data)))
    one.on("bench.answer", lambda _: answered.set())
    question = message.forward("bench.question", message.data)
    times = []
    for _ in range(rounds):
        answered.clear()
        began = time.perf_counter()
        one.emit(question)
        assert answered.wait(20)
        times.append(time.perf_counter() - began)
    cuts = statistics.quantiles(times[rounds // 10 :], n=100)
    return cuts[49] * 1e6, cuts[98] * 1e6


def throughput(url: str, subscribers: int, messages: int) -> float:
    sender, *others = [connected(url) for _ in range(subscribers + 1)]
    counts = [0] * subscribers
    lock = threading.Lock()
    message = Message.deserialize(WIRE)
    message.msg_type = "bench.note"
    for number, client in enumerate(others):

        def got(_: Message, number: int = number) -> None:
            with lock:
                counts[number] += 1

        client.on("bench.note", got)
    time.sleep(0.5)
    began = time.perf_counter()
    sent = 0
    while min(counts) < messages:
        while sent < min(messages, min(counts) + WINDOW):
            sender.emit(message)
            sent += 1
        time.sleep(0.001)
        if time.perf_counter() - began > 120:
            raise TimeoutError
    return messages / (time.perf_counter() - began)


url, subscribers, messages, rounds = sys.argv[1], *map(int, sys.argv[2:])
p50, p99 = round_trip(url, rounds)
print(json.dumps({"p50": p50, "p99": p99, "rate": throughput(url, subscribers, messages)}), flush=True)
os._exit(0)
