"""Hark's services on a stock ovos-messagebus, with a program outside that knows only the specifications."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from time import monotonic

import pytest

from flow.hark_process import eventually, free_port
from interop.conftest import Assistant, Peer, peers
from interop.test_programs import THINKER, Bus, piped, program


@pytest.mark.peers("bus")
def test_a_program_on_a_stock_bus(world: Assistant, peer: Peer) -> None:
    [python] = [one for one in peers("program") if one.name == "program-python"]
    port = free_port()
    url = f"ws://127.0.0.1:{port}/core"
    config = world.home / "config" / "mycroft" / "mycroft.conf"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"websocket": {"host": "127.0.0.1", "port": port, "route": "/core", "ssl": False}}))
    kept = {name: value for name, value in world.environment.items() if not name.startswith("PYTHON")}
    bus_process = [peer.folder / "bin" / "ovos-messagebus"]
    services = [word for name in ("hear", "understand", "act", "speak") for word in ("--service", name)]
    with subprocess.Popen(bus_process, env=kept, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as stock:
        try:
            eventually(lambda: world.hark("bus", "pipe", "--bus", url, said="").returncode == 0)
            with world.running("run", "--bus", url, *services) as hark:
                eventually((world.state / "control.sock").exists)
                with piped(world, url) as process, program(python.python, THINKER, url, "6", "specifications"):
                    bus = Bus(process)
                    eventually(lambda: "It is" in world.hark("say", "what time is it").stdout)
                    began = monotonic()
                    bus.say("think about the specifications", {"session_id": "a"})
                    bus.until(lambda one: one.get("data", {}).get("utterance") == "I have thought.")
                    bus.topic("ovos.intent.handler.complete")
                    assert 16 <= monotonic() - began < 20, "it spoke after 6 s and was quiet for 10"
                    ends = [one for one in bus.messages if one["type"] == "ovos.intent.handler.error"]
                    assert ends == []
                hark.signal(signal.SIGTERM)
                assert hark.end()[0] == 0
        finally:
            os.kill(stock.pid, signal.SIGKILL)
