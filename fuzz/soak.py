"""Honest and hostile clients at the same time, for minutes: `python fuzz/soak.py --minutes 10`.

Quiet and attacked spells alternate, so that whatever else the machine does hits both. A turn counts as quiet when no
attack was under way, nor had been for two seconds. Ends with 1 unless every accepted utterance of the honest clients
had exactly one marker, no attack saw a promise broken, the p99 of the attacked turns was at most five times that of the
quiet ones, and the memory and descriptors of the assistant in the last fifth of the time are within 5 % of those
between the first and the second fifth. On loopback only.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from multiprocessing import get_context
from multiprocessing.queues import Queue
from typing import NamedTuple

from attacks import bus, control, frames, identity, ovos, registrations, sessions, strangers, wire
from attacks.target import Broken, HonestClient, Target, running

PAUSE = 0.1
"""Seconds between two turns of an honest client."""
CLIENTS = 4
BREATH = 0.5
"""Seconds between two attacks of an attacker."""
ATTACKERS = 3
SPELL, QUIET = 24.0, 9.0
"""Seconds after which attackers pause again, and for how long they do."""
AFTERMATH = 2.0
"""Seconds after an attack in which turns are not quiet yet."""

_COUNTS = {"giant messages": 2, "slow readers": 10, "slow followers": 4, "long names": 5, "crowds": 60}


def _wire(name: str) -> Callable[[Target], Awaitable[object]]:
    dice = random.Random(name)
    return lambda target: wire.ATTACKS[name](target.url, dice, _COUNTS.get(name, 20))


def attacks() -> dict[str, Callable[[Target], Awaitable[object]]]:
    """What attackers do: all that a client can do on the wire, by Messages, and at the control socket."""
    found = {name: _wire(name) for name in wire.ATTACKS if name != "bound token"}
    found |= {one.name: one.run for one in bus.ATTACKS if one.name not in found}
    found |= {one.name: one.run for one in strangers.ATTACKS if one.run not in strangers.ALONE}
    found |= {one.name: one.run for one in ovos.ATTACKS if one.run not in ovos.ALONE}
    found |= {one.name: one.run for one in identity.ATTACKS if one.run not in identity.ALONE}
    found |= {one.name: one.run for one in frames.ATTACKS}
    found |= {one.name: one.run for one in sessions.ATTACKS if one.run not in sessions.ALONE}
    found |= {one.name: one.run for one in registrations.ATTACKS if one.run not in registrations.ALONE}
    found |= {one.name: one.run for one in control.ATTACKS}
    return found


class Sample:
    """Memory and descriptors of the assistant, once a second."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._began = time.monotonic()
        self.taken: list[tuple[float, float, int]] = []

    async def go_on(self) -> None:
        while True:
            self.taken.append((time.monotonic() - self._began, self._target.memory, self._target.descriptors))
            await asyncio.sleep(1)

    def between(self, begin: float, end: float) -> tuple[float, float]:
        """Of a part of the time: the median of memory, and the fewest descriptors: attacks have some open."""
        found = [one for one in self.taken if begin <= one[0] < end]
        return statistics.median(one[1] for one in found), min(one[2] for one in found)


class Talk:
    """Honest clients, and how long each of their turns took."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.turns: list[tuple[float, float]] = []
        """When each began, and how long it took."""
        self.wrong: list[str] = []
        self.unanswered = 0
        """Turns that ended with their one marker, and were turned away: the assistant had too many open."""

    async def go_on(self, stop: asyncio.Event) -> None:
        async with HonestClient(self._target.url) as honest:
            while not stop.is_set():
                at = time.monotonic()
                try:
                    answers, seconds = await honest.ask("say hello", within=30)
                    self.turns.append((at, seconds))
                    if not answers:
                        self.unanswered += 1
                    elif answers != ["hello"]:
                        self.wrong.append(f"answered {answers!r}")
                except Broken as broken:
                    self.wrong.append(str(broken))
                await asyncio.sleep(PAUSE)
            await asyncio.sleep(1)
            self.wrong += [f"{count} markers" for count in honest.markers.values() if count != 1]


class Attempt(NamedTuple):
    """One attack: when it began and ended, and what broke."""

    name: str
    began: float
    ended: float
    broken: str


def attack(target: Target, seed: int, begin: float, end: float, into: Queue[list[Attempt]]) -> None:
    """Attack until the end, in a process of its own: what attackers compute must not delay the honest clients."""
    logging.disable(logging.CRITICAL)
    into.put(asyncio.run(_attack(target, random.Random(seed), begin, end)))


async def _attack(target: Target, dice: random.Random, begin: float, end: float) -> list[Attempt]:
    kinds, made, left = attacks(), [], list[str]()
    while time.monotonic() < end:
        await asyncio.sleep(max(0.0, QUIET - (time.monotonic() - begin) % SPELL))
        if not left:  # all of them in another order each time: every part of the soak has the same attacks
            left = dice.sample(sorted(kinds), len(kinds))
        name, began, broken = left.pop(), time.monotonic(), ""
        try:
            async with asyncio.timeout(60):
                await kinds[name](target)
        except (Broken, OSError, TimeoutError) as error:
            broken = f"{name}: {error!r}"
        made.append(Attempt(name, began, time.monotonic(), broken))
        await asyncio.sleep(BREATH)
    return made


async def talk_for(target: Target, end: float) -> tuple[Talk, Sample]:
    """Honest clients, until the end."""
    stop, talk, sample = asyncio.Event(), Talk(target), Sample(target)
    talking = [asyncio.create_task(talk.go_on(stop)) for _ in range(CLIENTS)]
    sampling = asyncio.create_task(sample.go_on())
    await asyncio.sleep(end - time.monotonic())
    stop.set()
    await asyncio.gather(*talking)
    sampling.cancel()
    return talk, sample


def soak(target: Target, minutes: float) -> int:
    """Run it; 0 when every promise was kept."""
    began = time.monotonic()
    end = began + minutes * 60
    context = get_context("fork")
    made: Queue[list[Attempt]] = context.Queue()
    attackers = [
        context.Process(target=attack, args=(target, seed, began, end - 5, made), daemon=True)
        for seed in range(ATTACKERS)
    ]
    for attacker in attackers:
        attacker.start()
    talk, sample = asyncio.run(talk_for(target, end))
    attempts = [attempt for _ in attackers for attempt in made.get(timeout=90)]
    return report(talk, sample, attempts, minutes * 60)


def split(turns: list[tuple[float, float]], attempts: list[Attempt]) -> tuple[list[float], list[float]]:
    """How long the turns took that no attack could have delayed, and all others."""
    quiet: list[float] = []
    attacked: list[float] = []
    for at, seconds in turns:
        is_attacked = any(one.began < at + seconds and at < one.ended + AFTERMATH for one in attempts)
        (attacked if is_attacked else quiet).append(seconds)
    return quiet, attacked


def report(talk: Talk, sample: Sample, attempts: list[Attempt], length: float) -> int:
    quiet, busy = split(talk.turns, attempts)
    failed = [attempt.broken for attempt in attempts if attempt.broken]
    before, after = p99(quiet), p99(busy)
    early = sample.between(length / 5, length * 2 / 5)
    late = sample.between(length * 4 / 5, length)
    growth = [last / first - 1 for first, last in zip(early, late, strict=True)]
    print(f"{len(talk.turns)} honest turns, {len(talk.wrong)} of them without exactly one marker")
    for wrong in talk.wrong[:10]:
        print(f"  {wrong}")
    print(f"{talk.unanswered} of them were turned away while the assistant was overloaded")
    kinds = len({attempt.name for attempt in attempts})
    print(f"{len(attempts)} attacks of {kinds} kinds, {len(failed)} of which saw a promise broken")
    for one in failed[:10]:
        print(f"  {one}")
    medians = [statistics.median(times) * 1000 for times in (quiet, busy)]
    print("honest p50 {:.1f} ms quiet, {:.1f} ms attacked".format(*medians))
    print(f"honest p99 {before * 1000:.1f} ms quiet, {after * 1000:.1f} ms attacked: {after / before:.1f} times")
    print(f"slowest honest turn {max(busy) * 1000:.0f} ms attacked, {max(quiet) * 1000:.0f} ms quiet")
    for at, seconds in sorted(talk.turns, key=lambda turn: -turn[1])[:5]:
        during = [one.name for one in attempts if one.began < at + seconds and at < one.ended]
        print(f"  {seconds * 1000:6.0f} ms during {' + '.join(during) or 'nothing'}")
    print(f"memory {early[0]:.1f} MB, then {late[0]:.1f} MB: {growth[0]:+.1%}")
    parts = [sample.between(length * part / 10, length * (part + 1) / 10)[0] for part in range(10)]
    print(f"  in each tenth of the time: {', '.join(f'{part:.0f}' for part in parts)}")
    print(f"descriptors {early[1]:.0f}, then {late[1]:.0f}: {growth[1]:+.1%}")
    broken = {
        "markers": bool(talk.wrong),
        "attacks": bool(failed),
        "p99": after > 5 * before,
        "memory": growth[0] > 0.05,
        "descriptors": growth[1] > 0.05,
    }
    names = [name for name, is_broken in broken.items() if is_broken]
    print(f"BROKEN: {', '.join(names)}" if names else "held")
    return 1 if names else 0


def p99(times: list[float]) -> float:
    return statistics.quantiles(times, n=100)[98]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (10)")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # the attackers write to connections that are gone
    with running() as target:
        return soak(target, options.minutes)


if __name__ == "__main__":
    sys.exit(main())
