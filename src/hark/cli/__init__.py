"""The command line: a module for each command."""

from hark.cli.main import main

__all__ = ["main"]
