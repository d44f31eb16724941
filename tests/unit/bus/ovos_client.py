"""The real client of OVOS in a process of its own: its threads and sockets are not ours to tidy up.

`ovos_client.py PART HOST PORT ROUTE` prints what it has seen as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from threading import Event
from typing import Any

from ovos_bus_client import Message, MessageBusClient

_PATIENCE = 20


def connect(host: str, port: str, route: str) -> MessageBusClient:
    client = MessageBusClient(host=host, port=int(port), route=route)
    client.RECONNECT_INITIAL_S = 0.1  # seconds until it connects again; else 5
    client.run_in_thread()
    assert client.connected_event.wait(_PATIENCE)
    return client


def ask(*address: str) -> Any:
    """Ask, and say what was answered."""
    request = Message("test.ask", {"n": 1}, {"source": "ovos"})
    reply = connect(*address).wait_for_response(request, timeout=_PATIENCE)
    return reply and {"type": reply.msg_type, "data": reply.data, "destination": reply.context["destination"]}


def talk(*address: str) -> Any:
    """Two of them: what each hears of what one of them says."""
    heard: list[list[int]] = [[], []]
    over = [Event(), Event()]
    clients = [connect(*address), connect(*address)]
    for number, client in enumerate(clients):

        def hear(message: Message, number: int = number) -> None:
            heard[number].append(message.data["n"])
            if len(heard[number]) == 20:
                over[number].set()

        client.on("test.note", hear)
    for n in range(20):
        clients[0].emit(Message("test.note", {"n": n}))
    assert all(event.wait(_PATIENCE) for event in over)
    # It calls listeners on threads of a pool, and so does not keep the order itself.
    return [sorted(numbers) for numbers in heard]


def stay(*address: str) -> Any:
    """Wait to be welcomed, over a restart of the server."""
    welcomed = Event()
    connect(*address).on("test.welcome", lambda _: welcomed.set())
    return welcomed.wait(_PATIENCE)


if __name__ == "__main__":
    parts: dict[str, Callable[..., Any]] = {"ask": ask, "talk": talk, "stay": stay}
    sys.stdout.write(json.dumps(parts[sys.argv[1]](*sys.argv[2:])))
    sys.stdout.flush()
    os._exit(0)
