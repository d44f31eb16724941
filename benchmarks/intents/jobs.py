"""Sends jobs to workers and keeps what they answered, so that a table can be made again without asking again."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from intents.engines import KINDS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORKER = HERE / "worker.py"
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Failed(Exception):
    """A worker ended without a result; the message is what it said last."""


class Jobs:
    """Runs jobs one at a time, each in a fresh process of the engine's venv."""

    def __init__(self, peers: Path, cache: Path, limit: float = 1800) -> None:
        self._peers = peers / "bin" / "python"
        self._cache = cache
        self._limit = limit

    def run(self, job: dict[str, Any], keep: bool) -> dict[str, Any]:
        """The result of `job`. With `keep`, one that is known is not asked for again while the engine is the same."""
        digest = hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()[:16]
        file = self._cache / f"{job['engine']}-{job['kind']}-{_version(job['engine'])}-{digest}.json"
        if keep and file.is_file():
            known: dict[str, Any] = json.loads(file.read_text())
            return known
        result = self._ask(job)
        if keep:
            self._cache.mkdir(parents=True, exist_ok=True)
            part = file.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps(result))
            part.replace(file)
        return result

    def _ask(self, job: dict[str, Any]) -> dict[str, Any]:
        python = sys.executable if KINDS[job["engine"]].ours else str(self._peers)
        with tempfile.TemporaryDirectory(prefix="bench-intents") as folder:
            question, answer = Path(folder, "job.json"), Path(folder, "result.json")
            question.write_text(json.dumps(job))
            # OVOS engines keep files at home; several threads would favour engines that use BLAS.
            surroundings = {**os.environ, "HOME": folder, **dict.fromkeys(ONE_THREAD, "1")}
            surroundings = {name: value for name, value in surroundings.items() if not name.startswith("XDG_")}
            done = subprocess.run(
                [python, str(WORKER), str(question), str(answer)],
                capture_output=True,
                text=True,
                env=surroundings,
                timeout=self._limit,
                check=False,
            )
            if done.returncode or not answer.is_file():
                raise Failed(f"{job['engine']} {job['kind']}: {done.stderr[-3000:] or 'ended without a word'}")
            result: dict[str, Any] = json.loads(answer.read_text())
            return result


def _version(engine: str) -> str:
    """Changes when the engine or its adapter does."""
    files = [HERE / "engines" / f"{engine}_engine.py"]
    if KINDS[engine].ours:
        files += sorted((ROOT / "src" / "hark" / "intents").rglob("*.py"))
    else:
        files.append(HERE / "requirements.txt")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]
