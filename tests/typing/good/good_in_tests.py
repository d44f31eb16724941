"""What a test holds."""

from __future__ import annotations

from typing import assert_type

from hark.plugins import Message
from hark.testing import Assistant, WireBus
from hark.trace import TurnTrace


async def test_it() -> None:
    async with Assistant(settings={}, bus=WireBus) as assistant:
        assert_type(await assistant.hears("hello", lang="en-US", session="kitchen"), list[str])
        assert_type(assistant.topics(), list[str])
        assert_type(assistant.messages, list[Message])
        assert_type(assistant.trace(), TurnTrace)
        assert_type(assistant.why(), str)
