"""The way of an utterance: taken in, transformed, matched, dispatched, and seen to its one end (PIPELINE-1)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from typing import Final

from hark.bus import Bus, Poll
from hark.chains import Chain, Flow
from hark.hosting import Gate, Registry, Runner
from hark.model import Frozen, Match, Message, ResponseMode, Session, converse, intent_context
from hark.model.lang import resolve
from hark.model.session_merge import activate, commit
from hark.plugins import PipelinePlugin
from hark.spec import TransformerType, split_dispatch, topics
from hark.spec.names import PIPELINE_ID, SKILL_ID
from hark.trace import TraceStore
from hark.understand.dispatches import HandlerOutcome
from hark.understand.endings import Endings
from hark.understand.intent_registry import IntentRegistry
from hark.understand.introspection import Introspection
from hark.understand.match_round import MatchRound
from hark.understand.named_call import CALL
from hark.understand.programs import Programs
from hark.understand.session_topics import (
    ActiveListQuery,
    ContextTopics,
    HandlerSessions,
    PreviewQuery,
    SpeechSessionChanges,
    WithdrawnQuestions,
)
from hark.understand.turn_source import TurnLoad, TurnSource
from hark.understand.turn_state import INTENT, TurnOptions, TurnState, open_turn

log = logging.getLogger("hark.understand")

_SHUT_DOWN: Final = "the assistant was shut down"


class Orchestrator:
    """Runs the lifecycle of utterances. Turns run side by side; each has exactly one end marker.

    `group` is the queue group of the workers that answer the same questions, where there are several.
    """

    def __init__(
        self,
        bus: Bus,
        runner: Runner,
        chains: Mapping[TransformerType, Chain],
        pipeline: Registry[PipelinePlugin],
        options: TurnOptions,
        source: TurnSource,
        traces: TraceStore,
        gate: Gate | None = None,
        group: str | None = None,
    ) -> None:
        self._bus = bus
        self._clock = clock = runner.clock
        self._chains = chains
        self._adopted = self._options = options
        """As the settings have them, and with the skills denied whose programs are gone."""
        self._source = source
        self._store = store = source.store
        self._traces = traces
        self._gate = gate or Gate()
        """Turns pass it while they use plugins; those that were dispatched are through."""
        self._open: dict[str, TurnState] = {}
        self._load = TurnLoad()
        self.manifest = IntentRegistry(bus, self._current_options)
        self._poll = Poll(bus, clock)
        self._round = MatchRound(pipeline, runner, self.manifest.registrations, self._poll, self._current_options)
        self._programs = Programs(bus, clock, self.manifest, lambda: store.owned)
        self._programs.listeners.append(self)
        self._dispatches = source.dispatches(bus, clock, self._current_options, self._programs)
        self.endings = Endings(source, traces)
        is_shared = group is not None
        self._handler_sessions = HandlerSessions(bus, self._open, self.endings.sync, store, is_shared=is_shared)
        self._introspection = Introspection(bus, self.manifest, group)
        self._withdrawn = WithdrawnQuestions(bus, clock)
        self._listeners = (
            self._withdrawn,
            SpeechSessionChanges(bus, store),
            self._handler_sessions,
            self._introspection,
            ActiveListQuery(bus, clock, store, self._current_options),
            PreviewQuery(bus, self._round.would_match, store, self._current_options),
            ContextTopics(bus, clock, self._open, store, self._current_options),
            self.manifest,
            self._poll,
            self._programs,
            self._dispatches,
        )
        self._all_ended = asyncio.Event()
        self._one_ended = asyncio.Event()
        self._closing = False
        source.attach(self)

    @property
    def open_turns(self) -> int:
        """How many turns have not ended."""
        return len(self._open)

    def adopt(self, options: TurnOptions) -> None:
        """Go by other options, from the next step of each turn on."""
        self._adopted = options
        self.programs_changed()

    def programs_changed(self) -> None:
        """Programs outside have come or gone: the skills of those that are not connected do not match."""
        self._options = self._adopted.without(self._programs.absent)

    def programs_gone(self, skill_ids: Collection[str]) -> None:
        """Withdraw the questions of programs that are gone: no answer would reach them."""
        for turn in self._open.values():
            asked = turn.session.response_mode
            if asked is not None and asked.skill_id in skill_ids:
                turn.answered()
                self.endings.sync(turn)
        held = self._store.current
        if self._store.owned and held.response_mode is not None and held.response_mode.skill_id in skill_ids:
            self._store.bring(held, held.without("response_mode"))

    async def idle(self, plugin_ids: Collection[str]) -> None:
        """Wait until no turn is left that was dispatched to one of these."""
        while self.serving(plugin_ids):
            self._one_ended.clear()
            await self._one_ended.wait()

    def serving(self, plugin_ids: Collection[str]) -> bool:
        """Whether a turn that was dispatched to one of these has not ended."""
        dispatched = (turn.dispatch for turn in self._open.values())
        return any(dispatch is not None and dispatch.context[SKILL_ID] in plugin_ids for dispatch in dispatched)

    # From intake to ending.

    async def handle(self, entry: Message, utterance_id: str = "") -> None:
        """See one utterance through, under this id if one is given. Whatever happens on the way, it ends."""
        try:
            turn = open_turn(entry, self._options, self._store, self._traces, utterance_id)
        except Exception:
            log.exception("an utterance could not be taken in")
            self.endings.without_turn(entry, utterance_id)
            return
        turn.session = self._withdrawn.removed_from(turn.session)
        self._open[turn.utterance_id] = turn
        if turn.client:
            self._load.began(turn)
        try:
            self._source.opened(turn.current())
            if entry.malformed_session is not None:
                log.warning("an utterance was refused: its session is a %s", entry.malformed_session)
                self.endings.refused(turn, entry.type)
            elif self._closing:
                log.warning("shutdown: an utterance was refused")
                self.endings.unmatched(turn)
            elif not self._load.admits(turn, len(self._open), self._options, self._clock.monotonic()):
                self.endings.unmatched(turn)
            else:
                await self._see_through(turn)
        except Exception:
            log.exception("a turn broke: %s", turn.utterance_id)
        finally:
            self._forget(turn)

    async def resume(self, dispatch: Message, host: str) -> None:
        """See a turn through whose handler was started at `host` when another worker had the turn."""
        session = dispatch.session or Session()
        trace = self._traces.begin(dispatch.utterance_id or "", session.session_id, ())
        now = self._store.working(session) if session.is_default else session
        turn = TurnState(dispatch, (), now, self._options.denials_for(now), trace)
        turn.called(dispatch, session)
        self._open[turn.utterance_id] = turn
        try:
            await self._wait_for(turn, dispatch, self._dispatches.expect(dispatch, host))
        except Exception:
            log.exception("a turn broke: %s", turn.utterance_id)
        finally:
            self._forget(turn)

    async def _see_through(self, turn: TurnState) -> None:
        await self._gate.enter()
        try:
            claim = await self._decide(turn)
        finally:
            self._gate.leave()
        if claim is not None:
            await self._dispatch(turn, *claim)

    async def _decide(self, turn: TurnState) -> tuple[Match, str] | None:
        """The claim, and the id of the plugin that made it; None when the turn has ended without one."""
        asked = turn.session.response_mode
        if not (await self._transform_utterance(turn) and await self._transform_metadata(turn)):
            if asked is not None:
                self._withdraw(turn, asked)
            self.endings.cancelled(turn)
            return None
        self._prune(turn)
        found = await self._match(turn)
        if found is None:
            self._tick(turn)
            self.endings.unmatched(turn)
            return None
        match, pipeline_id = found
        self._commit(turn, match)
        if asked is not None and match.intent_name not in ("response", "stop"):
            self._withdraw(turn, asked)
        self._tick(turn)
        if match.updated_session is not None:
            match = match.replace(updated_session=None)
        flow = await self._run_chain("intent", turn, match)
        if flow is not None:
            if flow.cancelled:
                self.endings.cancelled(turn)
                return None
            match = flow.artifact
        return match, pipeline_id

    async def _dispatch(self, turn: TurnState, match: Match, pipeline_id: str) -> None:
        """Call the handler and wait for it."""
        if turn.ended:
            return  # a claim that comes after the end marker calls no handler
        self.endings.sync(turn)
        now, cap = self._clock.wall(), self._options.converse_cap
        turn.session = activate(turn.session, match.skill_id, match.intent_name, now, cap)
        self.endings.sync(turn)
        # Frozen by hand: every value was checked when the claim was.
        said = Frozen(lang=match.lang, utterance=match.utterance, slots=Frozen(match.slots))
        intent = Frozen(skill_id=match.skill_id, intent_name=match.intent_name)
        entry = turn.current()
        called = entry.reply(match.topic, said)
        stamped = Frozen(called.context, **{SKILL_ID: match.skill_id, PIPELINE_ID: pipeline_id})
        dispatch = called.within(stamped, turn.session)
        turn.called(dispatch, turn.session)
        self._source.dispatched(dispatch)
        outcome = self._dispatches.expect(dispatch)
        try:
            claim = Frozen(intent, **said, pipeline_id=pipeline_id)
            self._bus.emit(entry.forward(topics.INTENT_MATCHED, claim))
            self._bus.emit(dispatch.forward(topics.HANDLER_START, intent))
            self._bus.emit(dispatch)
        except BaseException:
            self._dispatches.forget(dispatch)
            raise
        await self._wait_for(turn, dispatch, outcome)

    async def _wait_for(self, turn: TurnState, dispatch: Message, done: asyncio.Future[HandlerOutcome]) -> None:
        """Wait for a handler that was called, and end its turn."""
        try:
            outcome = await done
        finally:
            self._dispatches.forget(dispatch)
        if turn.ended:
            return  # it was abandoned
        if outcome.session is not None:
            self._handler_sessions.take(turn, dispatch, outcome.session)
        if outcome.exception:
            turn.trace.step("handler", dispatch.type, "error", 0.0, outcome.exception)
        skill_id, intent_name = split_dispatch(dispatch.type)
        self.endings.handled(turn, dispatch, outcome, Frozen(skill_id=skill_id, intent_name=intent_name))

    def _forget(self, turn: TurnState) -> None:
        self.endings.broken(turn)
        if self._open.get(turn.utterance_id) is turn:  # not so where it was abandoned and came again
            del self._open[turn.utterance_id]
        if turn.client:
            self._load.ended(turn)
        self._one_ended.set()
        if not self._open:
            self._all_ended.set()

    # The steps up to a claim.

    async def _run_chain(
        self, kind: TransformerType, turn: TurnState, artifact: object, lang: str | None = None
    ) -> Flow | None:
        """Take the turn through one of its chains; None when nothing runs in it."""
        chain = self._chains[kind]
        members = chain.effective(turn.session, turn.denials)
        if not members:
            return None
        flow = turn.flow(artifact, lang)
        await chain.run(flow, turn.trace, members)
        turn.take(flow)
        return flow

    async def _transform_utterance(self, turn: TurnState) -> bool:
        """Run the utterance chain; false when it cancelled."""
        if not turn.utterances:
            return True
        stated = turn.message.data.get("lang")
        flow = await self._run_chain("utterance", turn, turn.utterances, _tag(stated))
        if flow is None:
            return True
        turn.utterances = flow.artifact
        if flow.lang != stated:
            data = {key: value for key, value in turn.message.data.items() if key != "lang"}
            turn.message = turn.message.with_data(data if flow.lang is None else {**data, "lang": flow.lang})
        return not flow.cancelled

    async def _transform_metadata(self, turn: TurnState) -> bool:
        """Run the metadata chain; false when it cancelled."""
        flow = await self._run_chain("metadata", turn, None, _tag(turn.message.data.get("lang")))
        return flow is None or not flow.cancelled

    def _prune(self, turn: TurnState) -> None:
        """Remove what has expired: remembered values, and handlers that were called long ago."""
        context, now = turn.session.intent_context, self._clock.wall()
        turn.pruned = intent_context.prune(context, now)
        if turn.pruned is not context:
            turn.session = turn.session.trusted(intent_context=turn.pruned)
        if turn.session.converse_handlers:
            turn.session = converse.pruned(turn.session, now, self._options.converse_ttl)

    async def _match(self, turn: TurnState) -> tuple[Match, str] | None:
        if not turn.utterances:
            if INTENT in turn.message.data:
                turn.trace.step("match", CALL, "declined", 0.0, "utterances holds no words for what intent names")
            return None
        stated = turn.message.data.get("lang")
        turn.lang = turn.trace.lang = resolve(stated, turn.session, self._options.langs, self._options.lang)
        return await self._round.run(turn, turn.lang)

    def _commit(self, turn: TurnState, match: Match) -> None:
        """Take over the session a claim brings, as far as it may be changed."""
        updated = match.updated_session
        if updated is None:
            return
        if updated.session_id != turn.session.session_id:
            log.warning("%s: updated_session is of session %r, which this round is not in; ignored",
                        match.topic, updated.session_id)  # fmt: skip
            return
        turn.session = turn.denials.imposed_on(commit(updated, turn.session))
        if match.intent_name == "response":
            self._close_question(turn)

    def _close_question(self, turn: TurnState) -> None:
        """The question of the session is no longer open: no other turn in it may open it again."""
        if not turn.session.is_default:  # there the store is shared by all
            for other in self._open.values():
                if other is not turn and other.session.session_id == turn.session.session_id:
                    other.answered()

    def _withdraw(self, turn: TurnState, asked: ResponseMode) -> None:
        """If this turn closed the question that was open, and not by an answer, say so to the handler that waits."""
        if turn.session.response_mode is None:
            self._close_question(turn)
            self._bus.emit(turn.current().forward(topics.QUESTION_WITHDRAWN, Frozen(skill_id=asked.skill_id)))

    def _tick(self, turn: TurnState) -> None:
        context = turn.session.intent_context
        if not context:
            return
        ticked = intent_context.evict(intent_context.tick(context, turn.pruned))
        if ticked is not context:
            turn.session = turn.session.trusted(intent_context=ticked)

    # The end of this process, and of its part in a turn.

    def abandon(self, utterance_id: str | None) -> None:
        """Leave a turn, or all of them, to another worker: nothing more of it is published here."""
        for turn in list(self._open.values()):
            if utterance_id in (None, turn.utterance_id) and not turn.ended:
                turn.ended = True
                self._traces.ended(turn.trace, "abandoned")
        self._dispatches.abandon(utterance_id, "another worker has taken over")

    async def close(self) -> None:
        """Refuse new utterances, give open turns their grace, end the rest with an error."""
        self._closing = True
        await self._source.leave()
        self._dispatches.give_up(_SHUT_DOWN, asking=True)  # an answer would be refused from now on
        if self._open:
            self._all_ended.clear()
            try:
                async with self._clock.timeout(self._options.grace):
                    await self._all_ended.wait()
            except TimeoutError:
                log.warning("shutdown: %d turns were still open", len(self._open))
                self._dispatches.give_up(_SHUT_DOWN)
                await asyncio.sleep(0)
                for turn in list(self._open.values()):
                    self.endings.broken(turn)
        await self._source.close()
        for listener in self._listeners:
            listener.close()

    def _current_options(self) -> TurnOptions:
        return self._options


def _tag(stated: object) -> str | None:
    """The language that a Message states, if it is one at all."""
    return stated if isinstance(stated, str) else None
