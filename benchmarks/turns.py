"""Hark and ovos-core side by side: `make bench`.

Each side runs in a venv of its own, in one process, on its own in-process bus, with the same stages, the same skills
and the same utterances, silent handlers and a fresh session each turn. The sides take turns, so that whatever else the
machine does hits both. Prints every run, the ratios, what they were required to be, and the rows where Hark loses.

`make bench ARGS=--conversation` measures the middle of a conversation instead: every stage loaded on both sides, the
device's own session, and ten skills that were called a moment ago and may want what is said next.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peer_ovos"))

from install import InstallError, ensure  # noqa: E402

Result = dict[str, Any]
VENVS = HERE / ".venvs"


class Side(NamedTuple):
    """One measured program."""

    name: str
    command: tuple[str, ...]


class Row(NamedTuple):
    """One figure of both sides."""

    label: str
    ours: float
    theirs: float
    unit: str
    factor: float
    """How many times better Hark is; below one it loses."""
    required: float


def prepare(note: Callable[[str], None]) -> tuple[Path, Path]:
    """The Python of each side; makes the venvs where they are missing."""
    note("preparing the venv of ovos-core (a minute, the first time)")
    for line in ensure(VENVS / "ovos"):
        note(line)
    ours = VENVS / "hark"
    if not (ours / "bin" / "python").exists():
        note("preparing the venv of Hark")
        venv.create(ours, with_pip=True)
    install = [ours / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", HERE.parent]
    subprocess.run([*map(str, install), "--force-reinstall", "--no-deps"], check=True, stderr=subprocess.DEVNULL)
    subprocess.run([str(part) for part in install], check=True, stderr=subprocess.DEVNULL)
    return ours / "bin" / "python", VENVS / "ovos" / "bin" / "python"


def run(command: Sequence[str]) -> Result:
    """One process, one JSON object."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-4000:]}")
    result: Result = json.loads(done.stdout)
    return result


def percentile(seconds: Sequence[float], share: float) -> float:
    """The value below which `share` of the sorted `seconds` lie."""
    return sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * share))]


def middle(results: Sequence[Result], figure: Callable[[Result], float]) -> float:
    """The median over the runs of one figure."""
    return statistics.median(figure(result) for result in results)


def one_more(result: Result) -> float:
    """Seconds that one more no-op transformer costs."""
    loop = result["transformer_loop"]
    return float(loop["20"] - loop["0"]) / 20


def codec(result: Result) -> float:
    """Seconds to decode and encode the shared message."""
    return float(result["message"]["deserialize"] + result["message"]["serialize"])


def rows_for(skills: int, ours: list[Result], theirs: list[Result]) -> list[Row]:
    """The comparison with this many skills."""
    required = {1: (30.0, 50.0), 10: (25.0, 150.0)}[skills]
    rows = []
    for kind, wanted in zip(("matched", "unmatched"), required, strict=True):
        mine = middle(ours, lambda result, kind=kind: percentile(result[kind], 0.5))  # type: ignore[misc]
        peer = middle(theirs, lambda result, kind=kind: percentile(result[kind], 0.5))  # type: ignore[misc]
        rows.append(Row(f"{kind} turn p50, {skills} skills", mine * 1e6, peer * 1e6, "µs", peer / mine, wanted))
    ready = middle(ours, lambda result: result["ready_seconds"]), middle(theirs, lambda result: result["ready_seconds"])
    rows.append(Row(f"start to ready, {skills} skills", ready[0] * 1e3, ready[1] * 1e3, "ms", ready[1] / ready[0], 7.0))
    rss = middle(ours, lambda result: result["rss_bytes"]), middle(theirs, lambda result: result["rss_bytes"])
    rows.append(Row(f"memory when ready, {skills} skills", rss[0] / 1e6, rss[1] / 1e6, "MB", rss[1] / rss[0], 2.5))
    return rows


def shared_rows(ours: list[Result], theirs: list[Result]) -> list[Row]:
    """What does not depend on the number of skills."""
    step = middle(ours, one_more), middle(theirs, one_more)
    both = middle(ours, codec), middle(theirs, codec)
    return [
        Row("one more no-op transformer", step[0] * 1e6, step[1] * 1e6, "µs", step[1] / step[0], 1 / 6),
        Row("decode and encode a message", both[0] * 1e6, both[1] * 1e6, "µs", both[1] / both[0], 5.0),
    ]


def show(rows: Sequence[Row]) -> None:
    """The table of ratios."""
    print(f"\n{'':36} {'Hark':>12} {'ovos-core':>12}      {'ratio':>8} {'required':>9}")
    for row in rows:
        verdict = "" if row.factor >= row.required else "  MISSED"
        ours, theirs = f"{row.ours:,.1f}", f"{row.theirs:,.1f}"
        ratio = f"{row.factor:8.2f}x {row.required:8.2f}x"
        print(f"{row.label:36} {ours:>12} {theirs:>12} {row.unit:4} {ratio}{verdict}")
    losing = [row.label for row in rows if row.factor < 1]
    print("\nHark loses in: " + ("; ".join(losing) or "no row"))


def show_runs(name: str, skills: int, results: Sequence[Result]) -> None:
    """Every run of one side."""
    for number, result in enumerate(results, 1):
        parts = []
        for kind in ("matched", "unmatched"):
            p50, p99 = (percentile(result[kind], share) * 1e6 for share in (0.5, 0.99))
            parts.append(f"{kind} p50 {p50:8,.0f} p99 {p99:8,.0f} µs")
        ready, rss = result["ready_seconds"], result["rss_bytes"] / 1e6
        print(f"  {name:12} {skills:3} skills, run {number}: {', '.join(parts)}, ready {ready:5.2f} s, {rss:5.1f} MB")


def show_own(measured: dict[tuple[str, int], list[Result]]) -> None:
    """What is required of Hark alone."""
    few, many = measured["hark local", 1], measured["hark local", 100]
    print("\nHark alone (p99 to p50 at most 5; from 1 to 100 skills at most 1.5 times):")
    for kind in ("matched", "unmatched"):

        def p50(result: Result, kind: str = kind) -> float:
            return percentile(result[kind], 0.5)

        def p99(result: Result, kind: str = kind) -> float:
            return percentile(result[kind], 0.99)

        tail = middle(few, p99) / middle(few, p50)
        growth = middle(many, p50) / middle(few, p50)
        best = min(map(p50, many)) / min(map(p50, few))
        grown = f"100 skills cost {growth:.2f} times 1 skill, {best:.2f} by best runs"
        print(f"  {kind:10} p99 is {tail:.2f} times p50; {grown}")


def conversation(hark: Callable[[], Result], ovos: Callable[[], Result], runs: int) -> dict[str, list[Result]]:
    """Measure and print the middle of a conversation."""
    measured: dict[str, list[Result]] = {"hark": [], "ovos-core": []}
    for number in range(1, runs + 1):
        print(f"run {number} of {runs}", file=sys.stderr)
        measured["hark"].append(hark())
        measured["ovos-core"].append(ovos())
    rows = []
    for name, results in measured.items():
        print(f"{name}: {results[0]['active']} skills active; stages: {', '.join(results[0]['stages'])}")
        show_runs(name, 10, results)
    for kind, required in (("matched", 60.0), ("unmatched", 100.0)):

        def p50(result: Result, kind: str = kind) -> float:
            return percentile(result[kind], 0.5)

        mine, peer = middle(measured["hark"], p50), middle(measured["ovos-core"], p50)
        rows.append(Row(f"{kind} turn p50, 10 active", mine * 1e6, peer * 1e6, "µs", peer / mine, required))
    show(rows)
    return measured


def plain(hark: Callable[..., Result], ovos: Callable[..., Result], runs: int) -> dict[tuple[str, int], list[Result]]:
    """Measure and print turns in fresh sessions."""
    measured: dict[tuple[str, int], list[Result]] = {}
    for number in range(1, runs + 1):
        for skills in (1, 10, 100):
            print(f"run {number} of {runs}, {skills} skills", file=sys.stderr)
            measured.setdefault(("hark local", skills), []).append(hark("local", skills))
            if skills < 100:  # its training does not end in useful time
                measured.setdefault(("ovos-core", skills), []).append(ovos(skills))
                measured.setdefault(("hark wire", skills), []).append(hark("wire", skills))
    for name in ("hark local", "ovos-core"):
        first = measured[name, 1][0]
        print(f"{name}: {', '.join(f'{package} {version}' for package, version in first['versions'].items())}")
        print(f"  stages: {', '.join(first['stages'])}")
        for line in first.get("notes", ()):
            print(f"  note: {line}")
    for (name, skills), results in measured.items():
        show_runs(name, skills, results)
    rows = [
        row
        for skills in (1, 10)
        for row in rows_for(skills, measured["hark local", skills], measured["ovos-core", skills])
    ]
    show([*rows, *shared_rows(measured["hark local", 1], measured["ovos-core", 1])])
    show_own(measured)
    return measured


def main() -> None:
    """Prepare, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversation", action="store_true", help="every stage, ten active skills, one session")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--turns", type=int, default=300, help="turns of each kind and run of ovos-core; Hark does five times as many"
    )
    parser.add_argument(
        "--stages",
        choices=("template", "all"),
        default="template",
        help="what ovos-core loads; Hark has the stages of template",
    )
    parser.add_argument("--json", type=Path, help="also write every result to this file")
    options = parser.parse_args()
    try:
        ours, theirs = prepare(lambda text: print(text, file=sys.stderr))
    except InstallError as error:
        sys.exit(str(error))

    def hark(bus: str, skills: int, *more: str) -> Result:
        script = [str(ours), str(HERE / "hark_side.py"), "--skills", str(skills), "--bus", bus]
        return run([*script, "--turns", str(options.turns * 5), *more])

    def ovos(skills: int, *more: str) -> Result:
        script = [str(theirs), str(HERE / "peer_ovos" / "measure.py"), "--stages", options.stages]
        return run([*script, "--skills", str(skills), "--turns", str(options.turns), *more])

    if options.conversation:
        middle_of_it = ("--stages", "all", "--session", "default")
        found = conversation(lambda: hark("local", 10, *middle_of_it), lambda: ovos(10, *middle_of_it), options.runs)
        if options.json is not None:
            options.json.write_text(json.dumps(found))
        return

    measured = plain(hark, ovos, options.runs)
    if options.json is not None:
        options.json.write_text(json.dumps({f"{name}, {skills}": found for (name, skills), found in measured.items()}))


if __name__ == "__main__":
    main()
