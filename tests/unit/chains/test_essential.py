"""Essential transformers: nothing passes that they have not accepted (ruling R19)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flow.chain_rig import SIX, Rig, link
from flow.essential_guard import random_failures
from flow.stage import claims, transformer
from hark.hosting import CallLimits
from hark.model import Message, Session
from hark.plugins import Ctx
from hark.spec import TransformerType, topics
from hark.testing import Assistant


def raises(artifact: Any, ctx: Ctx) -> Any:
    raise LookupError("no rules")


def malformed(artifact: Any, ctx: Ctx) -> Any:
    return object()


@pytest.mark.parametrize("quick", [True, False], ids=["inline", "worker"])
@pytest.mark.parametrize("step", [raises, malformed])
@pytest.mark.parametrize("kind", SIX)
async def test_an_essential_transformer_that_fails_cancels(kind: TransformerType, step: Any, quick: bool) -> None:
    after: list[str] = []
    rig = Rig(
        kind,
        link(kind, "guard", step, quick=quick),
        link(kind, "next", lambda artifact, ctx: after.append("ran") or artifact, priority=60, quick=quick),
    )
    rig.chain.require(["guard"])
    flow = await rig.run()
    assert flow.cancelled
    assert (flow.context["cancel_reason"], flow.context["cancel_by"]) == ("policy_block", "guard")
    assert not after


@pytest.mark.parametrize("kind", SIX)
async def test_the_same_failure_of_another_transformer_cancels_nothing(kind: TransformerType) -> None:
    rig = Rig(kind, link(kind, "guard"), link(kind, "other", raises, priority=60))
    rig.chain.require(["guard"])
    assert not (await rig.run()).cancelled


async def test_an_essential_transformer_that_is_late_or_suspended_cancels() -> None:
    forever = asyncio.Event()

    async def wait(text: str, ctx: Ctx) -> str:
        await forever.wait()
        return text

    limits = CallLimits(seconds=1.0, failures_allowed=1)
    rig = Rig("dialog", transformer("dialog", "guard", wait), limits=limits)
    rig.chain.require(["guard"])
    run = asyncio.ensure_future(rig.run())
    await rig.clock.advance(1.0)
    assert (await run).cancelled
    assert (await rig.run()).cancelled
    assert rig.story == [("guard", "late"), ("guard", "cancelled"), ("guard", "skipped"), ("guard", "cancelled")]


@pytest.mark.parametrize("kind", SIX)
async def test_an_essential_transformer_that_is_not_loaded_cancels(kind: TransformerType) -> None:
    rig = Rig(kind, link(kind, "other"))
    rig.chain.require(["guard"])
    assert (await rig.run()).cancelled
    assert rig.trace.steps[0].detail == "it is not loaded"


async def test_one_that_was_unloaded_cancels() -> None:
    settings = {"transformer": {"utterance": {"guard": {"essential": True}}}}
    async with Assistant(transformer("utterance", "guard", lambda t, ctx: t), claims(), settings=settings) as hark:
        assert await hark.hears("hello") == ["hello"]
        hark.runtime.transformers["utterance"].remove("guard")
        assert await hark.hears("hello") == []
        assert hark.of(topics.UTTERANCE_CANCELLED)[-1].data == {"cancel_reason": "policy_block", "cancel_by": "guard"}


@pytest.mark.spec("TRANSFORM-1/6.c")
async def test_an_unloaded_transformer_is_no_longer_listed() -> None:
    async with Assistant(transformer("dialog", "a", lambda t, ctx: t)) as hark:
        entry = hark.runtime.transformers["dialog"].get("a")
        entry.unloaded = "3 of its calls have not returned"
        hark.bus.emit(Message(topics.transformer_list("dialog")))
        assert hark.of("ovos.transformer.dialog.list.response")[-1].data == {"loaded": (), "priorities": {}}


async def test_one_that_is_suspended_is_listed_with_the_reason() -> None:
    async with Assistant(transformer("dialog", "a", lambda t, ctx: t)) as hark:
        entry = hark.runtime.transformers["dialog"].get("a")
        for _ in range(5):
            hark.runtime.runner.record_failure(entry, "took longer than 5 s", late=True)
        hark.bus.emit(Message(topics.transformer_list("dialog")))
        told = hark.of("ovos.transformer.dialog.list.response")[-1].data
        assert told["loaded"] == ("a",)
        assert told["suspended"] == {"a": "it was late 5 times in a row"}


@pytest.mark.parametrize("kind", SIX)
async def test_a_session_cannot_choose_a_chain_without_it(kind: TransformerType) -> None:
    called: list[str] = []

    def note(who: str) -> Any:
        return lambda artifact, ctx: called.append(who) or artifact

    rig = Rig(
        kind,
        link(kind, "first", note("first"), priority=10),
        link(kind, "guard", note("guard"), priority=40),
        link(kind, "last", note("last"), priority=90),
    )
    rig.chain.require(["guard"])
    await rig.run(session=Session("x", **{f"{kind}_transformers": ["last", "first"]}))
    assert called == ["last", "first", "guard"], "after everything that comes before it by priority"
    called.clear()
    await rig.run(session=Session("x", **{f"{kind}_transformers": ["ghost"]}))
    assert called == ["guard"]


@pytest.mark.parametrize("kind", SIX)
async def test_a_session_that_denies_it_is_cancelled(kind: TransformerType) -> None:
    rig = Rig(kind, link(kind, "guard"), link(kind, "other"))
    rig.chain.require(["guard"])
    flow = await rig.run(session=Session("x", **{f"blacklisted_{kind}_transformers": ["guard"]}))
    assert flow.cancelled
    assert flow.context["cancel_reason"] == "policy_block"


async def test_the_deployers_explicit_list_does_not_drop_it() -> None:
    rig = Rig("dialog", link("dialog", "guard", raises), link("dialog", "other"), order=("other",))
    rig.chain.require(["guard"])
    assert (await rig.run()).cancelled


async def test_no_sentence_passes_an_essential_guard_that_fails_at_random() -> None:
    report = await random_failures(400, seed=7)
    assert report.passed_a_broken_guard == []
    assert report.turns == 400
    assert report.spoken > 0, "what the guard accepted was said"
    assert report.cancelled + report.spoken == report.turns
    assert set(report.failures) == {"raise", "wrong shape", "late", "breaker open", "unloaded", "not installed"}
