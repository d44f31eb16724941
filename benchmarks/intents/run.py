"""Hark's template engine beside others: `run.py speed|accuracy|curve|strangers|values|people|home|hark|all`.

README.md says what each measures.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from intents import house_tests, many_values, report  # noqa: E402
from intents.accuracy import DATA_SETS, Operating, Seed, Study, floors, tabulate  # noqa: E402
from intents.calibration import calibration_table  # noqa: E402
from intents.engines import KINDS  # noqa: E402
from intents.install import InstallError, ensure  # noqa: E402
from intents.jobs import ROOT, Failed, Jobs  # noqa: E402
from intents.speed import SIZES, Timed, measure  # noqa: E402
from intents.strangers import measure_strangers, model_rows  # noqa: E402
from intents.tables import accuracy_tables, speed_tables  # noqa: E402
from people import run as people  # noqa: E402

WHAT = ("speed", "accuracy", "curve", "strangers", "values", "people", "home", "hark", "all")
LANGS = ["en", "de", "fr", "es", "it", "nl", "pt"]
DATA = Path(os.environ.get("HARK_NLU_DATA", ROOT.parent / "shared" / "data" / "nlu"))


def note(text: str) -> None:
    """Print progress."""
    print(text, file=sys.stderr, flush=True)


def ask_all(jobs: Jobs, options: argparse.Namespace) -> dict[str, dict[str, list[Seed]]]:
    """Every engine's answers, by data set and engine."""
    answers: dict[str, dict[str, list[Seed]]] = {}
    for name in options.sets:
        if name != "house" and not (options.data / f"{name}-train.jsonl").is_file():
            note(f"{name} is left out: there is no {name}-train.jsonl in {options.data}; --data says where it is")
            continue
        study = Study(jobs, options.data, name, note)
        for engine in options.engines:
            try:
                seeds = range(min(options.seeds, KINDS[engine].seeds))
                answers.setdefault(name, {})[engine] = [study.seed(engine, seed) for seed in seeds]
            except Failed as failure:
                note(str(failure))
    return answers


def accuracy(answers: dict[str, dict[str, list[Seed]]]) -> dict[str, list[Operating]]:
    """The rows of every data set."""
    return {
        name: [row for engine, seeds in engines.items() for row in tabulate(engine, seeds, engines.get("hark"))]
        for name, engines in answers.items()
    }


def alone(jobs: Jobs, options: argparse.Namespace) -> dict[str, str]:
    """What is measured of Hark, mostly without the other engines."""
    sections: dict[str, str] = {}
    if options.what in ("strangers", "hark", "all"):
        known = [name for name in options.sets if name == "house" or (options.data / f"{name}-train.jsonl").is_file()]
        note("strangers")
        yardstick = jobs if "tfidf" in options.engines else None
        sections["strangers"], draws = measure_strangers(known, options.data, options.seeds, yardstick)
        public = [name for name in known if name != "house"]
        if len(public) > 1:
            note("calibration")
            sections["calibration"] = calibration_table(draws, options.data)
            sections["model"] = model_rows(public, options.data)
    if options.what in ("values", "hark", "all"):
        sections["values"] = many_values.table()
    if options.what in ("people", "hark", "all"):
        note("people")
        sections["people"] = people.table()
    if options.what in ("home", "hark", "all"):
        note("home")
        sections["home"] = house_tests.table(options.home, options.langs)
    return sections


def main() -> int:
    """Measure what the options name; print the tables, and write them where they say."""
    options = read_options()
    if any(not KINDS[engine].ours for engine in options.engines):
        try:
            ensure(options.peers)
        except InstallError as error:
            print(error, file=sys.stderr)
            return 1
    jobs = Jobs(options.peers, options.cache)
    result: dict[str, Any] = {"machine": report.machine()}
    sections: dict[str, str] = {}
    if options.what in ("speed", "all"):
        timed: list[Timed] = measure(jobs, options.engines, options.sizes, options.rounds, note)
        sections["speed"] = speed_tables(timed)
        result["speed"] = [row._asdict() for row in timed]
    if options.what in ("accuracy", "curve", "all"):
        answers = ask_all(jobs, options)
        rows = accuracy(answers)
        suggested = {name: floors(engines) for name, engines in answers.items()}
        sections["accuracy"] = accuracy_tables(rows, suggested)
        result["accuracy"] = {name: [report.plain(row) for row in found] for name, found in rows.items()}
        if options.what in ("curve", "all"):
            result["curves"] = report.curves(answers, rows, ROOT / "docs" if options.write else options.pictures)
    sections |= alone(jobs, options)
    for text in sections.values():
        print(text, end="\n\n")
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    if options.write:
        report.write(ROOT / "docs" / "intents-measured.md", sections)
    return 0


def read_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the JSON lines (or HARK_NLU_DATA)")
    parser.add_argument("--sets", type=_names(DATA_SETS), default=list(DATA_SETS), help="data sets, with commas")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--engines", type=_names(KINDS), default=list(KINDS), help="with commas; all by default")
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=3, help="times the speed of a quick engine is measured")
    parser.add_argument("--peers", type=Path, default=HERE.parent / ".venvs" / "intents", help="venv of the others")
    parser.add_argument("--cache", type=Path, default=HERE / ".cache", help="answers that are known already")
    parser.add_argument("--pictures", type=Path, default=Path(), help="folder for the pictures of `curve`")
    parser.add_argument("--home", type=Path, help="a checkout of home-assistant/intents, for its test sentences")
    parser.add_argument("--langs", type=lambda text: text.split(","), default=LANGS, help="languages of `home`")
    parser.add_argument("--out", type=Path, help="all figures, as JSON")
    parser.add_argument("--write", action="store_true", help="put tables and pictures into docs/")
    return parser.parse_args(arguments)


def _names(known: Sequence[str] | dict[str, Any]) -> Any:
    def read(text: str) -> list[str]:
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return names

    return read


if __name__ == "__main__":
    sys.exit(main())
