"""Run the fuzz targets for a while, each with its corpus: `python fuzz/run.py --seconds 60`.

Ends with 1 when something was found; the input is then in `fuzz/findings/`, and `--replay FILE` shows what it does.
"""

from __future__ import annotations

import argparse
import logging
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import checks
from harness import REMEDY
from keeping import contents, rewrite, worth_keeping

HERE = Path(__file__).parent
FINDINGS = HERE / "findings"
TARGETS = {"codec": checks.check_codec, "session": checks.check_session}
LONGEST = 4096
"""Bytes of the longest input that is tried."""


def main() -> int:
    """Do what the command line says; the exit code."""
    arguments = _arguments()
    logging.disable(logging.CRITICAL)
    if arguments.replay is not None:
        return _replay(arguments.targets, arguments.replay)
    if find_spec("atheris") is None:
        _say(REMEDY)
        return 2
    found = [name for name in arguments.targets if not _run(name, arguments.seconds, arguments.keep)]
    return 1 if found else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []], help=f"which ones: {', '.join(TARGETS)} (all)")
    parser.add_argument("--seconds", type=int, default=60, help="how long each target runs (60)")
    parser.add_argument("--keep", action="store_true", help="add what is new to the corpus, and make that small again")
    parser.add_argument(
        "--replay", nargs="*", type=Path, metavar="FILE", help="check these inputs, or the corpus; needs no fuzzer"
    )
    arguments = parser.parse_args()
    arguments.targets = arguments.targets or [*TARGETS]
    return arguments


def _run(name: str, seconds: int, keep: bool) -> bool:
    """Run one target and tell how it went; whether all was well."""
    corpus = HERE / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    FINDINGS.mkdir(exist_ok=True)
    known = {path.name for path in FINDINGS.iterdir()}
    with TemporaryDirectory(prefix="hark-fuzz-") as directory:
        fresh = Path(directory)
        command = [
            *(sys.executable, str(HERE / f"{name}.py"), str(fresh), str(corpus)),
            *(f"-max_total_time={seconds}", f"-max_len={LONGEST}", "-timeout=10", "-rss_limit_mb=2048"),
            *("-print_final_stats=1", f"-artifact_prefix={FINDINGS}/{name}-"),
        ]
        began = monotonic()
        ran = subprocess.run(  # noqa: S603 - our own target
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        log = ran.stdout.decode(errors="replace")
        executed = _number(r"number_of_executed_units: (\d+)", log)
        edges = max((int(found) for found in re.findall(r" cov: (\d+) ", log)), default=0)
        rate = executed / max(monotonic() - began, 1)
        new = contents(fresh)
        _say(f"{name}: {executed:,} inputs, {rate:,.0f} a second, {edges} edges reached, {len(new)} inputs new")
        if keep:
            kept = worth_keeping(TARGETS[name], [*contents(corpus), *(raw for raw in new if _holds(name, raw))])
            rewrite(corpus, kept)
            _say(f"{name}: the corpus is {len(kept)} inputs, {sum(map(len, kept)):,} bytes")
    findings = [path for path in sorted(FINDINGS.iterdir()) if path.name not in known]
    for path in findings:
        what = log.partition("Uncaught Python exception: ===\n")[2].partition("\n")[0]
        _say(f"{name}: FOUND {path} {what}\n  to look at it: python fuzz/run.py {name} --replay {path}")
    if ran.returncode and not findings:
        _say(f"{name}: the fuzzer failed with exit code {ran.returncode}:\n{log[-2_000:]}")
    return not findings and not ran.returncode


def _replay(names: list[str], paths: list[Path]) -> int:
    """Check inputs without a fuzzer; an input for which something does not hold raises, with its traceback."""
    for name in names:
        inputs = [path.read_bytes() for path in paths] or contents(HERE / "corpus" / name)
        for raw in inputs:
            TARGETS[name](raw)
        _say(f"{name}: {len(inputs)} inputs, all is well")
    return 0


def _holds(name: str, raw: bytes) -> bool:
    try:
        TARGETS[name](raw)
    except Exception:  # noqa: BLE001 - a finding is reported elsewhere, it does not belong into the corpus
        return False
    return True


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
