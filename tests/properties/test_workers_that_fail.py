"""Whatever happens to workers, every utterance that one of them heard gets exactly one end marker."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Literal

from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from flow.workers_rig import Chores, Staff, staff
from hark.testing.clock import settle

What = Literal["say", "wait", "long", "kill", "cut", "hire", "revive", "blackout"]
Step = tuple[What, float]

steps: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.floats(0, 1)),
        st.tuples(st.just("long"), st.floats(0, 1)),
        st.tuples(st.just("say"), st.floats(0, 1)),
        st.tuples(st.just("wait"), st.floats(0, 5)),
        st.tuples(st.just("kill"), st.floats(0, 1)),
        st.tuples(st.just("cut"), st.floats(0, 9)),
        st.tuples(st.just("hire"), st.floats(0, 1)),
        st.tuples(st.just("revive"), st.floats(0, 1)),
        st.tuples(st.just("blackout"), st.floats(0, 9)),
    ),
    max_size=14,
)


@given(steps=steps)
@example(steps=[("say", 1.0), ("cut", 0.0)])
@example(steps=[("long", 0.0), ("cut", 7.75), ("kill", 0.5)])
@example(steps=[("long", 0.0), ("kill", 1.0), ("cut", 2.5), ("cut", 2.0)])
@example(steps=[("long", 0.0), ("kill", 1.0), ("cut", 6.0), ("cut", 3.0)])
@example(steps=[("long", 0.0), ("long", 0.0), ("blackout", 0.0)])
@example(steps=[("long", 0.0), ("kill", 0.0), ("blackout", 7.0), ("revive", 0.0)])
@example(steps=[("long", 0.0), ("kill", 0.0), ("wait", 5.0), ("wait", 5.0), ("hire", 0.0), ("revive", 0.0)])
@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.generate])
def test_each_utterance_is_ended_once(steps: list[Step]) -> None:
    asyncio.run(_play(steps))


async def _play(steps: list[Step]) -> None:
    chores = Chores()
    async with staff("a", "b", "c", skills=[chores]) as team:
        play = Play(team)
        for what, size in steps:
            await play.step(what, size)
        while play.dead:
            await play.revive(0.0)
        await team.pass_by(12.0)
        chores.go_on.set()
        await team.pass_by(12.0)
        assert len(team.holders()) == 1
        assert {mark: team.markers()[mark] for mark in play.marks} == dict.fromkeys(play.marks, 1)


class Play:
    """What may happen to workers."""

    def __init__(self, team: Staff) -> None:
        self._team = team
        self._names = iter("defghijklmnopqrstuvwxyz")
        self._number = 0
        self.marks: list[str] = []
        self.dead: list[str] = []
        """Those that were not started again yet."""
        self._knows_from: dict[str, float] = {}
        """When those who came later have heard what was going on."""

    @property
    def _there(self) -> list[str]:
        return [name for name in self._team.workers if name not in self._team.dead]

    async def step(self, what: What, size: float) -> None:
        """Let something happen."""
        self._number += 1
        await getattr(self, what)(size)

    async def say(self, size: float, text: str = "") -> None:
        session = None if self._number % 3 == 1 else f"session {self._number}"
        self.marks.append(self._team.say(text or f"say {self._number}", session))
        if size < 0.5:  # else whatever comes next finds it under way
            await settle()

    async def long(self, size: float) -> None:
        await self.say(size, "take your time")

    async def wait(self, size: float) -> None:
        await self._team.pass_by(size)

    async def kill(self, size: float) -> None:
        there, now = self._there, self._team.clock.monotonic()
        gone = there[int(size * (len(there) - 1))]
        # Somebody has to be left who has heard what was going on.
        if len([name for name in there if now >= self._knows_from.get(name, 0.0) and name != gone]) > 1:
            self._team.kill(gone)
            self.dead.append(gone)

    async def cut(self, size: float) -> None:
        there = self._there
        if len(there) > 1:
            wire = self._team.wires[there[int(size * 7) % len(there)]]
            wire.cut()
            await self._team.pass_by(size)
            wire.mend()
            if len(there) < 3:  # who stood in for it and who knows that must not be gone at that very moment
                await self._team.pass_by(1.5)

    async def hire(self, _size: float) -> None:
        name = next(self._names)
        await self._team.hire(name)
        self._knows_from[name] = self._team.clock.monotonic() + 8.0

    async def revive(self, size: float) -> None:
        if self.dead:
            again = await self._team.revive(self.dead.pop(int(size * (len(self.dead) - 1))))
            self._knows_from[again] = self._team.clock.monotonic() + 8.0

    async def blackout(self, size: float) -> None:
        """All die at once, and come back one after the other."""
        await self._team.pass_by(12.0)  # what nobody has taken yet would be known to nobody afterwards
        gone = self._there
        for name in gone:
            self._team.kill(name)
        await self._team.pass_by(size)
        for name in Random(size).sample(gone, len(gone)):
            self.dead.append(name)
            await self.revive(1.0)
            await self._team.pass_by(size % 0.9)
        await self._team.pass_by(2.0)
