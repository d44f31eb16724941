"""A chain runs the transformers of one kind in order, survives any of them, and stops on a cancellation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from hark.chains.kinds import KINDS, MalformedResult
from hark.hosting import Job, Late, Loaded, Outcome, Registry, Runner, plugins_may_emit, with_stamp
from hark.model import Frozen, Message, Session, context_topics
from hark.model.frozen import EMPTY
from hark.model.session_merge import Denials, restored
from hark.plugins import Ctx, Transformer
from hark.plugins.transformers import WHOLE, ArtifactPart
from hark.spec.names import CANCEL_BY, CANCEL_REASON, CANCELED, TRACE_KEEP, TransformerType, stamp_key
from hark.trace import TurnTrace, summarize

log = logging.getLogger("hark.chains")

Members = tuple[Loaded[Transformer], ...]

BLOCKED: Final = "policy_block"
"""Why an utterance is cancelled that an essential transformer could not pass (ruling R19)."""


class Flow:
    """An artifact with its language, context and session, as the transformers so far have left them.

    One `Flow` belongs to one run of one chain. Its values are immutable: a step replaces them.
    """

    __slots__ = ("artifact", "base", "cancelled", "context", "denials", "for_turn", "lang", "origin", "part", "session")

    def __init__(
        self,
        artifact: Any,
        lang: str | None,
        origin: Message,
        session: Session,
        denials: Denials,
        part: ArtifactPart = WHOLE,
    ) -> None:
        self.artifact = artifact
        self.lang = lang
        self.origin = origin
        """The Message whose artifact this is."""
        self.context: Frozen = origin.context
        self.session = self.base = session
        """The session now, and `base` as it was before the chain."""
        self.denials = denials
        """The denylists in force; a transformer can only add to them."""
        self.part = part
        self.for_turn: Frozen = EMPTY
        """The session fields that were set for this turn alone, each with its lasting value, or None if omitted."""
        self.cancelled = False

    def cancel(self, by: str, reason: str) -> None:
        """Cancel the flow; `by` is the id of the transformer."""
        self.cancelled = True
        self.context = Frozen({**self.context, CANCELED: True, CANCEL_REASON: reason, CANCEL_BY: by})

    @property
    def lasting_session(self) -> Session:
        """The session without what holds for this turn alone."""
        return restored(self.session, self.for_turn)

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
        self._essential: tuple[str, ...] = ()
        """The ids of the transformers that no artifact may bypass (ruling R19)."""
        self.context_topics = True
        """Whether transformers may change the intent context by `ovos.context.*` (ruling R6)."""
        self._preference = f"{kind}_transformers"
        self._denylist = f"blacklisted_{kind}_transformers"
        self._deployed: Members = ()
        self._version = -1
        """The version of the registry that `_deployed` was made from."""

    def reorder(self, order: tuple[str, ...] | None) -> None:
        """Use another explicit order, or None for the priorities, from the next run on."""
        self._order = order
        self._version = -1

    def require(self, essential: Iterable[str]) -> None:
        """Let nothing pass that these transformers, by id, have not accepted, from the next run on."""
        self._essential = tuple(essential)
        self._version = -1
        for entry in self.registry:
            entry.essential = entry.id in self._essential

    def deployed(self) -> Members:
        """The chain of a session without preferences."""
        if self._version != self.registry.version:
            self._version = self.registry.version
            if self._order is None:
                self._deployed = tuple(sorted(self.registry, key=lambda entry: entry.priority))
            else:
                self._deployed = self._named(self._order)
            if self._essential:
                self._deployed = self._with_essential(self._deployed)
        return self._deployed

    def effective(self, session: Session, denials: Denials) -> Members:
        """The chain of this session: its preference, else the deployed chain, without what is denied.

        A preference for transformers that are not loaded gives an empty chain, never the deployed one. Neither a
        preference nor a denylist takes an essential transformer out: denied, it answers with a cancellation.
        """
        preferred = session.get(self._preference)
        if preferred is None:
            chain = self.deployed()
        else:
            chain = self._named(preferred)
            if self._essential:
                chain = self._with_essential(chain)
        if denials and (denied := denials.denied(self._denylist)):
            refused = [entry for entry in chain if entry.id in denied]
            chain = tuple(entry for entry in chain if entry.id not in denied)
            blocked = [entry for entry in refused if entry.essential]
            if blocked:
                chain = (*(_absent(entry.id, "it is essential, and denied") for entry in blocked), *chain)
        return chain

    def _with_essential(self, chain: Members) -> Members:
        """`chain` with every essential transformer in it: after those with its priority or a lower one.

        One that is not loaded comes first, for it cancels.
        """
        members = list(chain)
        for transformer_id in self._essential:
            entry = self.registry.get(transformer_id)
            if entry is None:
                refused = [one.reason for one in self.registry.refusals if one.name == transformer_id]
                members.insert(0, _absent(transformer_id, refused[-1] if refused else "it is not loaded"))
                continue
            entry.essential = True
            if entry not in members:
                before = [at for at, other in enumerate(members) if other.priority <= entry.priority]
                members.insert(before[-1] + 1 if before else 0, entry)
        return tuple(members)

    def suspended(self) -> dict[str, str]:
        """The loaded transformers that are not called at the moment because they were late, and why."""
        now = self._runner.clock.monotonic()
        return {entry.id: why for entry in self.registry if not entry.unloaded and (why := entry.suspended(now))}

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
            if (entry.failures or entry.unloaded) and self._skip(entry, flow, trace):
                continue
            ctx = self._ctx(flow, entry)
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

    def _ctx(self, flow: Flow, entry: Loaded[Transformer]) -> Ctx:
        kind, wall = self.kind, self._runner.clock.wall
        return Ctx(flow.context, flow.session, flow.lang, kind.has_lang, entry.id, flow.part, wall, kind.ticked)

    def _skip(self, entry: Loaded[Transformer], flow: Flow, trace: TurnTrace) -> bool:
        why = entry.suspended(self._runner.clock.monotonic())
        if why:
            self._without_result(flow, entry, "skipped", 0.0, why, trace)
        return bool(why)

    def _without_result(
        self, flow: Flow, entry: Loaded[Transformer], how: str, seconds: float, why: str, trace: TurnTrace
    ) -> None:
        """A transformer did not do its work: the artifact stays as it was; if it is essential, it is cancelled."""
        trace.step(self.kind.name, entry.id, how, seconds, why)
        if entry.essential:
            flow.cancel(entry.id, BLOCKED)
            trace.step(self.kind.name, entry.id, "cancelled", 0.0, f"{BLOCKED}: it is essential")

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
                if not self._skip(entry, flow, trace):
                    job.enter(entry, self._runner.clock.monotonic())
                    ctx = self._ctx(flow, entry)
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
            self._without_result(flow, entry, "late", entry.limit, str(late), trace)
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
            self._without_result(flow, entry, how, outcome.seconds, outcome.failure, trace)
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
            self._without_result(flow, entry, "malformed", outcome.seconds, str(malformed), trace)
            return
        if entry.failures:
            entry.succeeded()
        untouched = ctx._changes is None and session is flow.session and ctx._lang == flow.lang
        changes = "" if untouched else _describe(flow, ctx, session)
        context = flow.context if ctx._changes is None else ctx._merged()
        if ctx._changes is not None and TRACE_KEEP in ctx._changes:
            trace.limit(ctx._changes[TRACE_KEEP])
        flow.context = Frozen(context, **{self._stamp: with_stamp(context.get(self._stamp), entry.id)})
        flow.artifact = artifact
        flow.lang = ctx._lang
        if session is not flow.session:
            if ctx._for_turn:
                lasting = {name: flow.session.get(name) for name in ctx._for_turn}
                flow.for_turn = Frozen(lasting, **flow.for_turn)
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
        if emitted:
            self._send(flow, emitted)

    def _send(self, flow: Flow, emitted: Iterable[Emission]) -> None:
        """Send what a transformer emitted; what it says about the intent context is true from now on (ruling R24)."""
        for topic, data, is_reply in emitted:
            authored = flow.message()
            message = authored.reply(topic, data) if is_reply else authored.forward(topic, data)
            if topic in context_topics.TOPICS and self.context_topics:
                changed = context_topics.applied(flow.session, message, self._runner.clock.wall())
                flow.session = flow.session if changed is None else changed
            self._emit(message)

    def _replace_session(self, flow: Flow, entry: Loaded[Transformer], session: Session) -> None:
        if session.session_id != flow.session.session_id:
            log.warning(
                "%s moved the turn from session %s to %s", entry.id, flow.session.session_id, session.session_id
            )
        flow.denials = flow.denials.grown(session)
        flow.session = flow.denials.imposed_on(session)


Emission = tuple[str, Frozen, bool]
"""A topic, its data, and whether it is a reply."""


class _AbsentTransformer(Transformer):
    """Stands in its chain for an essential transformer that does not run."""


def _absent(transformer_id: str, why: str) -> Loaded[Transformer]:
    plugin = _AbsentTransformer()
    plugin.id = transformer_id  # type: ignore[misc]
    entry: Loaded[Transformer] = Loaded(plugin, lambda: None)
    entry.essential, entry.unloaded = True, why
    return entry


def _check(session: Session, emitted: Iterable[Emission]) -> None:
    """Raise `MalformedResult` for a session or emission that a transformer may not leave in its context."""
    if type(session) is not Session:  # a subclass could run its own code when read
        raise MalformedResult(f"ctx.session must be a Session, not {type(session).__name__}")
    for topic, _data, _is_reply in emitted:
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
