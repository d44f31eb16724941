"""Conversations written as text, played on an assistant whose time jumps.

For pytest, `pytest_plugins = ["hark.testing.scripts"]` in the `conftest.py` at the top collects every `*.talk` file;
for one folder, import `pytest_collect_file` from here in its `conftest.py`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from hark.testing.scripts.pytest_plugin import ScriptFile, ScriptItem

__all__ = ["ScriptFile", "ScriptItem", "pytest_collect_file"]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A `*.talk` file is a script, with a test for each conversation in it."""
    from hark.testing.scripts.pytest_plugin import collect

    return collect(file_path, parent)


def __getattr__(name: str) -> Any:
    # `hark test` plays scripts where pytest is not installed.
    if name in ("ScriptFile", "ScriptItem"):
        return getattr(import_module(f"{__name__}.pytest_plugin"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
