"""How fast honest clients are answered while another client has 1,000 slow turns.

    python benchmarks/slow_client.py [--turns 1000] [--rounds 5]

Rounds with and without the slow client alternate in one process, so that other load on the machine meets both. Clients
are bare websocket connections to the server of an assistant. Exit status 1 when a ratio is above 1.5.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
from time import perf_counter

from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from hark.builtin import TemplateMatcher
from hark.bus.websocket import Endpoint, ServerLimits, WebSocketServer
from hark.model import SystemClock
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.testing import Assistant

RATIO = 1.5


class Work(Skill):
    """One intent that takes for ever, and one that does not."""

    id = "work.skill"
    release = asyncio.Event()

    @intent("do the slow thing")
    async def slow(self, turn: Turn) -> str:
        await self.release.wait()
        return "Done at last."

    @intent("do the quick thing")
    def at_once(self, turn: Turn) -> str:
        return "Done."


class Bare(WSListener):
    """A client that counts the ends of its turns."""

    def __init__(self) -> None:
        self.transport: WSTransport
        self.ended: dict[str, asyncio.Event] = {}
        self.markers = 0

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type != WSMsgType.TEXT:
            return
        payload = frame.get_payload_as_bytes()
        if b'"ovos.utterance.handled"' in payload[:60]:
            session_id = json.loads(payload)["context"]["session"]["session_id"]
            if session_id in self.ended:
                self.markers += 1
                self.ended[session_id].set()

    def say(self, text: str, session_id: str) -> asyncio.Event:
        over = self.ended[session_id] = asyncio.Event()
        context = {"session": {"session_id": session_id}}
        message = {"type": "ovos.utterance.handle", "data": {"utterances": [text]}, "context": context}
        self.transport.send(WSMsgType.TEXT, json.dumps(message).encode())
        return over


async def connect(url: str) -> Bare:
    transport, listener = await ws_connect(Bare, url)
    assert isinstance(listener, Bare)
    listener.transport = transport
    return listener


async def honest(client: Bare, number: int, name: str) -> list[float]:
    """Milliseconds from an utterance to its end, one after the other."""
    times = []
    for turn in range(number):
        began = perf_counter()
        await asyncio.wait_for(client.say("do the quick thing", f"{name}{turn}").wait(), 30)
        times.append((perf_counter() - began) * 1000)
    return times


async def measure(turns: int, rounds: int, number: int) -> dict[bool, list[float]]:
    times: dict[bool, list[float]] = {False: [], True: []}
    async with Assistant(Work(), clock=SystemClock(), matchers=(TemplateMatcher,)) as hark:
        server = WebSocketServer(hark.bus, [Endpoint(port=0)], ServerLimits(), SystemClock())
        [url] = await server.start()
        await honest(await connect(url), number, "warm")
        for round_number in range(rounds):
            for is_loaded in (False, True):
                Work.release.clear()
                slow, client = await connect(url), await connect(url)
                waiting = []
                if is_loaded:
                    waiting = [slow.say("do the slow thing", f"slow{turn}") for turn in range(turns)]
                    await honest(client, 20, f"settle{round_number}")
                    still = sum(not one.is_set() for one in waiting)
                    print(f"round {round_number}: {still} slow turns are open, {turns - still} were refused")
                times[is_loaded] += await honest(client, number, f"{round_number}-{is_loaded}-")
                Work.release.set()
                for one in waiting:
                    await asyncio.wait_for(one.wait(), 30)
                if slow.markers != len(waiting):
                    raise SystemExit(f"{len(waiting)} slow turns, {slow.markers} end markers")
                slow.transport.disconnect()
                client.transport.disconnect()
                hark.messages.clear()
        await server.close()
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1_000, help="slow turns of one client (1,000)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--number", type=int, default=400, help="honest turns in each round")
    options = parser.parse_args()
    times = asyncio.run(measure(options.turns, options.rounds, options.number))
    worst = 0.0
    for name, which in (("p50", 49), ("p95", 94)):
        alone, beside = (statistics.quantiles(times[loaded], n=100)[which] for loaded in (False, True))
        worst = max(worst, beside / alone)
        print(f"{name}: {alone:.2f} ms without, {beside:.2f} ms with {options.turns} slow turns: {beside / alone:.2f}")
    return int(worst > RATIO)


if __name__ == "__main__":
    sys.exit(main())
