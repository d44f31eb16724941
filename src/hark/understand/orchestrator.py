"""Taking an utterance in and seeing it through to its one end (PIPELINE-1)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from typing import Final

from hark.bus import Bus, Poll
from hark.chains import Chain
from hark.hosting import Gate, Registry, Runner
from hark.model import Frozen, Match, Message, Session
from hark.model.session_merge import activate
from hark.plugins import PipelinePlugin
from hark.spec import TransformerType, split_dispatch, topics
from hark.spec.names import PIPELINE_ID, SKILL_ID
from hark.trace import TraceStore
from hark.understand.active_list import ActiveList
from hark.understand.context_topics import ContextTopics
from hark.understand.deciding import Deciding
from hark.understand.dispatches import Done
from hark.understand.endings import Endings
from hark.understand.intake import take_in
from hark.understand.introspection import Introspection
from hark.understand.lifecycle import Lifecycle
from hark.understand.manifest import Manifest
from hark.understand.matching import MatchRound
from hark.understand.options import Options
from hark.understand.overheard import Overheard
from hark.understand.turn_source import TurnSource

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
        source: TurnSource,
        traces: TraceStore,
        gate: Gate | None = None,
        group: str | None = None,
    ) -> None:
        self._bus = bus
        self._clock = runner.clock
        self._options = options
        self._source = source
        self._store = store = source.store
        self._traces = traces
        self.manifest = Manifest(bus, options.protect_skills)
        self._introspection = Introspection(bus, self.manifest, group)
        self._poll = Poll(bus, runner.clock)
        match_round = MatchRound(pipeline, runner, self.manifest.registrations, self._poll, options)
        self._dispatches = source.dispatches(bus, runner.clock, options)
        self._endings = Endings(source, traces)
        self._open: dict[str, Lifecycle] = {}
        self._deciding = Deciding(chains, match_round, options, store, self._endings, self._open, runner.clock)
        self._overheard = Overheard(bus, self._open, self._endings.sync, store, is_shared=group is not None)
        self._active_list = ActiveList(bus, runner.clock, store, options)
        self._context_topics = ContextTopics(bus, runner.clock, self._open, store)
        self._context_topics.heeded = options.context_topics
        self._listening = (self._overheard, self._active_list, self._context_topics)
        self._all_ended = asyncio.Event()
        self._one_ended = asyncio.Event()
        self._gate = gate or Gate()
        """On it, turns use the plugins; those that were dispatched are through."""
        self._closing = False
        source.attach(self)

    @property
    def open_turns(self) -> int:
        """How many turns have not ended."""
        return len(self._open)

    def adopt(self, options: Options) -> None:
        """Go by other options, from the next step of each turn on."""
        self._options = self._deciding.options = self._dispatches.options = self._active_list.options = options
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

    async def handle(self, entry: Message, utterance_id: str = "") -> None:
        """See one utterance through, under this id if one is given. Whatever happens on the way, it ends."""
        try:
            life = take_in(entry, self._options, self._store, self._traces, utterance_id)
        except Exception:
            log.exception("an utterance could not be taken in")
            self._endings.unborn(entry, utterance_id)
            return
        self._open[life.utterance_id] = life
        try:
            self._source.opened(life.current())
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
            self._over(life)

    async def resume(self, dispatch: Message, host: str) -> None:
        """See a turn through whose handler was started at a host by another worker."""
        session = dispatch.session or Session()
        if session.is_default:
            session = self._store.current
        trace = self._traces.begin(dispatch.utterance_id or "", session.session_id, ())
        life = Lifecycle(dispatch, (), session, self._options.denials_for(session), trace)
        life.called(dispatch, dispatch.session or session)
        self._open[life.utterance_id] = life
        try:
            await self._wait_for(life, dispatch, self._dispatches.expect(dispatch, host))
        except Exception:
            log.exception("a turn broke: %s", life.utterance_id)
        finally:
            self._over(life)

    def abandon(self, utterance_id: str | None) -> None:
        """Leave a turn, or all of them, to another worker."""
        for life in list(self._open.values()):
            if utterance_id in (None, life.utterance_id) and not life.ended:
                life.ended = True
                self._traces.ended(life.trace, "abandoned")
        self._dispatches.abandon(utterance_id, "another worker has taken over")

    async def close(self) -> None:
        """Turn new utterances away, give open turns their grace, end the rest with an error."""
        self._closing = True
        await self._source.leave()
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
        await self._source.close()
        for listener in self._listening:
            listener.close()
        self._dispatches.close()
        self._poll.close()
        self._introspection.close()
        self.manifest.close()

    async def _see_through(self, life: Lifecycle) -> None:
        await self._gate.enter()
        try:
            claim = await self._deciding.decide(life)
        finally:
            self._gate.leave()
        if claim is not None:
            await self._dispatch(life, *claim)

    async def _dispatch(self, life: Lifecycle, match: Match, pipeline_id: str) -> None:
        """Call the handler and wait for it."""
        if life.ended:
            return  # a claim that comes after the end marker calls no handler
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
        life.called(dispatch, life.session)
        self._source.dispatched(dispatch)
        done = self._dispatches.expect(dispatch)
        try:
            claim = Frozen(intent, **said, pipeline_id=pipeline_id)
            self._bus.emit(entry.forward(topics.INTENT_MATCHED, claim))
            self._bus.emit(dispatch.forward(topics.HANDLER_START, intent))
            self._bus.emit(dispatch)
        except BaseException:
            self._dispatches.forget(dispatch)
            raise
        await self._wait_for(life, dispatch, done)

    async def _wait_for(self, life: Lifecycle, dispatch: Message, done: asyncio.Future[Done]) -> None:
        """Wait for a handler that was called, and end its turn."""
        try:
            ended = await done
        finally:
            self._dispatches.forget(dispatch)
        if life.ended:
            return
        if ended.session is not None:
            self._overheard.take(life, dispatch, ended.session)
        if ended.exception:
            life.trace.step("handler", dispatch.type, "error", 0.0, ended.exception)
        skill_id, intent_name = split_dispatch(dispatch.type)
        self._endings.handled(life, dispatch, ended, Frozen(skill_id=skill_id, intent_name=intent_name))

    def _over(self, life: Lifecycle) -> None:
        self._endings.broken(life)
        if self._open.get(life.utterance_id) is life:  # not so where it was abandoned and came again
            del self._open[life.utterance_id]
        self._one_ended.set()
        if not self._open:
            self._all_ended.set()
