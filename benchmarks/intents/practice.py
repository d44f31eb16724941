"""Tasks made of training data alone, for choosing weights and the floor that ships: `practice.py --data FOLDER`.

Nothing here reads a test file. Of every task: accuracy without a floor, accuracy where 2, 5 and 10 % of the strangers
are claimed, and accuracy and false claims at the floor that ships. Strangers are sentences of intents that were held
back (`held back`), or of another data set (`elsewhere`).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from intents.engines.hark_engine import Adapter  # noqa: E402
from intents.fewshot import Row, draw, read, teach  # noqa: E402
from intents.run import DATA  # noqa: E402
from intents.scores import Judged, Spread, accuracy, claims, curve, right_at  # noqa: E402
from intents.sources import KIN, Task  # noqa: E402

SHIPPED: Final = 0.5
LANGUAGES: Final = ("en", "de", "fr", "es", "nl", "pl")

Make = Callable[[int], Task]


def split(rows: list[Row], seed: int, hidden: int, taught: int, asked: int) -> tuple[Task, list[Row]]:
    """`taught` and `asked` rows of each intent but for the hidden ones, and the rows of those."""
    rng = random.Random(f"practice {seed}")
    names = sorted({row.intent for row in rows if row.intent is not None})
    away = set(rng.sample(names, hidden))
    drawn = draw([row for row in rows if row.intent not in away], taught, 1000 + seed)
    used = {row.text for some in drawn.values() for row in some}
    test = []
    for name in drawn:
        left = [row for row in rows if row.intent == name and row.text not in used]
        test += rng.sample(left, min(asked, len(left)))
    return Task(drawn, test, []), [row for row in rows if row.intent in away]


def held_back(rows: list[Row], hidden: int, taught: int, asked: int) -> Make:
    """Strangers are the sentences of hidden intents."""

    def make(seed: int) -> Task:
        task, away = split(rows, seed, hidden, taught, asked)
        return task._replace(foreign=random.Random(seed).sample(away, min(600, len(away))))

    return make


def elsewhere(rows: list[Row], others: list[Row], hidden: int, asked: int) -> Make:
    """Strangers are the sentences of another data set."""

    def make(seed: int) -> Task:
        task, _ = split(rows, seed, hidden, 10, asked)
        return task._replace(foreign=random.Random(seed).sample(others, 600))

    return make


def home(lang: str) -> list[Row]:
    """Two sentences drawn from each of Home Assistant's templates, where no two intents have the same."""
    import home_assistant_intents

    import home_assistant

    data: dict[str, Any] = json.loads(
        (Path(home_assistant_intents.__file__).parent / "data" / f"{lang}.json").read_text()
    )
    found: dict[str, dict[str, None]] = {}
    for drawn in home_assistant.from_sources(data, 2, 5):
        found.setdefault(" ".join(drawn.text.lower().split()), {})[drawn.intent] = None
    rows = [Row(text, next(iter(owners))) for text, owners in found.items() if len(owners) == 1]
    large = {row.intent for row in rows if sum(other.intent == row.intent for other in rows) >= 16}
    return [row for row in rows if row.intent in large]


def tasks(data: Path) -> Iterator[tuple[str, Make]]:
    """Every task by name."""
    clinc, snips = read(data / "clinc150-train.jsonl"), read(data / "snips-train.jsonl")
    apart = [row for row in clinc if not any(part in str(row.intent) for part in KIN)]
    yield "CLINC150, 120 intents; held back", held_back(clinc, 30, 10, 15)
    yield "CLINC150, 120 intents; elsewhere", elsewhere(clinc, snips, 30, 15)
    yield "CLINC150, 30 intents; held back", held_back(clinc, 120, 10, 15)
    yield "SNIPS, 7 intents; elsewhere", elsewhere(snips, apart, 0, 100)
    yield "SNIPS, 6 intents; held back", held_back(snips, 1, 10, 100)
    for lang in LANGUAGES:
        rows = home(lang)
        yield f"Home Assistant, {lang}; held back", held_back(rows, len({row.intent for row in rows}) // 4, 8, 25)


def figures(task: Task) -> list[float]:
    """What Hark makes of one task."""
    engine = Adapter(free=True)
    engine.train(teach(task.drawn))
    answered = [(row, engine.match(row.text)) for row in task.test]
    known = [Judged(row.intent, answer.intent, answer.score) for row, answer in answered]
    foreign = [Judged(None, *engine.match(row.text)[:2]) for row in task.foreign]
    points = curve(known, foreign)
    at = [right_at(points, false) for false in (0.02, 0.05, 0.10)]
    return [accuracy(known, 0.0), *at, accuracy(known, SHIPPED), claims(foreign, SHIPPED)]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the JSON lines (or HARK_NLU_DATA)")
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    print("| task; strangers | no floor | at 2 % | at 5 % | at 10 % | as shipped | false claims |")
    print("|---|---|---|---|---|---|---|")
    for name, make in tasks(options.data):
        columns = zip(*[figures(make(seed)) for seed in range(options.seeds)], strict=True)
        cells = [f"{100 * Spread.of(column).mean:.1f}" for column in columns]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
