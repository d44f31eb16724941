"""The assistant as it is installed, with all default plugins and skills, in one process: times of turns, as JSON.

Runs on older trees as well: `alternating.py --whole` starts it with the sources of each.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from typing import Any

from hark.app.runtime import Runtime
from hark.app.settings import settings_from
from hark.builtin import DEFAULT_PLUGINS
from hark.bus import LocalBus
from hark.model import Message
from hark.model.clock import SystemClock
from hark_side import process_start, resident_bytes

MATCHED = ("what time is it", "tell me a joke", "what is two plus three", "what day is it")
UNMATCHED = (
    "the neighbours painted their fence last summer",
    "bring a warm jumper because evenings are long",
    "she wrote three letters to her aunt in the mountains",
    "most of the apples were eaten by wasps",
)
_HANDLED = "ovos.utterance.handled"


async def turns(bus: LocalBus, texts: tuple[str, ...], number: int, warmup: int) -> list[float]:
    """Seconds from an utterance to its end marker, each in a session of its own, one after the other."""
    ended: asyncio.Queue[float] = asyncio.Queue()
    listener = bus.on(_HANDLED, lambda _message: ended.put_nowait(time.perf_counter()))
    found = []
    for one in range(number + warmup):
        context = {"session": {"session_id": f"{texts[0]}-{one}"}}
        began = time.perf_counter()
        bus.emit(Message("ovos.utterance.handle", {"utterances": [texts[one % len(texts)]], "lang": "en-US"}, context))
        found.append(await ended.get() - began)
        await asyncio.sleep(0)
    listener.close()
    return found[warmup:]


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All figures of one run."""
    bus = LocalBus()
    runtime = Runtime(settings_from({}), bus, SystemClock(), [plugin() for plugin in DEFAULT_PLUGINS])
    await runtime.start()
    await turns(bus, MATCHED, 1, 0)
    ready = time.clock_gettime(time.CLOCK_BOOTTIME) - process_start()
    await asyncio.sleep(2.0)  # what is compiled after the start
    result: dict[str, Any] = {"ready_seconds": ready, "rss_bytes": resident_bytes()}
    result["matched"] = await turns(bus, MATCHED, options.turns, 100)
    result["unmatched"] = await turns(bus, UNMATCHED, options.turns, 100)
    await runtime.stop()
    await bus.close()
    return result


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000)
    print(json.dumps(asyncio.run(measure(parser.parse_args()))))


if __name__ == "__main__":
    main()
