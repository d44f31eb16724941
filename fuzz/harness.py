"""Running one check under libFuzzer: our code instrumented, inputs changed as JSON."""

from __future__ import annotations

import logging
import sys
from importlib import import_module

REMEDY = "atheris, the coverage-guided fuzzer, is not installed here; this installs it: pip install 'hark-voice[fuzz]'"


def fuzz(check: str) -> None:
    """Give inputs to the function `check` of `checks` until libFuzzer's options say stop. Does not return."""
    try:
        import atheris  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        raise SystemExit(REMEDY) from None
    with atheris.instrument_imports(include=["hark"]):
        judge = getattr(import_module("checks"), check)
        mutate_json = import_module("mutator").mutate_json
    logging.disable(logging.CRITICAL)  # what is read here is malformed by the million, and says so

    def mutated(raw: bytes, max_size: int, seed: int) -> bytes:
        changed: bytes = mutate_json(raw, max_size, seed, atheris.Mutate)
        return changed

    atheris.Setup(sys.argv, judge, custom_mutator=mutated)
    atheris.Fuzz()
