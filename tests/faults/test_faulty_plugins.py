"""The faulty plugins are complete and have distinct ids, and each check of the invariants can fail."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from hark.model import Message, Session
from hark.plugins import Ctx, UtteranceTransformer
from hark.spec import is_pipeline_id, topics
from hark.spec.names import TRANSFORMER_TYPES
from hark.testing import LocalBus
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


def test_every_point_has_faulty_plugins_in_every_mode() -> None:
    assert set(FAULTY_PLUGINS) == {*POINTS, "loading"}
    assert set(TRANSFORMER_TYPES) <= set(POINTS)
    for point in POINTS:
        assert {faulty.mode for faulty in FAULTY_PLUGINS[point]} == set(MODES[point])


def test_ids_are_valid_and_unique() -> None:
    ids = [faulty.id for faulty in every_faulty_plugin()]
    assert len(ids) == len(set(ids))
    assert all(is_pipeline_id(plugin_id) for plugin_id in ids)


def test_every_faulty_plugin_says_in_one_line_what_it_does() -> None:
    for faulty in every_faulty_plugin():
        assert re.fullmatch(r"[A-Z].*\.", faulty.does), faulty


def test_every_exception_is_raised_at_every_point() -> None:
    raising = {faulty.behaviour.name for faulty in every_faulty_plugin() if faulty.behaviour.name.startswith("raises_")}
    assert raising
    for point in POINTS:
        here = {faulty.behaviour.name for faulty in FAULTY_PLUGINS[point]}
        assert raising <= here


async def test_a_faulty_plugin_whose_fault_is_off_does_nothing() -> None:
    faulty_plugins = [faulty for point in POINTS for faulty in FAULTY_PLUGINS[point] if point not in ("start", "stop")]
    some = faulty_plugins[::40]
    async with FaultyAssistant(*some) as assistant:
        hearing = assistant.say("hello")
        await assistant.run_until_quiet()
        assert hearing.spoken == ["I heard: hello"]
        assert assistant.switch.records == []


@behaviour(points=("utterance",), modes=("inline",), shows="nothing")
def hums(site: CallSite) -> Any:
    """Hums a tune, in the log."""
    site.plugin.host.log.warning("hum")
    return site.normal


async def test_another_faulty_plugin_can_be_made() -> None:
    [faulty] = variants(hums)
    assert (str(faulty), faulty.does) == ("utterance-hums-inline", "Hums a tune, in the log.")
    async with FaultyAssistant(faulty) as assistant:
        await invariants(assistant, await assistant.provoke("sing"))
        assert "hum" in assistant.log


# Every promise, broken on purpose: the check has to fail.


def plugin_that(name: str, act: Callable[[CallSite], Any], point: Any = "utterance", **how: Any) -> FaultyPlugin:
    [faulty] = variants(Behaviour(name, "Does it.", act, (point,), ("inline",), **how))
    return faulty


async def failure_of(assistant: FaultyAssistant, sabotage: Callable[[], None] = lambda: None) -> str:
    """What `invariants` says about a turn after which something was broken by hand."""
    hearing = await assistant.provoke("hello")
    sabotage()
    with pytest.raises(AssertionError) as caught:
        await invariants(assistant, hearing)
    return str(caught.value)


async def test_a_second_end_marker_is_noticed() -> None:
    async with FaultyAssistant() as assistant:
        told = await failure_of(assistant, lambda: assistant.bus.emit(assistant.of(topics.UTTERANCE_HANDLED)[-1]))
    assert "2 end markers" in told


async def test_a_missing_end_marker_is_noticed() -> None:
    async with FaultyAssistant() as assistant:
        told = await failure_of(
            assistant, lambda: assistant.messages.remove(assistant.of(topics.UTTERANCE_HANDLED)[-1])
        )
    assert "0 end markers" in told


async def test_something_after_the_end_marker_is_noticed() -> None:
    async with FaultyAssistant() as assistant:
        told = await failure_of(assistant, lambda: assistant.bus.emit(assistant.of(topics.HANDLER_COMPLETE)[-1]))
    assert "after the end marker" in told


async def test_a_turn_that_broke_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_arguments: Any) -> None:
        raise RuntimeError("not foreseen")

    async with FaultyAssistant() as assistant:
        with monkeypatch.context() as patch:
            patch.setattr(assistant.runtime.chains["metadata"], "run", explode)
            told = await failure_of(assistant)
    assert "the turn ended 'broken'" in told


async def test_a_plugin_that_was_not_asked_is_noticed() -> None:
    async with FaultyAssistant() as assistant:
        chain: Any = assistant.runtime.chains["utterance"]
        chain.effective = lambda *_arguments: ()
        told = await failure_of(assistant)
    assert "utterance transformer control-utterance was not asked" in told


async def test_a_forgery_is_noticed() -> None:
    async with FaultyAssistant() as assistant:
        forged = Message("faults.something", {"exception": "forged"})
        told = await failure_of(assistant, lambda: assistant.bus.emit(forged))
    assert "forgeries got through" in told


async def test_a_lost_session_field_is_noticed() -> None:
    def lose(site: CallSite) -> Any:
        assert site.ctx is not None
        site.ctx.session = site.ctx.session.without("unknown_field")
        return site.normal

    async with FaultyAssistant(plugin_that("loses_a_field", lose, shows="nothing")) as assistant:
        assert "the session lost its unknown field" in await failure_of(assistant)


async def test_a_lost_denylist_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    faulty = next(one for one in FAULTY_PLUGINS["utterance"] if one.id == "utterance-drops_the_denylists-inline")
    monkeypatch.setattr("hark.model.session_merge.Denials.imposed_on", lambda _self, session: session)
    async with FaultyAssistant(faulty) as assistant:
        assert "blacklisted_skills lost {'faults.denied'}" in await failure_of(assistant)


async def test_a_harmed_default_session_is_noticed() -> None:
    async with FaultyAssistant() as assistant:

        def forget() -> None:
            assistant.runtime.store.current = Session()

        assert "the default session lost its unknown field" in await failure_of(assistant, forget)


async def test_an_answer_to_something_else_is_noticed() -> None:
    faulty = plugin_that("mishears", lambda _site: ["good night"], shows="nothing")
    async with FaultyAssistant(faulty) as assistant:
        assert "it said ['I heard: good night']" in await failure_of(assistant)


async def test_a_fault_that_is_not_named_is_noticed() -> None:
    faulty = plugin_that("behaves", lambda site: site.normal, shows="failed")
    async with FaultyAssistant(faulty) as assistant:
        assert "utterance-behaves-inline (Does it.) is not named: ['unchanged']" in await failure_of(assistant)


async def test_a_fault_outside_the_turn_that_is_not_named_is_noticed() -> None:
    faulty = plugin_that("listens", lambda _site: None, point="listener", shows="failed")
    async with FaultyAssistant(faulty) as assistant:
        assert "is nowhere in the log" in await failure_of(assistant)


async def test_a_dead_bus_is_noticed() -> None:
    class Deaf(LocalBus):
        deaf = False

        def emit(self, message: Message) -> None:
            if not self.deaf:
                super().emit(message)

    async with FaultyAssistant(bus=Deaf) as assistant:
        bus: Any = assistant.bus
        told = await failure_of(assistant, lambda: setattr(bus, "deaf", True))
        bus.deaf = False
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
    async with FaultyAssistant(sulks) as assistant:
        sulks.provoked = False
        told = await failure_of(assistant)
    assert "No plugin claimed this" in told
