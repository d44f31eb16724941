"""What the translation for OVOS clients costs: the same skill as one of OVOS and as the specifications have it.

    python benchmarks/ovos_bridge.py [TURNS]

An assistant runs in a process of its own; the skill and the client that talks to it are one bare websocket client here.
Both kinds take turns, a block of each at a time. The processor time is that of the assistant, for a whole turn with all
Messages of it; its memory is read after the first block and at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final, cast

from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

BLOCK: Final = 250
"""Turns of one kind before the other's."""
SESSION: Final = {"session_id": "default", "lang": "en-US", "pipeline": ["adapt_high"] * 13, "persona_id": None}


class Skill(WSListener):
    """A skill that answers, and the client that says its sentence."""

    def __init__(self) -> None:
        self.transport: WSTransport
        self.skill_id = ""
        self.is_ovos = False
        self.seen: set[str] = set()
        self.ended = asyncio.Event()
        self.more = asyncio.Event()

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type != WSMsgType.TEXT:
            return
        message = json.loads(frame.get_payload_as_bytes())
        topic, context = message["type"], message.get("context", {})
        self.seen.add(topic)
        self.more.set()
        if topic.startswith(f"{self.skill_id}:"):
            self._answer(topic, context)
        elif topic == "ovos.utterance.handled":
            self.ended.set()

    def _answer(self, topic: str, context: dict[str, Any]) -> None:
        if self.is_ovos:
            context = {**context, "session": SESSION}
            self.send("mycroft.skill.handler.start", {"name": "brew"}, context)
            self.send("speak", {"utterance": "Here it is.", "expect_response": False, "lang": "en-US"}, context)
            self.send("mycroft.skill.handler.complete", {"name": "brew"}, context)
            self.send("ovos.utterance.handled", {"name": "brew"}, context)
        else:
            self.send("ovos.utterance.speak", {"utterance": "Here it is.", "lang": "en-US"}, context)
            self.send("hark.handler.done", {"topic": topic}, context)

    def send(self, topic: str, data: dict[str, Any] | None = None, context: dict[str, Any] | None = None) -> None:
        wire = {"type": topic, "data": data or {}, "context": context or {}}
        self.transport.send(WSMsgType.TEXT, json.dumps(wire).encode())

    async def through(self) -> None:
        """Wait until the bus has what was sent."""
        self.seen.discard("bench.through")
        self.send("bench.through")
        while "bench.through" not in self.seen:
            self.more.clear()
            await self.more.wait()

    async def load(self, skill_id: str, word: str, *, is_ovos: bool) -> None:
        """Register one intent."""
        self.skill_id, self.is_ovos = skill_id, is_ovos
        samples = {"lang": "en-US", "samples": [f"brew some {word} now"]}
        if is_ovos:
            self.send("ovos.session.sync", context={"session": SESSION})
            self.send(
                "padatious:register_intent", {"name": f"{skill_id}:brew.intent", **samples}, {"skill_id": skill_id}
            )
            self.send("mycroft.skills.loaded", {"id": skill_id})
        else:
            self.send("ovos.skill.loaded", {"skill_id": skill_id, "capabilities": ["converse"], "completes": True})
            self.send("ovos.intent.register.template", {"skill_id": skill_id, "intent_name": "brew", **samples})
        await self.through()

    async def turn(self, word: str, session_id: str) -> float:
        """The seconds of one turn."""
        self.ended.clear()
        began = perf_counter()
        context = {"session": {"session_id": session_id}}
        topic = "recognizer_loop:utterance" if self.is_ovos else "ovos.utterance.handle"
        self.send(topic, {"utterances": [f"brew some {word} now"], "lang": "en-US"}, context)
        async with asyncio.timeout(30):
            await self.ended.wait()
        return perf_counter() - began


def processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> int:
    [line] = [one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("VmRSS")]
    return int(line.split()[1])


async def measure(url: str, pid: int, turns: int) -> None:
    kinds = {"OVOS": ("tea.openvoiceos", "tea"), "specifications": ("coffee.example", "coffee")}
    took: dict[str, list[float]] = {kind: [] for kind in kinds}
    spent = dict.fromkeys(kinds, 0.0)
    sizes: list[int] = []
    for number in range(max(1, turns // BLOCK)):
        for kind, (skill_id, word) in kinds.items():
            transport, listener = await ws_connect(Skill, url)
            skill = cast("Skill", listener)
            skill.transport = transport
            await skill.load(f"{skill_id}", word, is_ovos=kind == "OVOS")
            for _ in range(20):  # the first ones find caches empty
                await skill.turn(word, "bench")
            before = processor_time(pid)
            took[kind] += [await skill.turn(word, "bench") for _ in range(BLOCK)]
            spent[kind] += processor_time(pid) - before
            transport.disconnect()
            await asyncio.sleep(0.2)
        sizes.append(memory(pid))
        print(f"block {number + 1}: {sizes[-1]} KiB", file=sys.stderr)
    for kind in kinds:
        each, usual = spent[kind] / len(took[kind]) * 1e6, median(took[kind]) * 1e6
        print(f"{kind:15} {len(took[kind])} turns, median {usual:.0f} µs, processor {each:.0f} µs a turn")
    added = spent["OVOS"] / len(took["OVOS"]) - spent["specifications"] / len(took["specifications"])
    print(f"the translation adds {added * 1e6:.0f} µs of processor time to a turn")
    print(f"memory after the first block {sizes[0]} KiB, at the end {sizes[-1]} KiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("turns", type=int, nargs="?", default=1_000)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "hark.toml"
        port = 18_790
        settings.write_text(f"[bus]\nport = {port}\nrate = 0\n")
        command = [sys.executable, "-m", "hark", "run", "--stay", "--settings", str(settings), "--state", folder]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            try:
                asyncio.run(_when_there(f"ws://127.0.0.1:{port}/core", process.pid, turns))
            finally:
                process.terminate()


async def _when_there(url: str, pid: int, turns: int) -> None:
    for _ in range(600):
        try:
            transport, _ = await ws_connect(WSListener, url)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            transport.disconnect()
            break
    await measure(url, pid, turns)


if __name__ == "__main__":
    main()
