"""Thousands of commands through fake engines: does every one end once, and does anything pile up?

.venv/bin/python benchmarks/listening.py --commands 10000
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import resource
import time

from hark.spec import topics
from hark.testing.voice.soak import Soak, Soaked


async def soak(commands: int, seed: int) -> Soaked:
    return await Soak(seed).run(commands)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commands", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # microphones are unplugged all the time
    began = time.perf_counter()
    soaked = asyncio.run(soak(options.commands, options.seed))
    took = time.perf_counter() - began
    for name, topic in (
        ("recordings", topics.LISTENER_RECORD_STARTED),
        ("utterances", topics.UTTERANCE_HANDLE),
        ("not understood", topics.STT_FAILED),
        ("cancelled", topics.UTTERANCE_CANCELLED),
    ):
        print(f"{name:<18}{soaked.topics[topic]}")
    print(f"{'cut short':<18}{soaked.dropped}")
    print(f"{'each ended once':<18}{'yes' if soaked.whole else 'NO'}")
    first, later, last = soaked.blocks[0], soaked.blocks[3], soaked.blocks[-1]
    print(f"{'blocks in use':<18}{first} at the start, {later} at 30 %, {last} at the end")
    print(f"{'memory at most':<18}{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.1f} MB")
    print(f"{'seconds':<18}{took:.1f}")


if __name__ == "__main__":
    main()
