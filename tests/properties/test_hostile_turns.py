"""Whichever faulty plugins are loaded, however many turns run at once, whenever it closes: one end marker for each."""

from __future__ import annotations

import asyncio
import random
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hark.model import Session
from hark.spec import topics
from hark.testing import LocalBus, WireBus
from hark.testing.faults import FAULTY_PLUGINS, FaultyAssistant, FaultyPlugin
from hark.testing.faults.invariants import LIFECYCLE, the_bus_is_alive, the_next_turn_is_answered

TURNS = 30
"""Utterances in each house; times the number of examples, thousands."""


class Day(NamedTuple):
    """What happens in one house."""

    faulty_plugins: tuple[FaultyPlugin, ...]
    bus: type[LocalBus]
    seed: int
    """Decides call by call who misbehaves."""
    waves: tuple[int, ...]
    """How many turns are begun at once, again and again until all are said."""
    open_turns: int
    """How many the house takes in at once."""
    closes_early: bool
    """Whether it closes while the last wave is under way."""


@st.composite
def days(draw: st.DrawFn) -> Day:
    chosen = [
        draw(st.lists(st.sampled_from(FAULTY_PLUGINS[point]), max_size=2, unique_by=str)) for point in FAULTY_PLUGINS
    ]
    faulty_plugins = tuple(faulty for some in chosen for faulty in some)
    return Day(
        faulty_plugins=tuple(draw(st.permutations(faulty_plugins))),
        bus=draw(st.sampled_from((LocalBus, WireBus))),
        seed=draw(st.integers(0, 10_000)),
        waves=tuple(draw(st.lists(st.integers(1, TURNS), min_size=1, max_size=5))),
        open_turns=draw(st.sampled_from((1, 3, 1_000))),
        closes_early=draw(st.booleans()),
    )


async def spend(day: Day) -> FaultyAssistant:
    """Have the day; the assistant when it is over."""
    rng = random.Random(day.seed)
    heavy = {faulty.id for faulty in day.faulty_plugins if faulty.behaviour.once}

    def decide(plugin_id: str) -> bool:
        return rng.random() < (0.02 if plugin_id in heavy else 0.4)

    limits = {"open_turns": day.open_turns, "retry_after": 1.0}
    async with FaultyAssistant(
        *day.faulty_plugins, bus=day.bus, settings={"limits": limits}, decide=decide
    ) as assistant:
        with assistant.switch.on():
            await say_all(assistant, day, rng)
        if not day.closes_early:
            the_bus_is_alive(assistant)
            await assistant.clock.advance(5.0)
            await the_next_turn_is_answered(assistant)
            nobody_is_unnamed(assistant)
    return assistant


async def say_all(assistant: FaultyAssistant, day: Day, rng: random.Random) -> None:
    said = 0
    while said < TURNS:
        for wave in day.waves:
            for _ in range(min(wave, TURNS - said)):
                session = rng.choice((None, Session(f"s{said % 3}", blacklisted_skills=["faults.denied"])))
                assistant.say(f"turn {said}", session=session)
                said += 1
            if said < TURNS or not day.closes_early:
                await assistant.run_until_quiet(workers=False)


def nobody_is_unnamed(assistant: FaultyAssistant) -> None:
    """Whoever misbehaved in a turn is in its trace."""
    for plugin_id, utterance_id in assistant.switch.records:
        trace = assistant.runtime.traces.of(utterance_id)
        if trace is not None:
            assert any(step.who.partition(":")[0] == plugin_id for step in trace.steps), f"{plugin_id}: {trace.steps}"


def each_has_one_marker(assistant: FaultyAssistant) -> None:
    entries = len(assistant.of(topics.UTTERANCE_HANDLE))
    markers = [message.utterance_id for message in assistant.of(topics.UTTERANCE_HANDLED)]
    assert len(markers) == len(set(markers)) == entries, f"{entries} utterances, {len(markers)} end markers"
    ended: set[str | None] = set()
    for message in assistant.messages:
        if message.type in LIFECYCLE or ":" in message.type:
            assert message.utterance_id not in ended, f"{message.type} after its end marker"
        if message.type == topics.UTTERANCE_HANDLED:
            ended.add(message.utterance_id)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(days())
def test_every_utterance_gets_one_end_marker_whoever_is_in_the_house(day: Day) -> None:
    assistant = asyncio.run(spend(day))
    assert len(assistant.of(topics.UTTERANCE_HANDLE)) >= TURNS
    each_has_one_marker(assistant)
