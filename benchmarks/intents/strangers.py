"""How much Hark claims of what is meant, and of what is not, ten plain sentences an intent, as it ships.

*far*: claims on CLINC150's out-of-scope sentences (those of the house for the house). *near*: claims on the sentences
of a fifth of the intents, which are left out. *at 5 %*: accuracy where the floor lets 5 % of the far strangers in.
Nothing here is used to choose a weight or a floor: those come from the training files (calibration.py).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from hark.intents import LOOSE, NORMAL, Found, TemplatePool, lookup
from hark.intents.sentence_model import MissingModel, SentenceModel, SentenceVectors
from hark.intents.template import ALONE
from hark.model import Session
from hark.spec import DEFAULT_SESSION_ID, topics
from intents.fewshot import Row, plain, teach
from intents.jobs import Failed, Jobs
from intents.sources import Task, source
from intents.tables import title

FAR: Final = 0.05
_LEFT_OUT: Final = 5
_ASKED: Final = 900
_STRANGERS: Final = 500
"""The number of sentences that the sentence model is asked at most: it takes milliseconds."""

Scored = list[tuple[str, float]]
"""The best intent of each sentence with its score, whatever the floor."""


class Taught:
    """The template engine with plain sentences."""

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

    def microseconds(self, rows: Sequence[Row], vectors: SentenceVectors | None = None) -> float:
        """The processor time of a match as it ships."""
        alone = ALONE if vectors is not None else 0.0
        began = time.process_time()
        for row in rows:
            lookup(self._pool, row.text, "en", self._session, time.time, alone=alone, vectors=vectors)
        return (time.process_time() - began) / len(rows) * 1e6

    def ask(self, rows: Iterable[Row], vectors: SentenceVectors | None = None) -> Scored:
        """The best intent of each sentence with its score."""
        alone = ALONE if vectors is not None else 0.0
        found = [
            lookup(self._pool, row.text, "en", self._session, time.time, 0.0, alone=alone, vectors=vectors)
            for row in rows
        ]
        return [(one.intent.intent_name, one.score) if isinstance(one, Found) else ("", 0.0) for one in found]


class Draw(NamedTuple):
    """One draw of samples: what came out for the test, for strangers, and for intents that were left out."""

    right: list[tuple[bool, float]]
    """Whether the first choice is right, and its score."""
    far: list[float]
    near: list[float]
    microseconds: float = 0.0

    @classmethod
    def of(cls, task: Task, known: Scored, far: Scored, near: Scored, microseconds: float = 0.0) -> Draw:
        """The draw with these answers."""
        right = [(label == row.intent, score) for (label, score), row in zip(known, task.test, strict=True)]
        scores = [score for _, score in far]
        return cls(right, sorted(scores, reverse=True), [score for _, score in near], microseconds)

    def at(self, floor: float) -> tuple[float, float, float, float]:
        """Percent right, percent wrong, and percent of the far and near strangers that are claimed."""
        return (
            _percent([hit and score >= floor for hit, score in self.right]),
            _percent([not hit and score >= floor for hit, score in self.right]),
            _percent([score >= floor for score in self.far]),
            _percent([score >= floor for score in self.near]),
        )

    def above(self, share: float) -> tuple[float, float]:
        """Percent right, and percent of the near strangers, where such a share of the far ones is claimed."""
        floor = self.far[int(share * len(self.far))]
        return _percent([hit and score > floor for hit, score in self.right]), _percent(
            [score > floor for score in self.near]
        )

    @property
    def first(self) -> float:
        """Percent right without a floor."""
        return _percent([hit for hit, _ in self.right])


def _percent(hits: Sequence[bool]) -> float:
    return 100 * sum(hits) / len(hits) if hits else 0.0


def _left_out(task: Task, seed: int) -> tuple[dict[str, list[Row]], list[Row]]:
    """What is taught without a fifth of the intents, and the test sentences of those."""
    hidden = sorted(task.drawn)[seed % _LEFT_OUT :: _LEFT_OUT]
    fewer = {intent: rows for intent, rows in task.drawn.items() if intent not in hidden}
    return fewer, [row for row in task.test if row.intent in hidden]


def hark_draws(name: str, data: Path, seeds: int) -> list[Draw]:
    """What Hark answers."""
    made = []
    for seed in range(seeds):
        task = source(name, data).task(seed)
        taught = Taught(task.drawn)
        micros = taught.microseconds(task.test)
        fewer, others = _left_out(task, seed)
        near = Taught(fewer).ask(others)
        made.append(Draw.of(task, taught.ask(task.test), taught.ask(task.foreign), near, micros))
    return made


def yardstick_draws(name: str, data: Path, seeds: int, jobs: Jobs, engine: str = "tfidf") -> list[Draw]:
    """What TF-IDF with logistic regression answers to the same."""

    def ask(drawn: dict[str, list[Row]], rows: Sequence[Row]) -> Scored:
        questions = [row.text for row in rows]
        job = {"kind": "ask", "engine": engine, "free": True, "corpus": teach(drawn).to_json(), "questions": questions}
        return [(intent or "", score) for intent, score, *_ in jobs.run(job, keep=True)["answers"]]

    made = []
    for seed in range(seeds):
        task = source(name, data).task(seed)
        answers = ask(task.drawn, [*task.test, *task.foreign])
        fewer, others = _left_out(task, seed)
        known, far = answers[: len(task.test)], answers[len(task.test) :]
        made.append(Draw.of(task, known, far, ask(fewer, others)))
    return made


def model_rows(names: Iterable[str], data: Path) -> str:
    """A table of what the sentence model adds in one draw, or what is missing for it."""
    try:
        vectors = SentenceVectors(SentenceModel())
    except MissingModel as missing:
        return f"The sentence model is not measured: {missing}"
    lines = [
        "| set | words alone at 5 % | with the model | words alone, *normal* (far) | with the model | ms of a match |",
        "|---|---|---|---|---|---|",
    ]
    for name in names:
        task = source(name, data).task(0)
        step = max(1, len(task.test) // _ASKED)
        task = task._replace(test=task.test[::step][:_ASKED], foreign=task.foreign[:_STRANGERS])
        taught = Taught(task.drawn)
        cells = []
        for which in (None, vectors):
            known, far = taught.ask(task.test, which), taught.ask(task.foreign, which)
            cells.append(Draw.of(task, known, far, [], taught.microseconds(task.test[:200], which)))
        words, both = cells
        lines.append(
            f"| {title(name)} | {words.above(FAR)[0]:.1f} | {both.above(FAR)[0]:.1f} "
            f"| {_normal(words)} | {_normal(both)} "
            f"| {words.microseconds / 1e3:.2f} → {both.microseconds / 1e3:.1f} |"
        )
    return "\n".join(lines)


def _normal(draw: Draw) -> str:
    right = _percent([hit and score >= NORMAL for hit, score in draw.right])
    return f"{right:.1f} ({_percent([score >= NORMAL for score in draw.far]):.1f})"


def _mean(figures: Iterable[float]) -> float:
    return statistics.mean(figures)


def stranger_table(draws: dict[str, list[Draw]], yardstick: dict[str, list[Draw]]) -> str:
    """Hark at its settings, and beside the yardstick where each claims 5 % of the far strangers."""
    lines = [
        "| set | first choice | *normal*: right | wrong | far | near | *loose*: right | wrong | far | near | µs |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, made in draws.items():
        cells = [f"{_mean(one.first for one in made):.1f}"]
        for floor in (NORMAL, LOOSE):
            cells += [f"{_mean(column):.1f}" for column in zip(*[one.at(floor) for one in made], strict=True)]
        cells.append(f"{_mean(one.microseconds for one in made):.0f}")
        lines.append(f"| {title(name)} | {' | '.join(cells)} |")
    lines += [
        "",
        "| at 5 % far | Hark: right | near | TF-IDF + logistic regression: right | near |",
        "|---|---|---|---|---|",
    ]
    for name, made in draws.items():
        cells = []
        for some in (made, yardstick.get(name, [])):
            both = list(zip(*[one.above(FAR) for one in some], strict=True)) or [(), ()]
            cells += [f"{_mean(column):.1f}" if column else "not measured" for column in both]
        lines.append(f"| {title(name)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def measure_strangers(
    names: Sequence[str], data: Path, seeds: int, jobs: Jobs | None
) -> tuple[str, dict[str, list[Draw]]]:
    """The tables, and Hark's draws by set; without `jobs` the yardstick is not asked."""
    draws = {name: hark_draws(name, data, seeds) for name in names}
    yardstick: dict[str, list[Draw]] = {}
    for name in names if jobs is not None else ():
        try:
            yardstick[name] = yardstick_draws(name, data, seeds, jobs)  # type: ignore[arg-type]
        except Failed as failure:
            print(failure)
    return stranger_table(draws, yardstick), draws
