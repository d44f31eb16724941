"""A persona with a real model: small, on this machine, behind llama.cpp."""

from __future__ import annotations

import subprocess
import sys

import pytest

from interop.conftest import ROOT, Peer


@pytest.mark.peers("model")
@pytest.mark.parametrize("part", ["text", "sessions", "voice"])
def test_a_real_model_holds_conversations(peer: Peer, part: str) -> None:
    """Five turns by text and by voice, ten sessions at once; a sentence is requested within 20 ms of its last token."""
    program = [sys.executable, str(ROOT / "benchmarks" / "persona.py"), "model", "--python", str(peer.python)]
    done = subprocess.run([*program, "--parts", part, "--rounds", "4"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
