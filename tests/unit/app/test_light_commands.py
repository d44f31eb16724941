"""Commands that only ask a running assistant do not load one: that is most of the time they would take."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("command", ["say", "why"])
def test_asking_does_not_load_an_assistant(command: str) -> None:
    program = f"import hark.cli.main, hark.cli.{command}, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30)
    loaded = set(done.stdout.split())
    assert not loaded & {"asyncio", "hark.app.house", "hark.bus", "tomllib", "importlib.metadata"}
