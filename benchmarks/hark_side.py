"""Measure Hark: one process, its own in-process bus, the shared workload.

Run by the Python of Hark's own venv. Prints exactly one JSON object on standard output, with the fields of the peer's
(`peer_ovos/README.md` explains them).
"""
# ruff: noqa: E402  (the clock has to be read before anything is imported)

import time

_FIRST_LINE = time.clock_gettime(time.CLOCK_BOOTTIME)

import argparse
import asyncio
import gc
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

import hark
from hark.app.runtime import Runtime
from hark.app.settings import settings_from
from hark.builtin import MATCHERS, Cancel, Normalize, TemplateMatcher
from hark.bus import LocalBus, WireBus
from hark.chains import Flow
from hark.hosting import Registry
from hark.model import Message, Session, SystemClock, decode, encode
from hark.model.session_merge import Denials
from hark.plugins import Ctx, Turn, UtteranceTransformer
from hark.skills import Skill, intent
from hark.spec import topics
from hark.trace import TurnTrace

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from workload import Skill as Wanted
from workload import Utterance, matched, unmatched, workload

BATCHES, BATCH = 15, 2_000
BUSES = {"local": LocalBus, "wire": WireBus}


class BenchmarkError(Exception):
    """Hark did not do what was measured; no figure of this run may be used."""


def synthetic(wanted: Wanted, ran: list[tuple[str, str]], quick: bool) -> Skill:
    """A skill as an author writes it: five intents, silent handlers, `async def` or quick plain ones."""
    members: dict[str, Any] = {"id": wanted.skill_id, "quick": quick}

    def silent(name: str) -> Callable[..., Any]:
        async def handler(_self: Skill, _turn: Turn) -> None:
            ran.append((wanted.skill_id, name))

        def plain(_self: Skill, _turn: Turn) -> None:
            ran.append((wanted.skill_id, name))

        chosen = plain if quick else handler
        chosen.__name__ = name
        return chosen

    for one in wanted.intents:
        members[one.name] = intent(*one.samples)(silent(one.name))
    made: Skill = type("Synthetic", (Skill,), members)()
    return made


class Measured:
    """A running house, and what was seen on its bus."""

    def __init__(self, skills: int, bus: LocalBus, quick: bool = False, stages: str = "template") -> None:
        self.ran: list[tuple[str, str]] = []
        self.ended: list[tuple[str, float]] = []
        self.unmatched: list[str] = []
        self.bus = bus
        self._skills = skills
        matchers = [made() for made in (MATCHERS if stages == "all" else (TemplateMatcher,))]
        plugins = [
            Normalize(),
            Cancel(),
            *matchers,
            *(synthetic(one, self.ran, quick) for one in workload(skills)),
        ]
        pipeline = [matcher.id for matcher in matchers]
        settings = settings_from({"assistant": {"pipeline": pipeline}, "trace": {"disk": False}})
        self.runtime = Runtime(settings, bus, SystemClock(), plugins)
        bus.on(topics.UTTERANCE_HANDLED, self._handled)
        bus.on(topics.INTENT_UNMATCHED, lambda message: self.unmatched.append(message.session_id))
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def start(self) -> None:
        """Start, and wait until every registration has arrived."""
        await self.runtime.start()
        if self.runtime.refusals:
            raise BenchmarkError(f"not loaded: {self.runtime.refusals}")
        while len(self.runtime.orchestrator.manifest) < 5 * self._skills:
            await asyncio.sleep(0)

    def stages(self) -> list[str]:
        """What is loaded, read back from the running house."""
        chained = [f"{kind}:{entry.id}" for kind, chain in self.runtime.chains.items() for entry in chain.deployed()]
        return [*chained, *(f"pipeline:{name}" for name in self.runtime.settings.assistant.pipeline)]

    def _handled(self, message: Message) -> None:
        self.ended.append((message.session_id, time.perf_counter()))
        if not self._done.done():
            self._done.set_result(None)

    async def turn(self, utterance: Utterance, session_id: str) -> float:
        """Seconds from emitting the utterance to its end marker; raises unless exactly the right thing happened."""
        self.ran.clear()
        self.ended.clear()
        self.unmatched.clear()
        self._done = asyncio.get_running_loop().create_future()
        entry = Message(
            topics.UTTERANCE_HANDLE, {"utterances": [utterance.text], "lang": "en-US"}, {}, Session(session_id)
        )
        began = time.perf_counter()
        self.bus.emit(entry)
        await self._done
        wanted = [(utterance.skill_id, utterance.intent_name)] if utterance.skill_id else []
        if self.ran != wanted or bool(self.unmatched) == bool(wanted) or [who for who, _ in self.ended] != [session_id]:
            raise BenchmarkError(f"{utterance}: ran {self.ran}, unmatched {self.unmatched}, ended {self.ended}")
        return self.ended[0][1] - began

    async def turns(self, utterances: list[Utterance], warmup: int, session: str) -> list[float]:
        """The seconds of each turn after the warm-up, each in a session of its own or all in one."""
        return [
            await self.turn(utterance, f"bench-{number}" if session == "fresh" else session)
            for number, utterance in enumerate(utterances)
        ][warmup:]

    def active(self) -> int:
        """How many skills of the device's own session may be offered what is said next."""
        return len(self.runtime.store.current.converse_handlers)


class Noop(UtteranceTransformer):
    """Returns what it got."""

    quick = True

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        return utterances


async def transformer_loop(house: Runtime) -> dict[str, float]:
    """Seconds per utterance through the utterance chain with 0, 1, 5 and 20 no-op transformers."""
    chain = house.chains["utterance"]
    entry = Message(
        topics.UTTERANCE_HANDLE, {"utterances": ["turn on the light"]}, {"utterance_id": "x", "source": "a"}
    )
    session, denials, clock = Session("x"), Denials(), house.clock
    costs: dict[str, float] = {}
    for size in (0, 1, 5, 20):
        registry: Registry[Any] = Registry("utterance transformer")
        for number in range(size):
            registry.add(type("Noop", (Noop,), {"id": f"noop-{number}"})())
        chain.registry = registry
        chain.reorder(None)
        best = float("inf")
        for _ in range(BATCHES):
            began = time.perf_counter()
            for _ in range(BATCH):
                trace = TurnTrace("x", "x", (), 0.0, clock.monotonic)
                await chain.run(Flow(("turn on the light",), "en-US", entry, session, denials), trace)
            best = min(best, (time.perf_counter() - began) / BATCH)
        costs[str(size)] = best
    return costs


def message_costs() -> dict[str, float]:
    """Seconds to decode and to encode the shared message; `open` also reads data, context and session."""
    raw = HERE.joinpath("message.json").read_bytes().strip()
    message = decode(raw)

    def opened() -> None:
        one = decode(raw)
        _ = one.data, one.context, one.session

    return {
        "bytes": len(raw),
        "deserialize": best(lambda: decode(raw)),
        "serialize": best(lambda: encode(message)),
        "open": best(opened),
    }


def best(call: Callable[[], object]) -> float:
    """Seconds per call, best of some batches."""
    found = float("inf")
    for _ in range(BATCHES):
        began = time.perf_counter()
        for _ in range(BATCH):
            call()
        found = min(found, (time.perf_counter() - began) / BATCH)
    return found


def resident_bytes() -> int:
    """VmRSS of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


def process_start() -> float:
    """When the kernel started this process, on the boot-time clock."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return int(fields[19]) / os.sysconf("SC_CLK_TCK")


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All figures of one run."""
    measured = Measured(options.skills, BUSES[options.bus](), options.handler == "quick", options.stages)
    await measured.start()
    ready = time.clock_gettime(time.CLOCK_BOOTTIME)
    result: dict[str, Any] = {
        "versions": {"Python": platform.python_version(), "hark": hark.__version__, "msgspec": msgspec.__version__},
        "skills": options.skills,
        "stages": measured.stages(),
        "bus": options.bus,
        "handler": options.handler,
        "ready_seconds": ready - process_start(),
        "rss_bytes": resident_bytes(),
    }
    total = options.turns + options.warmup
    result["matched"] = await measured.turns(matched(total, options.skills), options.warmup, options.session)
    result["active"] = measured.active()
    result["unmatched"] = await measured.turns(unmatched(total), options.warmup, options.session)
    result["rss_end_bytes"] = resident_bytes()
    gc.collect()
    result["transformer_loop"] = await transformer_loop(measured.runtime)
    result["message"] = message_costs()
    await measured.runtime.stop()
    await measured.bus.close()
    return result


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skills", type=int, default=1)
    parser.add_argument("--bus", choices=BUSES, default="local")
    parser.add_argument("--handler", choices=("async", "quick"), default="async")
    parser.add_argument("--stages", choices=("template", "all"), default="template")
    parser.add_argument("--session", choices=("fresh", "default"), default="fresh")
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--warmup", type=int, default=100)
    print(json.dumps(asyncio.run(measure(parser.parse_args()))))


if __name__ == "__main__":
    main()
