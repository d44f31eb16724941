"""Does one job with one engine in a process of its own: `worker.py JOB.json RESULT.json`.

Runs in the venv of the engine, so it imports nothing but the standard library and the engine's adapter.
"""

from __future__ import annotations

import ctypes
import gc
import json
import logging
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from intents.corpus import Corpus
from intents.engines import Engine, make

Job = dict[str, Any]
now = time.process_time_ns
"""All times are processor time of all threads: on a machine that others use, the time on the wall measures them too."""
ADDED = 9
"""Intents added one by one, of which the median is taken."""
WARM_UP = 0.5
"""Seconds."""


def ask(job: Job) -> Job:
    """Teach, then ask every question once."""
    engine, train_seconds = _taught(job)
    answers = []
    for text in job["questions"]:
        begin = now()
        answer = engine.match(text)
        answers.append([*answer, now() - begin])
    return {"train_seconds": train_seconds, "answers": answers}


def speed(job: Job) -> Job:
    """Teach; time matches of each sort within the budget; then add intents one by one."""
    _warm_up(job)
    engine, train_seconds = _taught(job)
    result: Job = {"train_seconds": train_seconds, "nanoseconds": {}, "claimed": {}}
    for sort, questions in job["questions"].items():
        engine.match("is anybody there")
        end = time.monotonic() + job["budget"]
        taken: list[int] = []
        claimed = right = 0
        for text in questions:
            begin = now()
            answer = engine.match(text)
            taken.append(now() - begin)
            claimed += answer.intent is not None and answer.score >= job["floor"]
            right += sort == "matched" and answer.intent == job["right"][len(taken) - 1]
            if time.monotonic() > end and len(taken) >= 10:
                break
        result["nanoseconds"][sort] = taken
        result["claimed"][sort] = claimed / len(taken)
        if sort == "matched":
            result["right"] = right / len(taken)
    result["add"] = _add(engine, job)
    return result


def _warm_up(job: Job) -> None:
    """Let the interpreter see the code run, on a small engine that is thrown away."""
    engine = make(job["engine"])
    engine.train(Corpus(**job["corpus"]).head(10))
    end = time.monotonic() + WARM_UP
    for text in (text for questions in job["questions"].values() for text in questions):
        engine.match(text)
        if time.monotonic() > end:
            break


def _add(engine: Engine, job: Job) -> dict[str, list[int]]:
    """Nanoseconds to add an intent, and to add it and find it: what is put off shows in the second."""
    alone: list[int] = []
    found: list[int] = []
    end = time.monotonic() + job["budget"]
    for name, templates, spoken in job["more"][:ADDED]:
        begin = now()
        engine.add(name, templates, spoken)
        middle = now()
        engine.match(spoken[0])
        alone.append(middle - begin)
        found.append(now() - begin)
        if time.monotonic() > end:
            break
    return {"alone": alone, "and_match": found}


def memory(job: Job) -> Job:
    """Resident memory before teaching and after; the engine is imported and warm, the corpus counts if it is kept."""
    warm_up = make(job["engine"])
    warm_up.train(Corpus(**job["corpus"]))
    warm_up.match("is anybody there")
    engine = make(job["engine"])
    before = _resident()
    # Read only now: memory that an earlier reading had left behind would be used again and not be seen.
    corpus = Corpus(**json.loads(job["written"]))
    intents = len(corpus.intents)
    engine.train(corpus)
    engine.match("is anybody there")
    del corpus
    return {"before": before, "after": _resident(), "intents": intents}


def _taught(job: Job) -> tuple[Engine, float]:
    engine = make(job["engine"], job.get("free", False))
    corpus = Corpus(**job["corpus"])
    begin = now()
    engine.train(corpus)
    return engine, (now() - begin) / 1e9


def _resident() -> int:
    """Bytes this process holds in memory, when all that can be given back is (Linux)."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def main() -> None:
    """Read the job, do it, write the result."""
    logging.disable(logging.CRITICAL)
    job = json.loads(Path(sys.argv[1]).read_text())
    kinds: dict[str, Callable[[Job], Job]] = {"ask": ask, "speed": speed, "memory": memory}
    Path(sys.argv[2]).write_text(json.dumps(kinds[job["kind"]](job)))


if __name__ == "__main__":
    main()
