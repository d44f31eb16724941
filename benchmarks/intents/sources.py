"""Where the sentences come from: files that are given, and a set of our own that is always there."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Final, NamedTuple

from intents.fewshot import Row, draw, read

SAMPLES: Final = 10
"""Taught of each intent of the public sets."""
HOUSE: Final = Path(__file__).resolve().parent / "house.txt"
HALF: Final = 6
"""Taught of each intent of the house; the other half is asked. There are twelve."""

KIN: Final = ("play_music", "weather", "restaurant", "playlist", "song", "reservation", "how_busy")
"""Intents of CLINC150 that SNIPS has too: no strangers there."""

_SLOT = re.compile(r"\[([^\]]+)\]\((\w+)\)")


class Task(NamedTuple):
    """What is taught and what is asked, for one seed."""

    drawn: dict[str, list[Row]]
    test: list[Row]
    foreign: list[Row]
    """Nothing should match."""


class Files:
    """A public data set in a folder; out of scope is what CLINC150 says is out of scope."""

    def __init__(self, name: str, folder: Path) -> None:
        self._train = read(folder / f"{name}-train.jsonl")
        self._test = read(folder / f"{name}-test.jsonl")
        self._foreign = read(folder / "clinc150-oos.jsonl")

    def task(self, seed: int) -> Task:
        """Another draw of samples for each seed, the same test."""
        return Task(draw(self._train, SAMPLES, seed), self._test, self._foreign)


class House:
    """The set of our own: a seed decides which half of each intent is taught and which is asked."""

    def __init__(self, text: str) -> None:
        self._known, self._foreign = read_house(text)

    def task(self, seed: int) -> Task:
        """Another split for each seed, the same sentences out of scope."""
        rng = random.Random(f"house {seed}")
        drawn, test = {}, []
        for intent, rows in self._known.items():
            mixed = rng.sample(rows, len(rows))
            drawn[intent] = mixed[:HALF]
            test += mixed[HALF:]
        return Task(drawn, test, self._foreign)


def read_house(text: str) -> tuple[dict[str, list[Row]], list[Row]]:
    """The intents with their sentences, and the sentences that mean none: `## name`, then a sentence a line."""
    known: dict[str, list[Row]] = {}
    foreign: list[Row] = []
    intent: str | None = None
    for line in text.splitlines():
        if line.startswith("## "):
            intent = None if line[3:] == "-" else line[3:]
        elif line and not line.startswith("#"):
            slots = tuple((slot[2], slot[1]) for slot in _SLOT.finditer(line))
            row = Row(_SLOT.sub(r"\1", line), intent, slots)
            (foreign if intent is None else known.setdefault(intent, [])).append(row)
    return known, foreign


def source(name: str, folder: Path) -> Files | House:
    """The set of that name."""
    return House(HOUSE.read_text()) if name == "house" else Files(name, folder)
