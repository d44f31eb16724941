"""What the public surface was, one JSON file for each subject.

A test compares the surface of this tree with its file. Where a change is intended, rewrite the files and commit the
diff: `HARK_REWRITE_SURFACE=1 python -m pytest tests/surface`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

REWRITE = "HARK_REWRITE_SURFACE"


def check(file: Path, now: dict[str, Any]) -> None:
    """Compare `now` with what `file` holds, entry by entry, or write it there when a rewrite is asked for."""
    now = json.loads(json.dumps(now))
    if os.environ.get(REWRITE):
        file.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", "utf-8")
    before = json.loads(file.read_text("utf-8"))
    changes = [f"missing: {key}" for key in before if key not in now]
    changes += [f"new: {key}" for key in now if key not in before]
    changes += [
        f"changed: {key}\n  was {json.dumps(before[key])}\n  is  {json.dumps(now[key])}"
        for key in before
        if key in now and before[key] != now[key]
    ]
    assert not changes, f"{file.name} (if this is intended: {REWRITE}=1)\n" + "\n".join(changes)


def check_entry(file: Path, key: str, now: Any, *, may_rewrite: bool = True) -> None:
    """Compare `now` with one entry of `file`, or write that entry when a rewrite is asked for."""
    stored = json.loads(file.read_text("utf-8")) if file.exists() else {}
    if may_rewrite and os.environ.get(REWRITE):
        file.write_text(json.dumps({**stored, key: now}, indent=1) + "\n", "utf-8")
        return
    assert key in stored, f"{key} is not in {file.name}: {REWRITE}=1"
    assert now == stored[key], f"{key} in {file.name} (if this is intended: {REWRITE}=1)"
