"""How many source files one text turn passes: `python benchmarks/turn_files.py [--list]`.

What is counted: the distinct files under `hark/`, `hark/testing` left out, in which at least one Python function is
called between saying an utterance and the end of its turn, on the event loop or on a thread that is started meanwhile
(`sys.setprofile`, `threading.setprofile`).

What is played: `hark.testing.Assistant`, one process, its local bus, the matchers of the default pipeline, no
transformers, and one skill with a `quick` handler that returns a sentence. The utterance matches a template with a slot
in the default session. A first turn is played before, so that what is imported or built on first use does not count.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import hark
from hark.plugins import Turn
from hark.skills import Skill, intent
from hark.testing import Assistant

ROOT = Path(hark.__file__).resolve().parent


class Lamp(Skill):
    id = "lamp.skill"
    quick = True

    @intent("turn on the {room} lamp")
    def on(self, turn: Turn) -> str:
        return f"{turn.slots['room']} is lit"


async def files_of_a_turn() -> list[Path]:
    """The files that one matched turn passes, relative to `hark/`."""
    called: set[str] = set()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            called.add(frame.f_code.co_filename)

    async with Assistant(Lamp()) as assistant:
        await assistant.hears("turn on the kitchen lamp")
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            spoken = await assistant.hears("turn on the bath lamp")
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    if spoken != ["bath is lit"]:
        sys.exit(f"the turn was not matched: {spoken}")
    inside = (Path(name).relative_to(ROOT) for name in called if Path(name).is_relative_to(ROOT))
    return sorted(path for path in inside if path.parts[0] != "testing")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="print the files as well")
    options = parser.parse_args()
    files = asyncio.run(files_of_a_turn())
    print(f"one text turn passes {len(files)} files")
    if options.list:
        print(*files, sep="\n")


if __name__ == "__main__":
    main()
