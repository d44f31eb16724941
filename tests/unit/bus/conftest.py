"""A bus of each kind."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from hark.bus import LocalBus


@pytest.fixture
async def bus(bus_type: type[LocalBus]) -> AsyncIterator[LocalBus]:
    """A bus that is closed when the test is over."""
    made = bus_type()
    yield made
    await made.close()
