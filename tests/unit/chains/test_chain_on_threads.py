"""Transformers on worker threads: consecutive ones share a job, and late ones are abandoned."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from flow.chain_rig import ARTIFACTS, SIX, Rig, link
from flow.stage import reached, transformer
from hark.hosting import CallLimits
from hark.hosting.loaded import DEMOTED_AT_ONCE
from hark.plugins import Ctx
from hark.spec import TransformerType, stamp_key
from hark.testing import settle


def hops(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Records every job for a worker thread."""
    made: list[Any] = []
    submit = rig.runner.threads.submit

    def counted(work: Any, *options: Any) -> Any:
        made.append(work)
        return submit(work, *options)

    monkeypatch.setattr(rig.runner.threads, "submit", counted)
    return made


def on_thread(threads: list[int], name: str = "") -> Any:
    def step(artifact: Any, ctx: Ctx) -> Any:
        threads.append(threading.get_ident())
        if name:
            ctx.set(f"{name}.was", "here")
        return artifact

    return step


@pytest.mark.parametrize("kind", SIX)
async def test_consecutive_worker_transformers_share_one_hop(
    kind: TransformerType, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    rig = Rig(kind, *(link(kind, name, on_thread(threads, name), quick=False) for name in "abcd"))
    made = hops(rig, monkeypatch)
    flow = await rig.run()
    assert len(made) == 1
    assert len(set(threads)) == 1
    assert threading.get_ident() not in threads
    assert flow.context[stamp_key(kind)] == ("a", "b", "c", "d")
    assert [flow.context[f"{name}.was"] for name in "abcd"] == ["here"] * 4


async def test_quick_ones_in_between_stay_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[tuple[str, bool]] = []
    here = threading.get_ident()

    def noting(name: str) -> Any:
        def step(artifact: Any, ctx: Ctx) -> Any:
            order.append((name, threading.get_ident() == here))
            return artifact

        return step

    async def on_loop(text: str, ctx: Ctx) -> str:
        return noting("c")(text, ctx)

    rig = Rig(
        "dialog",
        link("dialog", "a", noting("a"), quick=False),
        link("dialog", "b", noting("b"), quick=False),
        transformer("dialog", "c", on_loop),
        link("dialog", "d", noting("d"), quick=True),
        link("dialog", "e", noting("e"), quick=False),
    )
    made = hops(rig, monkeypatch)
    await rig.run()
    assert order == [("a", False), ("b", False), ("c", True), ("d", True), ("e", False)]
    assert len(made) == 2


async def test_a_chain_of_quick_ones_makes_no_hop(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig("dialog", link("dialog", "a"), link("dialog", "b"))
    made = hops(rig, monkeypatch)
    await rig.run()
    assert made == []


async def test_each_worker_transformer_works_on_what_the_one_before_left() -> None:
    rig = Rig("dialog", *(link("dialog", n, lambda text, ctx, n=n: f"{text}-{n}", quick=False) for n in "abc"))
    assert (await rig.run("x")).artifact == "x-a-b-c"


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit("no")])
async def test_one_that_raises_on_a_worker_is_passed_over(error: BaseException) -> None:
    def fail(text: str, ctx: Ctx) -> str:
        ctx.set("mine", 1)
        raise error

    def add(text: str, ctx: Ctx) -> str:
        return text + "!"

    rig = Rig(
        "dialog",
        link("dialog", "a", add, quick=False),
        link("dialog", "b", fail, quick=False),
        link("dialog", "c", add, quick=False),
    )
    flow = await rig.run("x")
    assert flow.artifact == "x!!"
    assert "mine" not in flow.context
    assert rig.story == [("a", "changed"), ("b", "failed"), ("c", "changed")]


async def test_cancelling_on_a_worker_ends_the_chain_there(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []

    def stop(text: str, ctx: Ctx) -> str:
        ctx.cancel("other")
        return text

    def note(text: str, ctx: Ctx) -> str:
        called.append(text)
        return text

    rig = Rig("dialog", link("dialog", "a", stop, quick=False), link("dialog", "b", note, quick=False))
    flow = await rig.run()
    assert flow.cancelled
    assert called == []


async def test_an_empty_list_on_a_worker_ends_the_utterance_chain() -> None:
    called: list[Any] = []
    rig = Rig(
        "utterance",
        link("utterance", "a", lambda texts, ctx: [], quick=False),
        link("utterance", "b", lambda texts, ctx: called.append(texts), quick=False),
        link("utterance", "c", lambda texts, ctx: called.append(texts)),
    )
    assert (await rig.run()).artifact == ()
    assert called == []


class Stuck:
    """A transformer step that blocks until the test lets it go."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.left = threading.Event()

    def __call__(self, artifact: Any, ctx: Ctx) -> Any:
        self.reached.set()
        assert self.opened.wait(20)
        ctx.set("late.note", "must not be seen")
        ctx.session = ctx.session.replace(persona_id="late")
        ctx.cancel("other")
        ctx.emit("test.note")
        self.left.set()
        return artifact


@pytest.mark.parametrize("kind", SIX)
async def test_a_late_transformer_counts_as_if_it_had_returned_its_input(kind: TransformerType) -> None:
    stuck = Stuck()
    calls: list[int] = []
    rig = Rig(
        kind,
        link(kind, "a", on_thread(calls, "a"), quick=False),
        link(kind, "stuck", stuck, quick=False),
        link(kind, "c", on_thread(calls, "c"), quick=False),
        limits=CallLimits(seconds=2.0),
    )
    run = asyncio.ensure_future(rig.run())
    await settle()
    await reached(stuck.reached)
    await rig.clock.advance(2.5)
    flow = await asyncio.wait_for(run, 10)
    assert rig.story == [("a", "changed"), ("stuck", "late"), ("c", "changed")]
    assert flow.artifact == ARTIFACTS[kind]
    stuck.opened.set()
    await reached(stuck.left)
    await settle()
    assert flow.context[stamp_key(kind)] == ("a", "c")
    assert "late.note" not in flow.context
    assert flow.session.persona_id is None
    assert not flow.cancelled
    assert rig.emitted == []
    assert len(calls) == 2, "the abandoned thread does not go on with the rest of the chain"


async def test_a_late_async_transformer_counts_as_if_it_had_returned_its_input() -> None:
    go_on = asyncio.Event()

    async def stubborn(text: str, ctx: Ctx) -> str:
        while not go_on.is_set():
            try:
                await go_on.wait()
            except asyncio.CancelledError:
                continue
        ctx.set("late.note", "must not be seen")
        ctx.emit("test.note")
        return "late"

    rig = Rig(
        "dialog", transformer("dialog", "stubborn", stubborn), link("dialog", "b"), limits=CallLimits(seconds=2.0)
    )
    run = asyncio.ensure_future(rig.run())
    await rig.clock.advance(2.5)
    flow = run.result()
    go_on.set()
    await settle()
    assert rig.story == [("stubborn", "late"), ("b", "unchanged")]
    assert flow.artifact == "hello"
    assert "late.note" not in flow.context
    assert rig.emitted == []


async def test_the_limit_of_each_counts_from_its_own_start() -> None:
    first, second = Stuck(), Stuck()

    def slow(gate: Stuck) -> Any:
        def step(text: str, ctx: Ctx) -> str:
            gate.reached.set()
            assert gate.opened.wait(20)
            return text + "!"

        return step

    rig = Rig(
        "dialog",
        link("dialog", "a", slow(first), quick=False),
        link("dialog", "b", slow(second), quick=False),
        limits=CallLimits(seconds=2.0),
    )
    run = asyncio.ensure_future(rig.run("x"))
    await settle()
    await reached(first.reached)
    await rig.clock.advance(1.9)
    first.opened.set()
    await reached(second.reached)
    await rig.clock.advance(1.9)
    assert not run.done()
    second.opened.set()
    assert (await asyncio.wait_for(run, 10)).artifact == "x!!"


async def test_after_three_threads_lost_a_transformer_is_skipped_and_the_trace_says_why() -> None:
    stucks = [Stuck() for _ in range(3)]
    waiting = iter(stucks)

    def step(text: str, ctx: Ctx) -> str:
        return next(waiting)(text, ctx)

    rig = Rig("dialog", link("dialog", "a", step, quick=False), limits=CallLimits(seconds=1.0))
    for stuck in stucks:
        run = asyncio.ensure_future(rig.run())
        await settle()
        await reached(stuck.reached)
        await rig.clock.advance(1.5)
        await run
    await rig.run()
    assert rig.story == [("a", "late")] * 3 + [("a", "skipped")]
    assert rig.trace.steps[-1].detail == "3 of its calls have not returned"
    for stuck in stucks:
        stuck.opened.set()


async def test_a_quick_transformer_that_overruns_runs_on_a_worker_from_then_on() -> None:
    threads: list[int] = []

    def step(text: str, ctx: Ctx) -> str:
        threads.append(threading.get_ident())
        rig.clock.pass_by(DEMOTED_AT_ONCE)
        return text

    rig = Rig("dialog", link("dialog", "a", step))
    await rig.run()
    await rig.run()
    assert threads[0] == threading.get_ident() != threads[1]


@pytest.mark.spec("TRANSFORM-1/1.a")
@pytest.mark.parametrize("quick", [True, False], ids=["inline", "worker"])
async def test_a_transformer_that_keeps_failing_is_called_each_time(quick: bool) -> None:
    calls = 0

    def step(text: str, ctx: Ctx) -> Any:
        nonlocal calls
        calls += 1
        if calls % 2:
            raise ValueError("no")
        return 7

    rig = Rig("dialog", link("dialog", "a", step, quick=quick), limits=CallLimits(failures_allowed=3))
    for _ in range(20):
        await rig.run()
    assert rig.story == [("a", "failed"), ("a", "malformed")] * 10
    assert rig.chain.suspended() == {}


async def test_a_transformer_that_is_late_again_and_again_rests_and_is_tried_again() -> None:
    release = asyncio.Event()

    async def step(text: str, ctx: Ctx) -> str:
        await release.wait()
        return "well again"

    rig = Rig(
        "dialog",
        transformer("dialog", "a", step),
        limits=CallLimits(seconds=1.0, failures_allowed=2, retry_after=10.0),
    )
    for _ in range(2):
        run = asyncio.ensure_future(rig.run())
        await rig.clock.advance(1.0)
        await run
    await rig.run()
    assert rig.story == [("a", "late"), ("a", "late"), ("a", "skipped")]
    assert rig.chain.suspended() == {"a": "it was late 2 times in a row"}
    await rig.clock.advance(10.0)
    release.set()
    assert rig.chain.suspended() == {}
    assert (await rig.run()).artifact == "well again"


@pytest.mark.parametrize("quick", [True, False], ids=["inline", "worker"])
async def test_an_unloaded_transformer_is_skipped(quick: bool) -> None:
    called: list[str] = []
    rig = Rig("dialog", link("dialog", "a", lambda text, ctx: called.append(text), quick=quick))
    entry = rig.registry.get("a")
    assert entry is not None
    entry.unloaded = "it is broken"
    await rig.run()
    assert called == []
    assert rig.trace.steps[0].detail == "it is broken"
