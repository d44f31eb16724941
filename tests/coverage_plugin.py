"""Leaves tests out of the measurement of coverage that repeat what others show: tracing doubles their processor time.

Rules that were shown in one process are shown again over networks; properties try the same code with many values.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
NETWORK = re.compile(r"\[.*(websocket|nats|rooms|workers)")


def is_repetition(item: pytest.Item) -> bool:
    """Whether the lines this test runs are run by others too."""
    folder = item.path.relative_to(TESTS).parts[0]
    return folder == "properties" or (folder == "conformance" and NETWORK.search(item.nodeid) is not None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run a repetition untraced."""
    if not is_repetition(item):
        return (yield)
    here, threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]
    try:
        return (yield)
    finally:
        sys.settrace(here)
        threading.settrace(threads)  # type: ignore[arg-type]
