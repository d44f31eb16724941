"""Fuzz target: any JSON object as the carrier of a session. `python fuzz/run.py session` runs it with its corpus."""

from __future__ import annotations

from harness import fuzz

if __name__ == "__main__":
    fuzz("check_session")
