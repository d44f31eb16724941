"""The command line: a module for each command."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0 done, 1 not answered or failed, 2 something to correct first."""
    try:
        from hark.cli.program import run_command  # only here: Ctrl-C while it is imported is no traceback
    except KeyboardInterrupt:
        return 130
    return run_command(arguments)
