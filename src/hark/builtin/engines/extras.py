"""Importing what an extra installs, with a clear error where it is missing."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from hark import hints
from hark.plugins.engines import Unavailable


def need(module: str, extra: str) -> Any:
    """Import a module; raises `Unavailable` naming the extra that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        missing = error.name or module
        raise Unavailable(f"{missing} is not installed", hints.install_extra(extra)) from error
    except OSError as error:  # a system library is missing
        raise Unavailable(f"{module} cannot be loaded: {error}", hints.install_extra(extra)) from error


def release(package: str) -> str:
    """Name and version of an installed package, for display."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package
