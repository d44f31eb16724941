"""From an utterance to whoever answers it: the chains before a claim, the round, and the chain after it."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from hark.chains import Chain, Flow
from hark.model import Clock, Match, converse, intent_context
from hark.model.lang import resolve
from hark.model.session_merge import commit
from hark.spec import TransformerType
from hark.understand.endings import Endings
from hark.understand.lifecycle import Lifecycle
from hark.understand.matching import MatchRound
from hark.understand.options import Options
from hark.understand.store import DefaultSession

log = logging.getLogger("hark.understand")


class Deciding:
    """Takes a turn up to its claim, or to its end where nobody claims it or a transformer cancels it."""

    def __init__(
        self,
        chains: Mapping[TransformerType, Chain],
        match_round: MatchRound,
        options: Options,
        store: DefaultSession,
        endings: Endings,
        turns: Mapping[str, Lifecycle],
        clock: Clock,
    ) -> None:
        self._chains = chains
        self._round = match_round
        self._options = options
        self._store = store
        self._endings = endings
        self._open = turns
        self._clock = clock

    @property
    def options(self) -> Options:
        """What the deployment decides; others hold from the next step of each turn on."""
        return self._options

    @options.setter
    def options(self, options: Options) -> None:
        self._options = self._round.options = options

    async def decide(self, life: Lifecycle) -> tuple[Match, str] | None:
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
        members = chain.effective(life.session, life.denials)
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
