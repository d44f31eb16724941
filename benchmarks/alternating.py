"""Two checkouts of Hark against each other: `python benchmarks/alternating.py ../before --rounds 7`.

Runs each tree's own `benchmarks/hark_side.py`, with its own `src` first on the path and the same Python, each time in a
new process. The two take turns, and which one is first changes from round to round, so that whatever else the machine
does hits both. One run of each comes before and does not count: it compiles what is imported. Both run from copies in a
temporary folder: a tree that is also installed in the Python used would need half a megabyte less than the other.

With `--whole` it is the assistant as installed, with all default plugins and skills: both trees run `whole_side.py` of
the tree this file is in.

Prints the medians over the rounds, the ratio new/old of these medians, that of the best runs (on a busy machine the one
to trust), and the lowest and highest ratio of one round. New is the tree this file is in, unless `--new` names another.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
PATIENCE = 600.0

Result = dict[str, Any]


class Figure(NamedTuple):
    """One thing that is measured in every run."""

    label: str
    unit: str
    of: Callable[[Result], float]


FIGURES = (
    Figure("matched turn, p50", "µs", lambda result: statistics.median(result["matched"]) * 1e6),
    Figure("unmatched turn, p50", "µs", lambda result: statistics.median(result["unmatched"]) * 1e6),
    Figure("memory when ready", "MB", lambda result: result["rss_bytes"] / 1e6),
    Figure("start to ready", "ms", lambda result: result["ready_seconds"] * 1e3),
)


class Checkout:
    """A copy of a tree's sources and benchmarks."""

    def __init__(self, root: Path, copy: Path, python: str, arguments: list[str], *, whole: bool) -> None:
        self.root = copy
        for folder in ("src", "benchmarks"):
            shutil.copytree(root / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        if whole:
            for name in ("whole_side.py", "hark_side.py", "workload.py"):
                shutil.copy(HERE / name, copy / "benchmarks" / name)
        program = "whole_side.py" if whole else "hark_side.py"
        self._command = [python, str(self.root / "benchmarks" / program), *arguments]
        self._environment = {**os.environ, "PYTHONPATH": str(self.root / "src")}
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else every start would compile what it imports
        used = self._run([python, "-c", "import hark; print(hark.__file__)"]).strip()
        if not Path(used).resolve().is_relative_to(self.root):
            sys.exit(f"{self.root}: Python imports {used} instead")

    def measure(self) -> Result:
        result: Result = json.loads(self._run(self._command))
        return result

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, env=self._environment, cwd=self.root
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-4000:]}")
        return done.stdout


def rounds(new: Checkout, old: Checkout, number: int) -> list[tuple[Result, Result]]:
    """So many pairs of results, new and old."""
    pairs = []
    for one in range(number + 1):
        print(f"round {one} of {number}" if one else "first run of each, not counted", file=sys.stderr)
        first, second = (new, old) if one % 2 else (old, new)
        found = {checkout: checkout.measure() for checkout in (first, second)}
        pairs.append((found[new], found[old]))
    return pairs[1:]


def show(pairs: list[tuple[Result, Result]], limit: float) -> None:
    print(f"{'':22}{'new':>10}{'old':>10}{'':4}{'new/old':>10}{'best':>8}   in single rounds")
    for figure in FIGURES:
        both = [(figure.of(new), figure.of(old)) for new, old in pairs]
        new, old = (statistics.median(values) for values in zip(*both, strict=True))
        best = min(mine for mine, _ in both) / min(theirs for _, theirs in both)
        single = [mine / theirs for mine, theirs in both]
        verdict = f"  over {limit:g}" if new / old > limit else ""
        spread = f"{min(single):.3f} to {max(single):.3f}"
        ratios = f"{new / old:10.3f}{best:8.3f}   {spread}"
        print(f"{figure.label:22}{new:10,.1f}{old:10,.1f} {figure.unit:3}{ratios}{verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="the checkout to compare with, such as a worktree of a commit before")
    parser.add_argument("--new", type=Path, default=HERE.parent, help="the checkout that is compared; else this one")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--turns", type=int, default=1_500, help="turns of each kind in one run")
    parser.add_argument("--skills", type=int, default=1)
    parser.add_argument("--whole", action="store_true", help="all default plugins and skills instead of one matcher")
    parser.add_argument("--limit", type=float, default=1.05, help="ratios above this are marked")
    parser.add_argument("--python", default=sys.executable, help="runs both; has what Hark depends on")
    options = parser.parse_args()
    arguments = ["--turns", str(options.turns)] + ([] if options.whole else ["--skills", str(options.skills)])
    print(f"new {options.new.resolve()}\nold {options.old.resolve()}")
    skills = "all default" if options.whole else options.skills
    print(f"{options.rounds} rounds, {options.turns} turns of each kind, {skills} skills\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        new, old = (
            Checkout(root, Path(folder, name).resolve(), options.python, arguments, whole=options.whole)
            for root, name in ((options.new, "new"), (options.old, "old"))
        )
        pairs = rounds(new, old, options.rounds)
    show(pairs, options.limit)


if __name__ == "__main__":
    main()
