"""Running the transformers of one kind in order; surviving any of them; stopping on a cancellation."""

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
from hark.trace import TurnTrace
from hark.trace.turn_trace import summarize

log = logging.getLogger("hark.chains")

Chained = tuple[Loaded[Transformer], ...]


class Composition:
    """Preference, then availability, then policy: the chain of one kind for one session."""

    def __init__(self, kind: TransformerType, registry: Registry[Any], order: tuple[str, ...] | None) -> None:
        self.registry: Registry[Transformer] = registry
        self._order = order
        """The deployer's explicit list; None leaves it to the priorities."""
        self._preference = f"{kind}_transformers"
        self._denylist = f"blacklisted_{kind}_transformers"
        self._deployed: Chained = ()
        self._version = -1

    def reorder(self, order: tuple[str, ...] | None) -> None:
        """Go by another list of the deployer, or by the priorities; each run that begins after this does."""
        self._order = order
        self._version = -1

    def deployed(self) -> Chained:
        """The chain of a session that asks for nothing."""
        if self._version != self.registry.version:
            self._version = self.registry.version
            if self._order is None:
                self._deployed = tuple(sorted(self.registry, key=lambda entry: entry.plugin.priority))
            else:
                self._deployed = self._named(self._order)
        return self._deployed

    def effective(self, session: Session, denials: Denials) -> Chained:
        """The chain of this session. Asking only for what is not there gives an empty chain, never the deployed one."""
        preferred = session.get(self._preference)
        chain = self.deployed() if preferred is None else self._named(preferred)
        if denials and (denied := denials.denied(self._denylist)):
            chain = tuple(entry for entry in chain if entry.id not in denied)
        return chain

    def _named(self, ids: tuple[str, ...]) -> Chained:
        found = []
        for transformer_id in dict.fromkeys(ids):
            entry = self.registry.get(transformer_id)
            if entry is None:
                log.debug("no %s transformer %r is loaded", self.registry.kind, transformer_id)
            else:
                found.append(entry)
        return tuple(found)


class Flow:
    """An artifact with its language, context and session, as the transformers accepted so far have left them.

    Belongs to one run of one chain; every value in it is immutable, so whoever got one earlier keeps what it got.
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
        """The denylists in force; a transformer can add to them, not take away."""
        self.cancelled = False

    def cancel(self, by: str, reason: str) -> None:
        """End the flow here; who asked for it is known to the frame alone."""
        self.cancelled = True
        self.context = Frozen({**self.context, CANCELED: True, CANCEL_REASON: reason, CANCEL_BY: by})

    def message(self) -> Message:
        """The Message as it stands now."""
        return self.origin.within(self.context, self.session)


class Chain:
    """The chain of one kind. One mechanism for all six; `KINDS` says what differs."""

    def __init__(
        self,
        kind: TransformerType,
        registry: Registry[Any],
        runner: Runner,
        emit: Callable[[Message], None],
        order: tuple[str, ...] | None = None,
    ) -> None:
        self.kind = KINDS[kind]
        self.composition = Composition(kind, registry, order)
        self._runner = runner
        self._emit = emit
        self._stamp = stamp_key(kind)
        self._stops_on_empty = kind == "utterance"

    async def run(self, flow: Flow, trace: TurnTrace, members: Chained | None = None) -> None:
        """Take `flow` through `members`, or else through the chain its session is to have.

        A transformer that fails, is late or returns the wrong shape counts as if it had returned its input.
        Ends early when one cancels, or when no utterance is left.
        """
        chain = self.effective(flow.session, flow.denials) if members is None else members
        at = 0
        while at < len(chain) and not self._ended(flow):
            entry = chain[at]
            if entry.mode == "worker":
                at += await self._run_on_worker(self._workers_from(chain, at), flow, trace)
                continue
            at += 1
            if (entry.failures or entry.unloaded) and self._skipped(entry, trace):
                continue
            ctx = Ctx(flow.context, flow.session, flow.lang, self.kind.has_lang)
            arguments = self.kind.given(flow.artifact, ctx)
            if entry.mode == "inline":
                outcome = self._runner.call_now(entry, *arguments)
            else:
                try:
                    outcome = await self._runner.call(entry, *arguments)
                except asyncio.CancelledError:
                    self._stopped(entry, trace)
                    raise
            self._settle(flow, entry, ctx, outcome, trace)

    def _ended(self, flow: Flow) -> bool:
        return flow.cancelled or (self._stops_on_empty and not flow.artifact)

    def _skipped(self, entry: Loaded[Transformer], trace: TurnTrace) -> bool:
        if not entry.available(self._runner.clock.monotonic()):
            why = entry.unloaded or f"it failed {entry.failures} times in a row"
            trace.step(self.kind.name, entry.id, "skipped", 0.0, why)
            return True
        return False

    def _workers_from(self, chain: Chained, at: int) -> Chained:
        """The transformers from `at` on that can share one trip to a worker."""
        end = at
        while end < len(chain) and chain[end].mode == "worker":
            end += 1
        return chain[at:end]

    async def _run_on_worker(self, segment: Chained, flow: Flow, trace: TurnTrace) -> int:
        """Run consecutive worker transformers in one hop; how many of them are dealt with."""
        dealt_with = 0

        def accept(entry: Loaded[Transformer], ctx: Ctx, outcome: Outcome) -> None:
            nonlocal dealt_with
            self._runner.count_failure(entry, outcome)
            self._settle(flow, entry, ctx, outcome, trace)
            dealt_with += 1

        def work(job: Job) -> int:
            nonlocal dealt_with
            for entry in segment:
                if not self._skipped(entry, trace):
                    job.enter(entry, self._runner.clock.monotonic())
                    ctx = Ctx(flow.context, flow.session, flow.lang, self.kind.has_lang)
                    outcome = self._runner.attempt(entry, *self.kind.given(flow.artifact, ctx))
                    if not job.keep(partial(accept, entry, ctx, outcome)):
                        entry.returned_late()
                        break  # given up: the loop has gone on without this thread
                else:
                    dealt_with += 1
                if self._ended(flow):
                    break
            return dealt_with

        def given_up(late: Late) -> int:
            entry = segment[dealt_with]
            trace.step(self.kind.name, entry.id, "late", entry.limit, str(late))
            return dealt_with + 1

        try:
            return await self._runner.on_worker(work, given_up)
        except asyncio.CancelledError:
            self._stopped(segment[min(dealt_with, len(segment) - 1)], trace)
            raise

    def _stopped(self, entry: Loaded[Transformer], trace: TurnTrace) -> None:
        trace.step(self.kind.name, entry.id, "stopped", 0.0, "the turn was stopped while it ran")

    def _settle(self, flow: Flow, entry: Loaded[Transformer], ctx: Ctx, outcome: Outcome, trace: TurnTrace) -> None:
        """Take over what a transformer did, all of it or nothing."""
        if outcome.error is not None:
            how = "late" if outcome.late else "failed"
            trace.step(self.kind.name, entry.id, how, outcome.seconds, outcome.failure)
            return
        before = flow.artifact
        # Taken once: whoever kept the context may still be writing to it.
        session, emitted = ctx._session, tuple(ctx._emitted or ())
        try:
            artifact = self.kind.taken(before, outcome.value)
            if emitted or session is not flow.session:
                _check(session, emitted)
        except MalformedResult as misshapen:
            self._runner.record_failure(entry, str(misshapen))
            trace.step(self.kind.name, entry.id, "malformed", outcome.seconds, str(misshapen))
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
            self._take_session(flow, entry, session)
        if ctx._cancel_reason is not None:
            flow.cancel(entry.id, ctx._cancel_reason)
            trace.step(self.kind.name, entry.id, "cancelled", outcome.seconds, ctx._cancel_reason)
        elif artifact != before:
            kept = summarize(before), summarize(artifact)
            trace.step(self.kind.name, entry.id, "changed", outcome.seconds, changes, *kept)
        else:
            trace.step(self.kind.name, entry.id, "changed" if changes else "unchanged", outcome.seconds, changes)
        for topic, data in emitted:
            self._emit(flow.message().forward(topic, data))

    def _take_session(self, flow: Flow, entry: Loaded[Transformer], session: Session) -> None:
        if session.session_id != flow.session.session_id:
            log.warning(
                "%s moved the turn from session %s to %s", entry.id, flow.session.session_id, session.session_id
            )
        flow.denials = flow.denials.grown(session)
        flow.session = flow.denials.imposed_on(session)


def _check(session: Session, emitted: Iterable[tuple[str, Frozen]]) -> None:
    """Raise `MalformedResult` for what a transformer may not leave behind in its context."""
    if type(session) is not Session:  # to look into another kind of session runs its code
        raise MalformedResult(f"ctx.session must be a Session, not {type(session).__name__}")
    for topic, _data in emitted:
        if not plugins_may_emit(topic):
            raise MalformedResult(f"a transformer may not emit {topic}: only Hark says how a turn goes")


def _describe(flow: Flow, ctx: Ctx, session: Session) -> str:
    """What a transformer changed beside its artifact, in words."""
    told = []
    if ctx._lang != flow.lang:
        told.append(f"lang {flow.lang} → {ctx._lang}")
    if session is not flow.session:
        names = [name for name in {*session, *flow.session} if session.get(name) != flow.session.get(name)]
        if names:
            told.append("session " + ", ".join(sorted(names)))
    if ctx._changes is not None:
        told.append("context " + ", ".join(sorted(ctx._changes)))
    return "; ".join(told)
