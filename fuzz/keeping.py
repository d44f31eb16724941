"""Which inputs are worth keeping: the fewest and shortest that together go every way through the code."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha1
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

Check = Callable[[bytes], None]
Step = tuple[CodeType, int, int]
"""From one line to the next, in one function."""
Way = tuple[Step, int]
"""A step, and how often it is taken: once, two or three times, more often."""


def ways(check: Check, raw: bytes) -> frozenset[Way]:
    """Every step that our own code takes for this input."""
    found: Counter[Step] = Counter()

    def enter(frame: FrameType, _event: str, _argument: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        if "/hark/" not in code.co_filename:
            return None
        last = 0

        def step(frame: FrameType, _event: str, _argument: Any) -> Callable[..., Any]:
            nonlocal last
            found[code, last, frame.f_lineno] += 1
            last = frame.f_lineno
            return step

        return step

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        check(raw)
    finally:
        sys.settrace(before)
    return frozenset((step, min(times.bit_length(), 3)) for step, times in found.items())


def worth_keeping(check: Check, inputs: Iterable[bytes]) -> list[bytes]:
    """Of `inputs`, some that go every way that any of them goes; each goes a way that none before it does."""
    check(b"{}")  # what is done only once is done now
    reached = {raw: ways(check, raw) for raw in sorted(set(inputs), key=lambda raw: (len(raw), raw))}
    kept: list[bytes] = []
    left = frozenset().union(*reached.values())
    while left:
        best = max(reached, key=lambda raw: (len(reached[raw] & left), -len(raw)))
        kept.append(best)
        left -= reached.pop(best)
    return kept


def rewrite(corpus: Path, inputs: Iterable[bytes]) -> None:
    """Make `corpus` hold these inputs and no others, each under its hash."""
    names = {sha1(raw, usedforsecurity=False).hexdigest(): raw for raw in inputs}
    corpus.mkdir(parents=True, exist_ok=True)
    for path in corpus.iterdir():
        if path.name not in names:
            path.unlink()
    for name, raw in names.items():
        (corpus / name).write_bytes(raw)


def contents(directory: Path) -> list[bytes]:
    """What the files in a directory hold."""
    return [path.read_bytes() for path in sorted(directory.glob("*")) if path.is_file()]
