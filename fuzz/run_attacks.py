"""Attack Hark by everything it reads: `python fuzz/run_attacks.py`, or `make attacks`. Takes some four minutes.

Each attack is tried on an assistant in processes of its own, on loopback only. Afterwards the assistant has to be
there, answer an honest client once, and hold no more memory and descriptors than before, within bounds. Prints each
attack with its outcome and what it cost, and ends with 1 when a promise was broken. Needs the extra `nats`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from attacks import (
    broker,
    bus,
    command_line,
    control,
    files,
    frames,
    identity,
    ovos,
    registrations,
    servers,
    sessions,
    strangers,
    tokens,
)
from attacks.target import Attack, Broken, Target, running, still_answers

MOST_MEMORY = 120.0
"""MB that one attack may cost."""
MOST_DESCRIPTORS = 40
APART = [
    one
    for one in (*bus.ATTACKS, *strangers.ATTACKS, *identity.ATTACKS)
    if one.run
    in (
        bus.foreign_deregistration,
        bus.foreign_ends,
        strangers.lookalikes,
        strangers.forged_ends,
        identity.forged_calls,
        identity.copied_markers,
    )
]
"""Those that are tried on several processes as well: the websocket server is in another one than the skills there."""
LONGEST = 120.0
"""Seconds that one attack may take."""


@dataclass
class Row:
    """What came of one attack."""

    attack: Attack
    is_kept: bool
    outcome: str
    memory: float
    seconds: float

    def __str__(self) -> str:
        mark = "held  " if self.is_kept else "BROKEN"
        return (
            f"{mark} {self.attack.surface:<15} {self.attack.name:<38} {self.memory:+7.1f} MB {self.seconds:6.1f} s  "
            f"{self.outcome}"
        )


async def attempt(attack: Attack, target: Target) -> Row:
    """Try an attack, and look what it left."""
    memory, descriptors, began = target.memory, target.descriptors, time.monotonic()
    try:
        async with asyncio.timeout(LONGEST):
            outcome = await attack.run(target)
            await still_answers(target)
        left = target.descriptors - descriptors
        cost = target.memory - memory
        is_kept = cost < MOST_MEMORY and left < MOST_DESCRIPTORS
        if not is_kept:
            outcome = f"{outcome}; it cost {cost:.0f} MB and {left} descriptors"
    except Broken as broken:
        is_kept, outcome = False, str(broken)
    except Exception as error:  # noqa: BLE001 - the run goes on, and says so
        is_kept, outcome = False, repr(error)
    return Row(attack, is_kept, outcome, target.memory - memory, time.monotonic() - began)


def attack_all(attacks: Iterable[Attack], *more: str) -> list[Row]:
    """Try attacks on one assistant, one after the other; one that does not survive is replaced."""
    waiting, rows = list(attacks), []
    while waiting:
        with running(*more) as target:
            while waiting and target.is_alive:
                row = asyncio.run(attempt(waiting.pop(0), target))
                print(row, flush=True)
                rows.append(row)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="only attacks whose surface or name contains this")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # the attackers write to connections that are gone

    def chosen(attacks: Iterable[Attack]) -> list[Attack]:
        return [one for one in attacks if options.only in one.surface or options.only in one.name]

    began = time.monotonic()
    rows = attack_all(
        chosen(
            [
                *identity.ATTACKS,  # first: later ones use up what local clients may register
                *bus.ATTACKS,
                *strangers.ATTACKS,
                *frames.ATTACKS,
                *sessions.ATTACKS,
                *ovos.ATTACKS,
                *control.ATTACKS,
                *files.ATTACKS,
                *command_line.ATTACKS,
                *servers.ATTACKS,
                *tokens.ATTACKS,
                *registrations.ATTACKS,
            ]
        )
    )
    rows += attack_all(chosen([*broker.ATTACKS, *(replace(one, surface="edge") for one in APART)]), "--split")
    broken = [row for row in rows if not row.is_kept]
    print(
        f"{len(rows)} attacks in {time.monotonic() - began:.0f} s: {len(rows) - len(broken)} held, {len(broken)} broken"
    )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
