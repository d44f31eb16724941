"""A chain runs the transformers of one kind in order, survives any of them, and stops on a cancellation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from hark.chains.kinds import KINDS, MalformedResult
from hark.hosting import Job, Late, Loaded, Outcome, Registry, Runner, plugins_may_emit, with_stamp
from hark.model import Frozen, Message, Session
from hark.model.session_merge import Denials
from hark.plugins import Ctx, Transformer
from hark.spec.names import CANCEL_BY, CANCEL_REASON, CANCELED, TransformerType, stamp_key
from hark.trace import TurnTrace, summarize

log = logging.getLogger("hark.chains")

Members = tuple[Loaded[Transformer], ...]


class Flow:
    """An artifact with its language, context and session, as the transformers so far have left them.

    One `Flow` belongs to one run of one chain. Its values are immutable: a step replaces them.
    """

    __slots__ = ("artifact", "cancelled", "context", "denials", "lang", "origin", "session")

    def __init__(self, artifact: Any, lang: str | None, origin: Message, session: Session, denials: Denials) -> None:
        self.artifact = artifact
        self.lang = lang
        self.origin = origin
        """The Message whose artifact this is."""
        self.context: Frozen = origin.context
        self.session = session
        self.denials = denials
        """The denylists in force; a transformer can only add to them."""
        self.cancelled = False

    def cancel(self, by: str, reason: str) -> None:
        """Cancel the flow; `by` is the id of the transformer."""
        self.cancelled = True
        self.context = Frozen({**self.context, CANCELED: True, CANCEL_REASON: reason, CANCEL_BY: by})

    def message(self) -> Message:
        """The original Message with the present context and session."""
        return self.origin.within(self.context, self.session)


class Chain:
    """The chain of one kind, and which transformers are in it (TRANSFORM-1 §§4, 5). `KINDS` has what differs."""

    def __init__(
        self,
        kind: TransformerType,
        registry: Registry[Any],
        runner: Runner,
        emit: Callable[[Message], None],
        order: tuple[str, ...] | None = None,
    ) -> None:
        self.kind = KINDS[kind]
        self.registry: Registry[Transformer] = registry
        self._runner = runner
        self._emit = emit
        self._stamp = stamp_key(kind)
        self._stops_on_empty = kind == "utterance"
        self._order = order
        """The deployer's explicit list; None means by priority."""
        self._preference = f"{kind}_transformers"
        self._denylist = f"blacklisted_{kind}_transformers"
        self._deployed: Members = ()
        self._version = -1
        """The version of the registry that `_deployed` was made from."""

    def reorder(self, order: tuple[str, ...] | None) -> None:
        """Use another explicit order, or None for the priorities, from the next run on."""
        self._order = order
        self._version = -1

    def deployed(self) -> Members:
        """The chain of a session without preferences."""
        if self._version != self.registry.version:
            self._version = self.registry.version
            if self._order is None:
                self._deployed = tuple(sorted(self.registry, key=lambda entry: entry.plugin.priority))
            else:
                self._deployed = self._named(self._order)
        return self._deployed

    def effective(self, session: Session, denials: Denials) -> Members:
        """The chain of this session: its preference, else the deployed chain, without what is denied.

        A preference for transformers that are not loaded gives an empty chain, never the deployed one.
        """
        preferred = session.get(self._preference)
        chain = self.deployed() if preferred is None else self._named(preferred)
        if denials and (denied := denials.denied(self._denylist)):
            chain = tuple(entry for entry in chain if entry.id not in denied)
        return chain

    def _named(self, ids: tuple[str, ...]) -> Members:
        found = []
        for transformer_id in dict.fromkeys(ids):
            entry = self.registry.get(transformer_id)
            if entry is None:
                log.debug("no %s transformer %r is loaded", self.registry.kind, transformer_id)
            else:
                found.append(entry)
        return tuple(found)

    async def run(self, flow: Flow, trace: TurnTrace, members: Members | None = None) -> None:
        """Take `flow` through `members`, by default the effective chain of its session.

        A transformer that fails, is late or returns a malformed result counts as if it had returned its input. The run
        ends early when one cancels, or when no utterance is left.
        """
        chain = self.effective(flow.session, flow.denials) if members is None else members
        at = 0
        while at < len(chain) and not self._is_over(flow):
            entry = chain[at]
            if entry.mode == "worker":
                at += await self._run_on_worker(self._worker_segment(chain, at), flow, trace)
                continue
            at += 1
            if (entry.failures or entry.unloaded) and self._skip(entry, trace):
                continue
            ctx = Ctx(flow.context, flow.session, flow.lang, self.kind.has_lang)
            arguments = self.kind.arguments(flow.artifact, ctx)
            if entry.mode == "inline":
                outcome = self._runner.call_now(entry, *arguments)
            else:
                try:
                    outcome = await self._runner.call(entry, *arguments)
                except asyncio.CancelledError:
                    self._trace_stopped(entry, trace)
                    raise
            self._accept(flow, entry, ctx, outcome, trace)

    def _is_over(self, flow: Flow) -> bool:
        return flow.cancelled or (self._stops_on_empty and not flow.artifact)

    def _skip(self, entry: Loaded[Transformer], trace: TurnTrace) -> bool:
        if not entry.available(self._runner.clock.monotonic()):
            why = entry.unloaded or f"it failed {entry.failures} times in a row"
            trace.step(self.kind.name, entry.id, "skipped", 0.0, why)
            return True
        return False

    def _worker_segment(self, chain: Members, at: int) -> Members:
        """The consecutive transformers from `at` on that run on a worker thread."""
        end = at
        while end < len(chain) and chain[end].mode == "worker":
            end += 1
        return chain[at:end]

    async def _run_on_worker(self, segment: Members, flow: Flow, trace: TurnTrace) -> int:
        """Run consecutive transformers in one job on a worker thread; how many of them are done."""
        finished = 0

        def accept(entry: Loaded[Transformer], ctx: Ctx, outcome: Outcome) -> None:
            nonlocal finished
            self._runner.count_failure(entry, outcome)
            self._accept(flow, entry, ctx, outcome, trace)
            finished += 1

        def work(job: Job) -> int:
            nonlocal finished
            for entry in segment:
                if not self._skip(entry, trace):
                    job.enter(entry, self._runner.clock.monotonic())
                    ctx = Ctx(flow.context, flow.session, flow.lang, self.kind.has_lang)
                    outcome = self._runner.attempt(entry, *self.kind.arguments(flow.artifact, ctx))
                    if not job.keep(partial(accept, entry, ctx, outcome)):
                        entry.returned_late()
                        break  # abandoned: the event loop has gone on without this thread
                else:
                    finished += 1
                if self._is_over(flow):
                    break
            return finished

        def abandoned(late: Late) -> int:
            entry = segment[finished]
            trace.step(self.kind.name, entry.id, "late", entry.limit, str(late))
            return finished + 1

        try:
            return await self._runner.on_worker(work, abandoned)
        except asyncio.CancelledError:
            self._trace_stopped(segment[min(finished, len(segment) - 1)], trace)
            raise

    def _trace_stopped(self, entry: Loaded[Transformer], trace: TurnTrace) -> None:
        trace.step(self.kind.name, entry.id, "stopped", 0.0, "the turn was stopped while it ran")

    def _accept(self, flow: Flow, entry: Loaded[Transformer], ctx: Ctx, outcome: Outcome, trace: TurnTrace) -> None:
        """Apply what a transformer did to `flow`, all of it or nothing."""
        if outcome.error is not None:
            how = "late" if outcome.late else "failed"
            trace.step(self.kind.name, entry.id, how, outcome.seconds, outcome.failure)
            return
        before = flow.artifact
        # Read once: a plugin that kept its context may still write to it.
        session, emitted = ctx._session, tuple(ctx._emitted or ())
        try:
            artifact = self.kind.accept(before, outcome.value)
            if emitted or session is not flow.session:
                _check(session, emitted)
        except MalformedResult as malformed:
            self._runner.record_failure(entry, str(malformed))
            trace.step(self.kind.name, entry.id, "malformed", outcome.seconds, str(malformed))
            return
        if entry.failures:
            entry.succeeded()
        untouched = ctx._changes is None and session is flow.session and ctx._lang == flow.lang
        changes = "" if untouched else _describe(flow, ctx, session)
        context = flow.context if ctx._changes is None else ctx._merged()
        flow.context = Frozen(context, **{self._stamp: with_stamp(context.get(self._stamp), entry.id)})
        flow.artifact = artifact
        flow.lang = ctx._lang
        if session is not flow.session:
            self._replace_session(flow, entry, session)
        if ctx._cancel_reason is not None:
            flow.cancel(entry.id, ctx._cancel_reason)
            trace.step(self.kind.name, entry.id, "cancelled", outcome.seconds, ctx._cancel_reason)
        elif artifact != before:
            trace.step(
                self.kind.name, entry.id, "changed", outcome.seconds, changes, summarize(before), summarize(artifact)
            )
        else:
            trace.step(self.kind.name, entry.id, "changed" if changes else "unchanged", outcome.seconds, changes)
        for topic, data in emitted:
            self._emit(flow.message().forward(topic, data))

    def _replace_session(self, flow: Flow, entry: Loaded[Transformer], session: Session) -> None:
        if session.session_id != flow.session.session_id:
            log.warning(
                "%s moved the turn from session %s to %s", entry.id, flow.session.session_id, session.session_id
            )
        flow.denials = flow.denials.grown(session)
        flow.session = flow.denials.imposed_on(session)


def _check(session: Session, emitted: Iterable[tuple[str, Frozen]]) -> None:
    """Raise `MalformedResult` for a session or emission that a transformer may not leave in its context."""
    if type(session) is not Session:  # a subclass could run its own code when read
        raise MalformedResult(f"ctx.session must be a Session, not {type(session).__name__}")
    for topic, _data in emitted:
        if not plugins_may_emit(topic):
            raise MalformedResult(f"a transformer may not emit {topic}: only Hark itself emits it")


def _describe(flow: Flow, ctx: Ctx, session: Session) -> str:
    """What a transformer changed besides its artifact, for the trace."""
    changes = []
    if ctx._lang != flow.lang:
        changes.append(f"lang {flow.lang} → {ctx._lang}")
    if session is not flow.session:
        names = [name for name in {*session, *flow.session} if session.get(name) != flow.session.get(name)]
        if names:
            changes.append("session " + ", ".join(sorted(names)))
    if ctx._changes is not None:
        changes.append("context " + ", ".join(sorted(ctx._changes)))
    return "; ".join(changes)
