"""The zoo is whole, its animals can be told apart, and its promises can be broken: a check that never fails is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from hark.model import Message, Session
from hark.plugins import Ctx, UtteranceTransformer
from hark.spec import is_pipeline_id, topics
from hark.spec.names import TRANSFORMER_TYPES
from hark.testing.faults import (
    FAULTY_PLUGINS,
    MODES,
    POINTS,
    Behaviour,
    CallSite,
    FaultyAssistant,
    FaultyPlugin,
    behaviour,
    every_faulty_plugin,
    invariants,
    variants,
)


def test_every_point_has_animals_in_every_mode() -> None:
    assert set(FAULTY_PLUGINS) == {*POINTS, "loading"}
    assert set(TRANSFORMER_TYPES) <= set(POINTS)
    for point in POINTS:
        assert {animal.mode for animal in FAULTY_PLUGINS[point]} == set(MODES[point])


def test_no_two_animals_have_the_same_id_and_every_id_is_one() -> None:
    ids = [animal.id for animal in every_faulty_plugin()]
    assert len(ids) == len(set(ids))
    assert all(is_pipeline_id(animal_id) for animal_id in ids)


def test_every_animal_says_in_one_line_what_it_does() -> None:
    for animal in every_faulty_plugin():
        assert re.fullmatch(r"[A-Z].*\.", animal.does), animal


def test_animals_raise_everything_at_every_point() -> None:
    raising = {animal.behaviour.name for animal in every_faulty_plugin() if animal.behaviour.name.startswith("raises_")}
    assert len(raising) >= 13
    for point in POINTS:
        here = {animal.behaviour.name for animal in FAULTY_PLUGINS[point]}
        assert raising <= here


async def test_an_animal_that_is_not_provoked_does_nothing() -> None:
    animals = [animal for point in POINTS for animal in FAULTY_PLUGINS[point] if point not in ("start", "stop")]
    some = animals[::40]
    async with FaultyAssistant(*some) as visit:
        hearing = visit.say("hello")
        await visit.see_out()
        assert hearing.spoken == ["I heard: hello"]
        assert visit.cage.misdeeds == []


@behaviour(points=("utterance",), modes=("inline",), shows="tame")
def hums(grip: CallSite) -> Any:
    """Hums a tune, in the log."""
    grip.plugin.host.log.warning("hum")
    return grip.tame


async def test_who_needs_another_animal_makes_one() -> None:
    [animal] = variants(hums)
    assert (str(animal), animal.does) == ("utterance-hums-inline", "Hums a tune, in the log.")
    async with FaultyAssistant(animal) as visit:
        await invariants(visit, await visit.provoke("sing"))
        assert "hum" in visit.log


# Every promise, broken on purpose: the check has to notice.


def animal_that(name: str, act: Callable[[CallSite], Any], point: Any = "utterance", **how: Any) -> FaultyPlugin:
    [animal] = variants(Behaviour(name, "Does it.", act, (point,), ("inline",), **how))
    return animal


async def failure_of(visit: FaultyAssistant, sabotage: Callable[[], None] = lambda: None) -> str:
    """What `invariants` says about a turn after which something was broken by hand."""
    hearing = await visit.provoke("hello")
    sabotage()
    with pytest.raises(AssertionError) as caught:
        await invariants(visit, hearing)
    return str(caught.value)


async def test_a_second_end_marker_is_noticed() -> None:
    async with FaultyAssistant() as visit:
        told = await failure_of(visit, lambda: visit.bus.emit(visit.of(topics.UTTERANCE_HANDLED)[-1]))
    assert "2 end markers" in told


async def test_a_missing_end_marker_is_noticed() -> None:
    async with FaultyAssistant() as visit:
        told = await failure_of(visit, lambda: visit.messages.remove(visit.of(topics.UTTERANCE_HANDLED)[-1]))
    assert "0 end markers" in told


async def test_something_after_the_end_marker_is_noticed() -> None:
    async with FaultyAssistant() as visit:
        told = await failure_of(visit, lambda: visit.bus.emit(visit.of(topics.HANDLER_COMPLETE)[-1]))
    assert "after the end marker" in told


async def test_a_turn_that_broke_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_arguments: Any) -> None:
        raise RuntimeError("not foreseen")

    async with FaultyAssistant() as visit:
        with monkeypatch.context() as patch:
            patch.setattr(visit.runtime.chains["metadata"], "run", explode)
            told = await failure_of(visit)
    assert "the turn ended 'broken'" in told


async def test_a_plugin_that_was_not_asked_is_noticed() -> None:
    async with FaultyAssistant() as visit:
        chain: Any = visit.runtime.chains["utterance"]
        chain.effective = lambda *_arguments: ()
        told = await failure_of(visit)
    assert "utterance transformer tame-utterance was not asked" in told


async def test_a_forgery_is_noticed() -> None:
    async with FaultyAssistant() as visit:
        forged = Message("zoo.something", {"exception": "forged"})
        told = await failure_of(visit, lambda: visit.bus.emit(forged))
    assert "forgeries got through" in told


async def test_a_lost_session_field_is_noticed() -> None:
    def lose(grip: CallSite) -> Any:
        assert grip.ctx is not None
        grip.ctx.session = grip.ctx.session.without("zoo_ticket")
        return grip.tame

    async with FaultyAssistant(animal_that("loses_the_ticket", lose, shows="tame")) as visit:
        assert "the session lost its ticket" in await failure_of(visit)


async def test_a_lost_denylist_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    animal = next(one for one in FAULTY_PLUGINS["utterance"] if one.id == "utterance-drops_the_denylists-inline")
    monkeypatch.setattr("hark.model.session_merge.Denials.imposed_on", lambda _self, session: session)
    async with FaultyAssistant(animal) as visit:
        assert "blacklisted_skills lost {'zoo.denied'}" in await failure_of(visit)


async def test_a_harmed_default_session_is_noticed() -> None:
    async with FaultyAssistant() as visit:

        def forget() -> None:
            visit.runtime.store.current = Session()

        assert "the default session lost its ticket" in await failure_of(visit, forget)


async def test_an_answer_to_something_else_is_noticed() -> None:
    animal = animal_that("mishears", lambda _grip: ["good night"], shows="tame")
    async with FaultyAssistant(animal) as visit:
        assert "it said ['I heard: good night']" in await failure_of(visit)


async def test_a_culprit_that_is_not_named_is_noticed() -> None:
    animal = animal_that("behaves", lambda grip: grip.tame, shows="failed")
    async with FaultyAssistant(animal) as visit:
        assert "utterance-behaves-inline (Does it.) is not named: ['unchanged']" in await failure_of(visit)


async def test_a_culprit_beside_the_turn_that_is_not_named_is_noticed() -> None:
    animal = animal_that("listens", lambda _grip: None, point="listener", shows="failed")
    async with FaultyAssistant(animal) as visit:
        assert "is nowhere in the log" in await failure_of(visit)


async def test_a_dead_bus_is_noticed() -> None:
    async with FaultyAssistant() as visit:
        try:
            told = await failure_of(visit, lambda: setattr(visit.bus, "_pumping", True))
        finally:
            visit.bus._pumping = False
    assert "nothing is delivered any more" in told


async def test_a_next_turn_that_is_not_answered_is_noticed() -> None:
    class Sulks(UtteranceTransformer):
        id = "sulks"
        quick = True
        provoked = False

        def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
            if self.provoked:
                return []
            self.provoked = True
            return utterances

    sulks = Sulks()
    async with FaultyAssistant(sulks) as visit:
        sulks.provoked = False
        told = await failure_of(visit)
    assert "No plugin claimed this" in told
