"""Speed and memory on synthetic intents: every engine and every size in a fresh process."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from intents.engines import KINDS
from intents.jobs import Failed, Jobs
from intents.synthetic import make

SIZES: Final = (10, 100, 1000)
SORTS: Final = ("matched", "unrelated", "near miss")
QUESTIONS: Final = 500
BUDGET: Final = 15.0
"""Seconds for each sort of question: a slow engine is asked fewer of them."""


class Timed(NamedTuple):
    """One engine with one number of intents; seconds, medians over the rounds."""

    engine: str
    intents: int
    train: float
    p50: dict[str, float]
    mean: dict[str, float]
    claimed: dict[str, float]
    """Share of each sort that was claimed at the floor that ships (for an engine without one: at all)."""
    right: float
    """Share of the matched ones whose intent was named."""
    asked: int
    """Fewest sentences of a sort that were asked in a round."""
    add: float
    """One intent more."""
    add_and_match: float
    """One intent more, and the first match after it."""
    bytes_per_intent: float | None


def measure(
    jobs: Jobs, engines: Sequence[str], sizes: Sequence[int], rounds: int, note: Callable[[str], None]
) -> list[Timed]:
    """Every engine with every size. The engines take turns, so that what else the machine does hits all of them."""
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    memory: dict[tuple[str, int], float] = {}
    for turn in range(rounds):
        for size in sizes:
            for engine in engines:
                kind = KINDS[engine]
                if size > kind.largest or (turn and kind.once):
                    continue
                note(f"speed: {engine}, {size} intents, round {turn + 1}")
                try:
                    # What is measured once is kept: it is too slow for its ratio to be in doubt.
                    found.setdefault((engine, size), []).append(jobs.run(_job(engine, size), keep=kind.once))
                    if (engine, size) not in memory:
                        memory[engine, size] = _memory(jobs, engine, size)
                except Failed as failure:
                    note(str(failure))
    return [_timed(*key, results, memory.get(key)) for key, results in found.items() if results]


def _job(engine: str, size: int) -> dict[str, Any]:
    made = make(size, QUESTIONS)
    tiers = KINDS[engine].tiers
    return {
        "kind": "speed",
        "engine": engine,
        "corpus": made.corpus.to_json(),
        "more": made.more,
        "questions": made.questions,
        "right": made.right,
        "budget": BUDGET,
        "floor": tiers[-1] if tiers else 0.0,
    }


def _memory(jobs: Jobs, engine: str, size: int) -> float:
    corpus = make(size, 10).corpus
    small, written = corpus.head(2).to_json(), json.dumps(corpus.to_json())
    job = {"kind": "memory", "engine": engine, "corpus": small, "written": written}
    result = jobs.run(job, keep=KINDS[engine].once)
    return float(result["after"] - result["before"]) / size


def _timed(engine: str, size: int, results: Sequence[dict[str, Any]], memory: float | None) -> Timed:
    def over(figure: Callable[[dict[str, Any]], float]) -> float:
        return statistics.median(figure(result) for result in results)

    def each(figure: Callable[[Sequence[int]], float]) -> dict[str, float]:
        return {sort: over(lambda result, sort=sort: figure(result["nanoseconds"][sort]) / 1e9) for sort in SORTS}  # type: ignore[misc]

    return Timed(
        engine,
        size,
        train=over(lambda result: result["train_seconds"]),
        p50=each(statistics.median),
        mean=each(statistics.fmean),
        claimed={sort: results[0]["claimed"][sort] for sort in SORTS},
        right=results[0]["right"],
        asked=min(len(result["nanoseconds"][sort]) for result in results for sort in SORTS),
        add=over(lambda result: statistics.median(result["add"]["alone"])) / 1e9,
        add_and_match=over(lambda result: statistics.median(result["add"]["and_match"])) / 1e9,
        bytes_per_intent=memory,
    )
