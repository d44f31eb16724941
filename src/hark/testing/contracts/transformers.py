"""The contract of the six kinds of transformer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from hark.app.runtime import Runtime
from hark.chains import Flow
from hark.model import Message, Session
from hark.model.session_merge import Denials
from hark.plugins import Ctx, Transformer
from hark.testing.contracts.clause import COMMON, Clause, clause, test_of
from hark.testing.contracts.samples import ARTIFACTS, LANGUAGES
from hark.testing.contracts.subject import Make, Subject, input_and_output, loaded
from hark.trace import TurnTrace

_FINE: Final = ("changed", "unchanged", "cancelled")
_AT_ONCE: Final = 50


class _Passed(NamedTuple):
    """What came out of a chain that consists of the transformer alone."""

    artifact: Any
    lang: str | None
    context: Mapping[str, Any]
    session: Session
    outcome: str
    detail: str


async def _passed(
    runtime: Runtime, plugin: Transformer, artifact: Any, lang: str | None = "en-US", name: str = "x"
) -> _Passed:
    session = Session(name, lang="en-US")
    origin = Message("contract.origin", {}, {"utterance_id": name}, session)
    flow = Flow(artifact, lang if plugin.type not in ("metadata", "intent") else None, origin, session, Denials())
    trace = TurnTrace(name, name, (), 0.0, runtime.clock.monotonic)
    await runtime.chains[plugin.type].run(flow, trace)
    step = trace.steps[-1]
    return _Passed(flow.artifact, flow.lang, flow.context, flow.session, step.outcome, step.detail)


async def _has_to_pass(runtime: Runtime, plugin: Transformer, artifact: Any, **how: Any) -> _Passed:
    passed = await _passed(runtime, plugin, artifact, **how)
    assert passed.outcome in _FINE, f"it {passed.outcome}: {passed.detail}"
    return passed


@clause
async def it_changes_nothing_behind_the_frames_back(subject: Subject) -> None:
    """What it was given is as it was afterwards, unless that is what it returns."""
    async with subject.runtime() as (runtime, plugin):
        for artifact in ARTIFACTS[plugin.type].values():
            given = list(artifact) if plugin.type == "utterance" else artifact
            ctx = Ctx(Message("contract.origin").context, Session("x"), None, plugin.type not in ("metadata", "intent"))
            arguments = (ctx,) if plugin.type == "metadata" else (given, ctx)
            outcome = await runtime.runner.call(loaded(runtime, plugin), *arguments)
            if outcome.error is None and outcome.value is not given and plugin.type == "utterance":
                assert tuple(given) == artifact, "it changed the list it was given and returned another one"


@clause
async def it_works_without_a_language(subject: Subject) -> None:
    """Chains never make up a language: often none was stated."""
    async with subject.runtime() as (runtime, plugin):
        for artifact in ARTIFACTS[plugin.type].values():
            await _has_to_pass(runtime, plugin, artifact, lang=None)


@clause
async def it_works_in_languages_it_does_not_know(subject: Subject) -> None:
    """An unknown language is no reason to fail."""
    async with subject.runtime() as (runtime, plugin):
        for lang in LANGUAGES:
            await _has_to_pass(runtime, plugin, ARTIFACTS[plugin.type]["ordinary"], lang=lang)


@clause
async def fifty_calls_at_once_do_not_get_mixed_up(subject: Subject) -> None:
    """Turns run side by side, on any number of sessions: each gets what it would have got alone."""
    async with subject.runtime() as (runtime, plugin):
        artifacts = list(ARTIFACTS[plugin.type].values())
        some = [artifacts[number % len(artifacts)] for number in range(_AT_ONCE)]
        alone = [await _passed(runtime, plugin, each, name=f"s{n}") for n, each in enumerate(some)]
        again = [await _passed(runtime, plugin, each, name=f"s{n}") for n, each in enumerate(some)]
        together = await asyncio.gather(*(_passed(runtime, plugin, each, name=f"s{n}") for n, each in enumerate(some)))
        for number, passed in enumerate(together):
            assert passed.outcome in _FINE, f"at once with others it {passed.outcome}: {passed.detail}"
            assert passed.session.session_id == f"s{number}", "it has mixed up two sessions"
            if alone[number] == again[number]:  # else it answers differently every time, and may do so here
                assert passed == alone[number], f"alone: {alone[number]}\nat once with others: {passed}"


@clause
async def it_reads_and_writes_nothing_if_it_is_quick(subject: Subject) -> None:
    """`quick` is a promise: no files, no network, no waiting, for everything else stands still meanwhile."""
    async with subject.runtime() as (runtime, plugin):
        if not plugin.quick:
            return
        for artifact in ARTIFACTS[plugin.type].values():
            await _passed(runtime, plugin, artifact)  # what is imported or cached the first time does not count
            with input_and_output() as calls:
                await _passed(runtime, plugin, artifact)
            assert not calls, f"it is declared quick, but does: {', '.join(calls)}"


def _shape_clauses(kind: Any) -> Iterator[Clause]:
    def made(name: str, artifact: Any) -> Clause:
        async def check(subject: Subject) -> None:
            async with subject.runtime() as (runtime, plugin):
                await _has_to_pass(runtime, plugin, artifact)

        return Clause(f"it_copes_with_{name}", check)

    for name, artifact in ARTIFACTS[kind].items():
        yield made(name, artifact)


def transformer_contract(make: Make, *, settings: Mapping[str, Any] | None = None) -> Callable[..., None]:
    """The contract of a transformer: `test_contract = transformer_contract(MyTransformer)`."""
    kind = getattr(make, "type", None) or getattr(make(), "type", None)
    clauses = (
        *COMMON,
        *_shape_clauses(kind),
        it_changes_nothing_behind_the_frames_back,
        it_works_without_a_language,
        it_works_in_languages_it_does_not_know,
        fifty_calls_at_once_do_not_get_mixed_up,
        it_reads_and_writes_nothing_if_it_is_quick,
    )
    return test_of(clauses, make, settings or {})
