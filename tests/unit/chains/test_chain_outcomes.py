"""Every outcome of a transformer, in all six kinds and all three modes, with the full step of the trace."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from flow.chain_rig import ARTIFACTS, CHANGED, SIX, Rig, Step, link
from flow.stage import reached, transformer
from hark.hosting import CallLimits
from hark.model import Match, Session
from hark.plugins import Ctx, Transformer
from hark.spec import TransformerType, stamp_key
from hark.testing import settle
from hark.trace import summarize

Steps = tuple[str, str, str, float, str, Any, Any]


def steps(rig: Rig) -> list[Steps]:
    """The steps of a trace, but for when they were."""
    return [(s.stage, s.who, s.outcome, s.seconds, s.detail, s.before, s.after) for s in rig.trace.steps]


def slow(rig: Callable[[], Rig], step: Step) -> Step:
    """`step`, and five milliseconds pass."""

    def work(artifact: Any, ctx: Ctx) -> Any:
        rig().clock.pass_by(0.005)
        return step(artifact, ctx)

    return work


def made(kind: TransformerType, mode: str, step: Step) -> Transformer:
    """A transformer that runs inline, on a worker, or on the loop."""
    if mode != "loop":
        return link(kind, "a", step, quick=mode == "inline")
    if kind == "metadata":

        async def metadata(ctx: Ctx) -> Any:
            return step(None, ctx)

        return transformer(kind, "a", metadata)

    async def transform(artifact: Any, ctx: Ctx) -> Any:
        return step(artifact, ctx)

    return transformer(kind, "a", transform)


MODES = ["inline", "worker", "loop"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", SIX)
async def test_a_step_that_changed_nothing_is_traced_in_full(kind: TransformerType, mode: str) -> None:
    rig = Rig(kind, made(kind, mode, slow(lambda: rig, lambda artifact, ctx: artifact)))
    await rig.run()
    assert steps(rig) == [(kind, "a", "unchanged", 0.005, "", None, None)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [kind for kind in SIX if kind != "metadata"])
async def test_a_step_that_changed_the_artifact_is_traced_in_full(kind: TransformerType, mode: str) -> None:
    def change(artifact: Any, ctx: Ctx) -> Any:
        ctx.set("a.note", 1)
        return list(CHANGED[kind]) if kind == "utterance" else CHANGED[kind]

    rig = Rig(kind, made(kind, mode, slow(lambda: rig, change)))
    flow = await rig.run()
    kept = summarize(ARTIFACTS[kind]), summarize(CHANGED[kind])
    assert steps(rig) == [(kind, "a", "changed", 0.005, "context a.note", *kept)]
    assert flow.context[stamp_key(kind)] == ("a",)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", SIX)
async def test_a_step_that_cancelled_is_traced_in_full(kind: TransformerType, mode: str) -> None:
    def cancel(artifact: Any, ctx: Ctx) -> Any:
        ctx.cancel("policy_block")
        return artifact

    rig = Rig(kind, made(kind, mode, slow(lambda: rig, cancel)))
    flow = await rig.run()
    assert steps(rig) == [(kind, "a", "cancelled", 0.005, "policy_block", None, None)]
    keys = ("canceled", "cancel_reason", "cancel_by")
    assert [flow.context[key] for key in keys] == [True, "policy_block", "a"]


WRONG_SHAPES = {
    "audio": "transform() must return Audio, not int",
    "utterance": "transform() must return a list of texts, not int",
    "metadata": "a metadata transformer changes ctx and returns nothing, not int",
    "intent": "transform() must return a Match, not int",
    "dialog": "transform() must return text, not int",
    "tts": "transform() must return Audio, not int",
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", SIX)
async def test_a_step_of_the_wrong_shape_is_traced_in_full(kind: TransformerType, mode: str) -> None:
    rig = Rig(kind, made(kind, mode, slow(lambda: rig, lambda artifact, ctx: 7)))
    flow = await rig.run()
    assert steps(rig) == [(kind, "a", "malformed", 0.005, WRONG_SHAPES[kind], None, None)]
    assert stamp_key(kind) not in flow.context
    assert rig.entries[0].failures == 1


CLAIM = ARTIFACTS["intent"]
BAD_CLAIMS = [
    (CLAIM.replace(lang="no tag"), "the Match it returned is malformed: lang 'no tag' is no BCP-47 tag"),
    (CLAIM.replace(skill_id="other.skill"), "an intent transformer cannot change skill_id or intent_name"),
    (CLAIM.replace(intent_name="stay"), "an intent transformer cannot change skill_id or intent_name"),
    (
        CLAIM.replace(updated_session=Session("x")),
        "an intent transformer changes the session through ctx.session, not updated_session",
    ),
]


@pytest.mark.parametrize(("claim", "why"), BAD_CLAIMS)
async def test_what_is_wrong_with_a_changed_match_is_traced(claim: Match, why: str) -> None:
    rig = Rig("intent", link("intent", "a", lambda artifact, ctx: claim))
    flow = await rig.run()
    assert [(step.outcome, step.detail) for step in rig.trace.steps] == [("malformed", why)]
    assert flow.artifact is CLAIM


@pytest.mark.parametrize(
    ("kind", "result", "why"),
    [
        ("utterance", ["fine", 7], "every utterance must be text, not int"),
        ("utterance", ["half a pair \ud83d"], "text holds a lone surrogate: 'half a pair \\ud83d'"),
        ("dialog", "half a pair \ud83d", "text holds a lone surrogate: 'half a pair \\ud83d'"),
        ("audio", ARTIFACTS["audio"].__class__(b"\x00", 0), "the Audio it returned is malformed: "),
    ],
    ids=["a number among texts", "half a text among texts", "half a text", "no sound"],
)
async def test_what_is_wrong_inside_an_artifact_is_traced(kind: TransformerType, result: Any, why: str) -> None:
    rig = Rig(kind, link(kind, "a", lambda artifact, ctx: result))
    flow = await rig.run()
    [step] = rig.trace.steps
    assert step.outcome == "malformed"
    assert step.detail.startswith(why)
    assert flow.artifact == ARTIFACTS[kind]


class OddSession(Session):
    """A subclass could run its own code when it is read."""


async def test_a_session_of_another_class_is_refused() -> None:
    def replace(text: str, ctx: Ctx) -> str:
        ctx.session = object.__new__(OddSession)
        return text

    rig = Rig("dialog", link("dialog", "a", replace))
    await rig.run()
    assert [(s.outcome, s.detail) for s in rig.trace.steps] == [
        ("malformed", "ctx.session must be a Session, not OddSession")
    ]


@pytest.mark.parametrize("quick", [True, False], ids=["inline", "worker"])
@pytest.mark.parametrize("kind", SIX)
async def test_a_transformer_that_is_suspended_is_traced_in_full(kind: TransformerType, quick: bool) -> None:
    rig = Rig(kind, link(kind, "a", quick=quick), limits=CallLimits(failures_allowed=2))
    entry = rig.entries[0]
    assert entry is not None
    for _ in range(2):
        rig.runner.record_failure(entry, "took longer than 5 s", late=True)
    await rig.run()
    assert steps(rig) == [(kind, "a", "skipped", 0.0, "it was late 2 times in a row", None, None)]


class Blocker:
    """A transformer that blocks its thread until the test sets `opened`."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def __call__(self, artifact: Any, ctx: Ctx) -> Any:
        self.reached.set()
        assert self.opened.wait(20)
        return artifact


@pytest.mark.parametrize("kind", SIX)
async def test_a_late_step_on_a_worker_is_traced_in_full_and_the_next_one_runs(kind: TransformerType) -> None:
    blocker = Blocker()
    rig = Rig(
        kind,
        link(kind, "a", quick=False),
        link(kind, "b", blocker, quick=False),
        link(kind, "c", quick=False),
        limits=CallLimits(seconds=2.0),
    )
    run = asyncio.ensure_future(rig.run())
    await settle()
    await reached(blocker.reached)
    await rig.clock.advance(3.0)
    flow = await asyncio.wait_for(run, 10)
    blocker.opened.set()
    assert steps(rig) == [
        (kind, "a", "unchanged", 0.0, "", None, None),
        (kind, "b", "late", 2.0, "took longer than 2 s", None, None),
        (kind, "c", "unchanged", 0.0, "", None, None),
    ]
    assert flow.context[stamp_key(kind)] == ("a", "c")


@pytest.mark.parametrize("kind", SIX)
async def test_a_stopped_turn_names_the_transformer_it_was_in_and_runs_no_further_one(kind: TransformerType) -> None:
    blocker = Blocker()
    ran: list[str] = []
    rig = Rig(
        kind,
        link(kind, "a", quick=False),
        link(kind, "b", blocker, quick=False),
        link(kind, "c", lambda artifact, ctx: ran.append("c"), quick=False),
    )
    run = asyncio.ensure_future(rig.run())
    await settle()
    await reached(blocker.reached)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    blocker.opened.set()
    await settle()
    assert steps(rig) == [
        (kind, "a", "unchanged", 0.0, "", None, None),
        (kind, "b", "stopped", 0.0, "the turn was stopped while it ran", None, None),
    ]
    assert ran == []


@pytest.mark.parametrize("kind", SIX)
async def test_a_stopped_turn_in_an_async_transformer_names_it(kind: TransformerType) -> None:
    started = asyncio.Event()

    async def metadata(ctx: Ctx) -> None:
        started.set()
        await asyncio.Event().wait()

    async def transform(artifact: Any, ctx: Ctx) -> None:
        await metadata(ctx)

    rig = Rig(kind, transformer(kind, "a", metadata if kind == "metadata" else transform))
    run = asyncio.ensure_future(rig.run())
    await started.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert steps(rig) == [(kind, "a", "stopped", 0.0, "the turn was stopped while it ran", None, None)]
