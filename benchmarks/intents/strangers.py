"""How much Hark claims of what is meant, and of what is not, ten plain sentences an intent, as it ships.

*far*: claims on CLINC150's out-of-scope sentences (those of the house for the house). *near*: claims on the sentences
of a fifth of the intents, which are left out. *at 5 %*: accuracy where the floor lets 5 % of the far strangers in.
Nothing here is used to choose a weight or a floor: those come from the training files (docs/matching.md).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from hark.intents import LOOSE, NORMAL, Found, TemplatePool, lookup
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID, topics
from intents.fewshot import Row, plain
from intents.sources import source

FAR: Final = 0.05
_LEFT_OUT: Final = 5


class StrangerResult(NamedTuple):
    """Percentages, but for the time."""

    name: str
    top: float
    right: float
    wrong: float
    far: float
    near: float
    far_loose: float
    right_loose: float
    at_five: float
    near_at_five: float
    microseconds: float


class _Taught:
    def __init__(self, drawn: dict[str, list[Row]]) -> None:
        self._pool = TemplatePool()
        self._session = Session("benchmark")
        for intent, rows in drawn.items():
            data = {
                "skill_id": "b.skill",
                "lang": "en",
                "intent_name": intent,
                "samples": [plain(r.text) for r in rows],
            }
            self._pool.apply(topics.REGISTER_TEMPLATE, data, DEFAULT_SESSION_ID)

    def microseconds(self, rows: list[Row]) -> float:
        """The processor time of a match as it ships."""
        began = time.process_time()
        for row in rows:
            lookup(self._pool, row.text, "en", self._session, time.time)
        return (time.process_time() - began) / len(rows) * 1e6

    def ask(self, rows: Iterable[Row]) -> list[tuple[str, float]]:
        """The best intent of each sentence with its score, whatever the floor."""
        found = [lookup(self._pool, row.text, "en", self._session, time.time, 0.0) for row in rows]
        return [(one.intent.intent_name, one.score) if isinstance(one, Found) else ("", 0.0) for one in found]


def measure_strangers(name: str, data: Path, seeds: int) -> StrangerResult:
    """The mean over some draws."""
    draws = [_draw(name, data, seed) for seed in range(seeds)]
    return StrangerResult(name, *[statistics.mean(figures) for figures in zip(*draws, strict=True)])


def _draw(name: str, data: Path, seed: int) -> tuple[float, ...]:
    task = source(name, data).task(seed)
    taught = _Taught(task.drawn)
    micros = taught.microseconds(task.test)
    answers = taught.ask(task.test)
    is_right = [label == row.intent for (label, _), row in zip(answers, task.test, strict=True)]
    scores = [score for _, score in answers]
    strangers = sorted([score for _, score in taught.ask(task.foreign)], reverse=True)
    left_out = sorted(task.drawn)[seed % _LEFT_OUT :: _LEFT_OUT]
    fewer = _Taught({intent: rows for intent, rows in task.drawn.items() if intent not in left_out})
    near = [score for _, score in fewer.ask([row for row in task.test if row.intent in left_out])]
    floor = strangers[int(FAR * len(strangers))]

    def share(hits: Iterable[bool]) -> float:
        hits = list(hits)
        return 100 * sum(hits) / len(hits)

    return (
        share(is_right),
        share(right and score >= NORMAL for right, score in zip(is_right, scores, strict=True)),
        share(not right and score >= NORMAL for right, score in zip(is_right, scores, strict=True)),
        share(score >= NORMAL for score in strangers),
        share(score >= NORMAL for score in near),
        share(score >= LOOSE for score in strangers),
        share(right and score >= LOOSE for right, score in zip(is_right, scores, strict=True)),
        share(right and score > floor for right, score in zip(is_right, scores, strict=True)),
        share(score > floor for score in near),
        micros,
    )


def stranger_table(results: Iterable[StrangerResult]) -> str:
    """The results as a table."""
    lines = [
        "| set | first choice | normal: right | wrong | far | near | loose: right | far | at 5 % | near there | µs |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for one in results:
        lines.append(
            f"| {one.name} | {one.top:.1f} | {one.right:.1f} | {one.wrong:.1f} | {one.far:.1f} | {one.near:.1f} "
            f"| {one.right_loose:.1f} | {one.far_loose:.1f} | {one.at_five:.1f} | {one.near_at_five:.1f} "
            f"| {one.microseconds:.0f} |"
        )
    return "\n".join(lines)
