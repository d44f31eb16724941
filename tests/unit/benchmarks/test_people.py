"""The benchmark of what people say plays on an assistant that has the small home."""

from __future__ import annotations

import pytest

from hark.plugins import Turn
from hark.skills import Skill, intent
from people.run import home, listener


async def test_the_small_home_takes_part() -> None:
    async with listener("en-US", home()) as said:
        assert await said.claim("lock the back door") == ("home.skill:lock", {"door": "back door"})


async def test_a_skill_that_does_not_start_is_reported() -> None:
    class Broken(Skill):
        id = "broken.skill"

        @intent("hello")
        def greet(self, turn: Turn) -> None: ...

        async def start(self) -> None:
            raise ValueError("it is broken")

    with pytest.raises(RuntimeError, match=r"broken\.skill did not start"):
        async with listener("en-US", Broken()):
            pass
