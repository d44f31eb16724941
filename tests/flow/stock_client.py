"""The example of docs/bus.md with the real client of OVOS, in a process of its own.

`stock_client.py PORT TIMES BLOCK` runs the block so often and prints what was spoken, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from threading import Semaphore
from typing import Any

from ovos_bus_client import Message, MessageBusClient

_PATIENCE = 20


def main(port: str, times: str, block: str) -> None:
    listener = MessageBusClient(host="127.0.0.1", port=int(port), route="/core")
    listener.run_in_thread()
    assert listener.connected_event.wait(_PATIENCE)
    spoken: list[str] = []
    ended = Semaphore(0)

    def note(message: Message) -> None:
        spoken.append(message.data["utterance"])

    def end(_message: Message) -> None:
        ended.release()

    listener.on("ovos.utterance.speak", note)
    listener.on("ovos.utterance.handled", end)
    names: dict[str, Any] = {}
    for _ in range(int(times)):
        exec(compile(block, "docs/bus.md", "exec"), names)
        assert ended.acquire(timeout=_PATIENCE)
    sys.stdout.write(json.dumps(spoken))
    sys.stdout.flush()
    os._exit(0)  # its threads do not end


if __name__ == "__main__":
    main(*sys.argv[1:])
