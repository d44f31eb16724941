"""Whatever happens to workers, every utterance that one of them heard gets exactly one end marker."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Literal

from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from flow.workers_rig import Chores, staff
from hark.testing.clock import settle

Step = tuple[Literal["say", "wait", "long", "kill", "cut", "hire", "revive", "blackout"], float]

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
    names = iter("defghijklmnopqrstuvwxyz")
    async with staff("a", "b", "c", skills=[chores]) as team:
        marks: list[str] = []
        old: dict[str, float] = {}
        gone_for_now: list[str] = []

        async def revive(name: str) -> None:
            gone_for_now.remove(name)
            old[await team.revive(name)] = team.clock.monotonic() + 8.0

        for number, (what, size) in enumerate(steps):
            there = [name for name in team.workers if name not in team.dead]
            session = None if number % 3 == 0 else f"session {number}"
            if what in ("say", "long"):
                marks.append(team.say("take your time" if what == "long" else f"say {number}", session))
                if size < 0.5:  # else whatever comes next finds it under way
                    await settle()
            elif what == "wait":
                await team.pass_by(size)
            elif what == "kill" and len(there) > 2:
                gone = there[int(size * (len(there) - 1))]
                # Somebody has to be left who has heard what was going on.
                if len([name for name in there if team.clock.monotonic() >= old.get(name, 0.0) and name != gone]) > 1:
                    team.kill(gone)
                    gone_for_now.append(gone)
            elif what == "cut" and len(there) > 1:
                away = there[int(size * 7) % len(there)]
                team.wires[away].cut()
                await team.pass_by(size)
                team.wires[away].mend()
                if len(there) < 3:  # who stood in for it and who knows that must not be gone at that very moment
                    await team.pass_by(1.5)
            elif what == "hire":
                name = next(names)
                await team.hire(name)
                old[name] = team.clock.monotonic() + 8.0
            elif what == "revive" and gone_for_now:
                await revive(gone_for_now[int(size * (len(gone_for_now) - 1))])
            elif what == "blackout":
                await team.pass_by(12.0)  # what nobody has taken yet is known to nobody afterwards
                for name in there:
                    team.kill(name)
                await team.pass_by(size)
                for name in Random(size).sample(there, len(there)):
                    gone_for_now.append(name)
                    await revive(name)
                    await team.pass_by(size % 0.9)
                await team.pass_by(2.0)
        for name in list(gone_for_now):
            await revive(name)
        await team.pass_by(12.0)
        chores.go_on.set()
        await team.pass_by(12.0)
        assert len(team.holders()) == 1
        assert {mark: team.markers()[mark] for mark in marks} == dict.fromkeys(marks, 1)
