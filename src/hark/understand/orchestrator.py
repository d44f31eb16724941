"""Taking an utterance in and seeing it through to its one end (PIPELINE-1)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from typing import Final

from hark.bus import Bus, Poll
from hark.chains import Chain, Flow
from hark.hosting import Passage, Registry, Runner
from hark.model import Frozen, Match, Message, converse
from hark.model import context as intent_context
from hark.model.lang import resolve
from hark.model.merge import activate, commit
from hark.plugins import PipelinePlugin
from hark.spec import TransformerType, topics
from hark.spec.names import PIPELINE_ID, SKILL_ID
from hark.trace import TraceStore
from hark.understand.active_list import ActiveList
from hark.understand.context_topics import ContextTopics
from hark.understand.dispatches import Dispatches
from hark.understand.endings import Endings
from hark.understand.intake import take_in
from hark.understand.introspection import Introspection
from hark.understand.lifecycle import Lifecycle
from hark.understand.manifest import Manifest
from hark.understand.matching import MatchRound
from hark.understand.options import Options
from hark.understand.overheard import Overheard
from hark.understand.store import DefaultSession

log = logging.getLogger("hark.understand")

_SHUT_DOWN: Final = "the assistant was shut down"


class Orchestrator:
    """Runs the utterance lifecycle. Turns run side by side; each emits its own end marker, exactly once."""

    def __init__(
        self,
        bus: Bus,
        runner: Runner,
        chains: Mapping[TransformerType, Chain],
        pipeline: Registry[PipelinePlugin],
        options: Options,
        store: DefaultSession,
        traces: TraceStore,
        passage: Passage | None = None,
    ) -> None:
        self._bus = bus
        self._clock = runner.clock
        self._chains = chains
        self._options = options
        self._store = store
        self._traces = traces
        self.manifest = Manifest(bus, options.protect_skills)
        self._introspection = Introspection(bus, self.manifest)
        self._poll = Poll(bus, runner.clock)
        self._round = MatchRound(pipeline, runner, self.manifest.registrations, self._poll, options)
        self._dispatches = Dispatches(bus, runner.clock, options)
        self._endings = Endings(bus.emit, store, traces)
        self._open: dict[str, Lifecycle] = {}
        self._overheard = Overheard(bus, self._open, self._endings.sync, store)
        self._active_list = ActiveList(bus, runner.clock, store, options)
        self._context_topics = ContextTopics(bus, runner.clock, self._open, store)
        self._context_topics.heeded = options.context_topics
        self._listening = (self._overheard, self._active_list, self._context_topics)
        self._all_ended = asyncio.Event()
        self._one_ended = asyncio.Event()
        self._passage = passage or Passage()
        """On it, turns use the plugins; those that were dispatched are through."""
        self._closing = False
        self._entry = bus.on(topics.UTTERANCE_HANDLE, self.handle, name="understand", eager=True, group="understand")

    @property
    def open_turns(self) -> int:
        """How many turns have not ended."""
        return len(self._open)

    def adopt(self, options: Options) -> None:
        """Go by other options, from the next step of each turn on."""
        self._options = self._round.options = self._dispatches.options = self._active_list.options = options
        self._context_topics.heeded = options.context_topics
        self.manifest.protect_skills = options.protect_skills

    async def idle(self, plugin_ids: Collection[str]) -> None:
        """Wait until no turn is left that was dispatched to one of these."""
        while self.serving(plugin_ids):
            self._one_ended.clear()
            await self._one_ended.wait()

    def serving(self, plugin_ids: Collection[str]) -> bool:
        """Whether a turn that was dispatched to one of these has not ended."""
        dispatched = (life.dispatch for life in self._open.values())
        return any(dispatch is not None and dispatch.context[SKILL_ID] in plugin_ids for dispatch in dispatched)

    async def handle(self, entry: Message) -> None:
        """See one utterance through. Whatever happens on the way, it ends."""
        try:
            life = take_in(entry, self._options, self._store, self._traces)
        except Exception:
            log.exception("an utterance could not be taken in")
            self._endings.unborn(entry)
            return
        self._open[life.utterance_id] = life
        try:
            if entry.malformed_session is not None:
                log.warning("an utterance was refused: its session is a %s", entry.malformed_session)
                self._endings.refused(life, entry.type)
            elif self._closing:
                log.warning("shutdown: an utterance was turned away")
                self._endings.unmatched(life)
            elif len(self._open) > self._options.max_open_turns:
                log.error("overload: %d turns are open, an utterance was turned away", len(self._open) - 1)
                self._endings.unmatched(life)
            else:
                await self._see_through(life)
        except Exception:
            log.exception("a turn broke: %s", life.utterance_id)
        finally:
            self._endings.broken(life)
            del self._open[life.utterance_id]
            self._one_ended.set()
            if not self._open:
                self._all_ended.set()

    async def close(self) -> None:
        """Turn new utterances away, give open turns their grace, end the rest with an error."""
        self._closing = True
        self._dispatches.give_up(_SHUT_DOWN, asking=True)  # whoever could answer is turned away from now on
        if self._open:
            self._all_ended.clear()
            try:
                async with self._clock.timeout(self._options.grace):
                    await self._all_ended.wait()
            except TimeoutError:
                log.warning("shutdown: %d turns were still open", len(self._open))
                self._dispatches.give_up(_SHUT_DOWN)
                await asyncio.sleep(0)
                for life in list(self._open.values()):
                    self._endings.broken(life)
        self._entry.close()
        for listener in self._listening:
            listener.close()
        self._dispatches.close()
        self._poll.close()
        self._introspection.close()
        self.manifest.close()

    async def _see_through(self, life: Lifecycle) -> None:
        await self._passage.enter()
        try:
            claim = await self._decide(life)
        finally:
            self._passage.leave()
        if claim is not None:
            await self._dispatch(life, *claim)

    async def _decide(self, life: Lifecycle) -> tuple[Match, str] | None:
        """Find out who answers, with the id of the plugin that claimed it; None when the turn has ended without."""
        if not (await self._transformed(life) and await self._transformed_metadata(life)):
            self._endings.cancelled(life)
            return None
        self._prune(life)
        found = await self._match(life)
        if found is None:
            self._tick(life)
            self._endings.unmatched(life)
            return None
        match, pipeline_id = found
        self._commit(life, match)
        self._tick(life)
        if match.updated_session is not None:
            match = match.replace(updated_session=None)
        flow = await self._run("intent", life, match)
        if flow is not None:
            if flow.cancelled:
                self._endings.cancelled(life)
                return None
            match = flow.artifact
        return match, pipeline_id

    async def _run(
        self, kind: TransformerType, life: Lifecycle, artifact: object, lang: str | None = None
    ) -> Flow | None:
        """Take the turn through one of its chains; None when nothing runs in it."""
        chain = self._chains[kind]
        members = chain.composition.effective(life.session, life.denials)
        if not members:
            return None
        flow = life.flow(artifact, lang)
        await chain.run(flow, life.trace, members)
        life.take(flow)
        return flow

    async def _transformed(self, life: Lifecycle) -> bool:
        """Run the utterance chain; false when it cancelled."""
        if not life.utterances:
            return True
        stated = life.message.data.get("lang")
        flow = await self._run("utterance", life, life.utterances, stated if isinstance(stated, str) else None)
        if flow is None:
            return True
        life.utterances = flow.artifact
        if flow.lang != stated:
            data = {key: value for key, value in life.message.data.items() if key != "lang"}
            life.message = life.message.with_data(data if flow.lang is None else {**data, "lang": flow.lang})
        return not flow.cancelled

    async def _transformed_metadata(self, life: Lifecycle) -> bool:
        """Run the metadata chain; false when it cancelled."""
        flow = await self._run("metadata", life, None)
        return flow is None or not flow.cancelled

    def _prune(self, life: Lifecycle) -> None:
        """Let go of what is over: remembered things, and handlers that were called long ago."""
        context, now = life.session.intent_context, self._clock.wall()
        life.pruned = intent_context.prune(context, now)
        if life.pruned is not context:
            life.session = life.session.trusted(intent_context=life.pruned)
        if life.session.converse_handlers:
            life.session = converse.pruned(life.session, now, self._options.converse_ttl)

    async def _match(self, life: Lifecycle) -> tuple[Match, str] | None:
        if not life.utterances:
            return None
        stated = life.message.data.get("lang")
        life.lang = life.trace.lang = resolve(stated, life.session, self._options.langs, self._options.lang)
        return await self._round.run(life, life.lang, self._store.current.pipeline)

    def _commit(self, life: Lifecycle, match: Match) -> None:
        """Take over the session a claim brings, as far as it may be changed."""
        updated = match.updated_session
        if updated is None:
            return
        if updated.session_id != life.session.session_id:
            log.warning("%s: updated_session is of session %r, which this round is not in; ignored",
                        match.topic, updated.session_id)  # fmt: skip
            return
        life.session = life.denials.imposed_on(commit(updated, life.session))
        if match.intent_name == "response" and not life.session.is_default:  # there the store tells everybody
            for other in self._open.values():
                if other is not life and other.session.session_id == life.session.session_id:
                    other.answered()

    def _tick(self, life: Lifecycle) -> None:
        context = life.session.intent_context
        if not context:
            return
        ticked = intent_context.evict(intent_context.tick(context, life.pruned))
        if ticked is not context:
            life.session = life.session.trusted(intent_context=ticked)

    async def _dispatch(self, life: Lifecycle, match: Match, pipeline_id: str) -> None:
        """Call the handler and wait for it."""
        if life.ended:  # at shutdown: a claim that comes after the end marker calls nobody
            return
        self._endings.sync(life)
        now, cap = self._clock.wall(), self._options.converse_cap
        life.session = activate(life.session, match.skill_id, match.intent_name, now, cap)
        self._endings.sync(life)
        # Frozen by hand: every value was checked when the claim was.
        said = Frozen(lang=match.lang, utterance=match.utterance, slots=Frozen(match.slots))
        intent = Frozen(skill_id=match.skill_id, intent_name=match.intent_name)
        entry = life.current()
        called = entry.reply(match.topic, said)
        stamped = Frozen(called.context, **{SKILL_ID: match.skill_id, PIPELINE_ID: pipeline_id})
        dispatch = called.within(stamped, life.session)
        life.called(dispatch)
        done = self._dispatches.expect(dispatch)
        try:
            claim = Frozen(intent, **said, pipeline_id=pipeline_id)
            self._bus.emit(entry.forward(topics.INTENT_MATCHED, claim))
            self._bus.emit(dispatch.forward(topics.HANDLER_START, intent))
            self._bus.emit(dispatch)
            ended = await done
        finally:
            self._dispatches.forget(dispatch)
        if ended.session is not None:
            self._overheard.take(life, dispatch, ended.session)
        if ended.exception:
            life.trace.step("handler", match.topic, "error", 0.0, ended.exception)
        self._endings.handled(life, dispatch, ended, intent)
