"""The engines that are compared, each behind the same three calls. An adapter imports its engine when it is made."""

from __future__ import annotations

from importlib import import_module
from typing import Final, NamedTuple, Protocol

from intents.corpus import Corpus


class Answer(NamedTuple):
    """What an engine makes of a sentence."""

    intent: str | None
    score: float
    """From 0 to 1, larger is surer; 0 when there is no intent."""
    slots: dict[str, str]


NONE: Final = Answer(None, 0.0, {})


class Engine(Protocol):
    """One engine. Made with `free=True` it names its best guess however unsure it is, for curves."""

    def __init__(self, free: bool) -> None: ...

    def train(self, corpus: Corpus) -> None:
        """Learn everything; afterwards `match` can be called."""

    def add(self, name: str, templates: list[str], spoken: list[str]) -> None:
        """Learn one intent more; afterwards `match` knows it."""

    def match(self, text: str) -> Answer:
        """The best intent for a sentence."""


class Kind(NamedTuple):
    """What has to be known about an engine before it is made."""

    label: str
    tiers: tuple[float, ...] = ()
    """The score limits it ships with, strictest first. Empty: it has none of its own."""
    scored: bool = True
    """Whether its score says more than yes or no."""
    slots: bool = True
    third: bool = False
    """So slow that only a fixed random third of the test sentences is asked."""
    seeds: int = 5
    """At most so many draws of samples."""
    once: bool = False
    """So slow that its speed is measured in one round only, and kept."""
    largest: int = 1000
    """The largest number of intents its speed is measured with."""
    ours: bool = False


OVOS_TIERS: Final = (0.95, 0.8, 0.5)

KINDS: Final[dict[str, Kind]] = {
    "hark": Kind("Hark", ours=True),
    "rapidfuzz": Kind("rapidfuzz scan", slots=False),
    "tfidf": Kind("TF-IDF + logistic regression", slots=False, once=True, largest=100),
    "hassil": Kind("hassil", scored=False, third=True),
    "padacioso": Kind("padacioso", tiers=OVOS_TIERS),
    "nebulento": Kind("nebulento", tiers=OVOS_TIERS, third=True, once=True),
    "padatious": Kind("padatious", tiers=OVOS_TIERS, third=True, seeds=3, once=True, largest=100),
}


def make(name: str, free: bool = False) -> Engine:
    """The engine of that name."""
    engine: Engine = import_module(f"intents.engines.{name}_engine").Adapter(free)
    return engine
