"""Fuzz target: any bytes into the codec. `python fuzz/run.py codec` runs it with its corpus."""

from __future__ import annotations

from harness import fuzz

if __name__ == "__main__":
    fuzz("check_codec")
