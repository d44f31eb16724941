"""The match round: which plugin claims the utterance (PIPELINE-1 §§4 to 6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from hark.bus import Poll
from hark.hosting import Loaded, Outcome, Registry, Runner, check_emittable, sendable_text, wants_round
from hark.model import Frozen, Match, Message, Session
from hark.plugins import Declined, Later, PipelinePlugin, Round
from hark.spec import topics
from hark.trace import TurnTrace
from hark.understand.intent_registry import IntentIndex
from hark.understand.named_call import CALL, named_intent
from hark.understand.ovos_entries import is_ovos_name, without_tier
from hark.understand.turn_state import INTENT, PipelineEntry, TurnOptions, TurnState

log = logging.getLogger("hark.understand")

_reason_in: Final = Declined.__dict__["reason"].__get__
"""Reads the reason itself, whatever a subclass has made of looking at it."""

_LOG_AGAIN: Final = 60.0
"""Seconds until the same defect of a pipeline is logged again."""
_LOGGED: Final = 256
"""Defects that are remembered for that."""


async def _no_poll(*_arguments: Any, **_options: Any) -> list[Message]:
    raise RuntimeError("a preview asks no other plugins")


def _awaited(look: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
    async def looked() -> Any:
        return await look()

    return looked


class MatchRound:
    """Asks the plugins of the effective pipeline, in order, until a claim survives every check."""

    def __init__(
        self,
        registry: Registry[PipelinePlugin],
        runner: Runner,
        registered: IntentIndex,
        poll: Poll,
        options: Callable[[], TurnOptions],
    ) -> None:
        self._registry = registry
        self._runner = runner
        self._registered = registered
        self._poll = poll
        self._options = options
        self._wants_round: dict[str, bool] = {}
        self._logged: dict[str, float] = {}
        """What was logged, and when: a client may send the same with every utterance."""
        self._version = registry.version

    async def run(self, turn: TurnState, lang: str) -> tuple[Match, str] | None:
        """The claim that won and the id of the plugin that made it, or None when there is none."""
        session = turn.session  # one and the same for all: what is written meanwhile is for the next round
        if INTENT in turn.message.data:
            return self._named(turn, lang)
        options = self._options()
        pipeline = session.pipeline or options.pipeline
        message = turn.message.carrying(session)
        for name in pipeline:
            entry = options.entry(name, self._is_loaded)
            loaded = self._askable(name, entry, turn)
            if loaded is None:
                continue
            arguments = self._arguments(loaded, name, entry, turn, message, session, lang)
            if loaded.mode == "inline":
                outcome = self._runner.call_now(loaded, *arguments)
            else:
                outcome = await self._waited(self._runner.call(loaded, *arguments), name, turn)
            if type(outcome.value) is Later:  # also from a worker thread, where a plugin runs that was slow once
                looking = Loaded(loaded.plugin, _awaited(outcome.value.look), limit=loaded.limit)
                outcome = await self._waited(self._runner.call(looking), name, turn)
                self._runner.count_failure(loaded, outcome)
            if loaded.failures and outcome.error is None:
                loaded.succeeded()
            match = self._claim(name, outcome, turn)
            if match is not None:
                return match, loaded.id
        if pipeline and not any(self._is_loaded(options.entry(name, self._is_loaded).plugin) for name in pipeline):
            names, session_id = ", ".join(pipeline)[:200], session.session_id[:80]
            self._log_now_and_then(
                f"session {session_id!r}: no entry of its pipeline leads to a loaded plugin: {names}"
            )
        return None

    def _named(self, turn: TurnState, lang: str) -> tuple[Match, str] | None:
        """The intent that the utterance calls by its name. No other entry is asked: it would do something else."""
        if turn.denials and turn.denials.deny("blacklisted_pipelines", CALL):
            turn.trace.step("match", CALL, "denied", 0.0, "the session's blacklisted_pipelines names it")
            return None
        wanted, most = turn.message.data[INTENT], self._options().max_utterance
        found = named_intent(wanted, turn.utterances[0], lang, turn.session, self._registered, most)
        match = self._claim(CALL, Outcome(found, None, 0.0), turn)
        return None if match is None else (match, CALL)

    async def _waited(self, call: Awaitable[Outcome], name: str, turn: TurnState) -> Outcome:
        try:
            return await call
        except asyncio.CancelledError:
            turn.trace.step("match", name, "stopped", 0.0, "the turn was stopped while it ran")
            raise

    def _askable(self, name: str, entry: PipelineEntry, turn: TurnState) -> Loaded[PipelinePlugin] | None:
        """The plugin behind an entry, if it is loaded, allowed and in working order."""
        loaded = self._registry.get(entry.plugin)
        if loaded is None:
            if is_ovos_name(name):
                log.debug("pipeline entry %s: there is nothing of the kind here", name)
            else:
                self._log_now_and_then(f"pipeline entry {name[:80]!r} names no loaded plugin")
            turn.trace.step("match", name, "skipped", 0.0, f"no pipeline plugin {entry.plugin!r} is loaded")
            return None
        if turn.denials and any(
            turn.denials.deny("blacklisted_pipelines", one) for one in (loaded.id, name, without_tier(name))
        ):
            turn.trace.step("match", name, "denied", 0.0, "the session's blacklisted_pipelines names it")
            return None
        if (loaded.failures or loaded.unloaded) and not loaded.available(self._runner.clock.monotonic()):
            why = loaded.unloaded or f"it failed {loaded.failures} times in a row"
            turn.trace.step("match", name, "skipped", 0.0, why)
            return None
        return loaded

    def _is_loaded(self, name: str) -> bool:
        return self._registry.get(name) is not None

    def _log_now_and_then(self, text: str) -> None:
        now = self._runner.clock.monotonic()
        if now - self._logged.get(text, -_LOG_AGAIN) < _LOG_AGAIN:
            return
        if len(self._logged) >= _LOGGED:
            self._logged.clear()
        self._logged[text] = now
        log.warning("%s", text)

    def _arguments(
        self,
        loaded: Loaded[PipelinePlugin],
        name: str,
        entry: PipelineEntry,
        turn: TurnState,
        message: Message,
        session: Session,
        lang: str,
    ) -> tuple[Any, ...]:
        """What `match` is called with."""
        if not self._round_wanted(loaded):
            return turn.utterances, lang, session
        ask = partial(self._ask_around, message)
        would_match = partial(self._preview, turn, session, lang, loaded.id, message)
        around = Round(name, entry.config, message, ask, turn.denials.deployed, would_match)
        return turn.utterances, lang, session, around

    def would_match(self, message: Message, text: str, lang: str, session: Session) -> Match | None:
        """The claim on a text that was not said: of the plugins that can `preview`, without any effect."""
        clock = self._runner.clock
        trace = TurnTrace("", session.session_id, (text,), clock.wall(), clock.monotonic)
        turn = TurnState(message, (text,), session, self._options().denials_for(session), trace)
        return self._preview(turn, session, lang, "", message, text)

    def _preview(
        self,
        turn: TurnState,
        session: Session,
        lang: str,
        asking: str,
        message: Message,
        text: str,
        *,
        strict: bool = False,
    ) -> Match | None:
        """The claim on a text that was not said, by the plugins of the pipeline that can `preview`."""
        options = self._options()
        for name in session.pipeline or options.pipeline:
            entry = options.entry(name, self._is_loaded)
            loaded = self._registry.get(entry.plugin)
            if loaded is None or loaded.id == asking or not type(loaded.plugin).preview or loaded.mode != "inline":
                continue
            if turn.denials and any(
                turn.denials.deny("blacklisted_pipelines", one) for one in (loaded.id, name, without_tier(name))
            ):
                continue
            arguments: tuple[Any, ...] = (text,), lang, session
            if self._round_wanted(loaded):
                config = Frozen(entry.config, floor=1.0) if strict else entry.config
                arguments = *arguments, Round(name, config, message, _no_poll, turn.denials.deployed)
            outcome = self._runner.call_now(loaded, *arguments)
            if type(outcome.value) is Later:
                continue  # a preview does not wait
            match: Match | None = outcome.value if self._judge(outcome, turn)[0] == "claimed" else None
            if match is not None:
                return match
        return None

    def _round_wanted(self, loaded: Loaded[PipelinePlugin]) -> bool:
        if self._version != self._registry.version:  # the same id may be another plugin now
            self._version = self._registry.version
            self._wants_round.clear()
        wanted = self._wants_round.get(loaded.id)
        if wanted is None:
            wanted = self._wants_round[loaded.id] = wants_round(loaded.call)
        return wanted

    async def _ask_around(
        self,
        message: Message,
        topic: str,
        data: Mapping[str, Any],
        candidates: Sequence[str] | None,
        window: float,
        *,
        answer_topic: str | None = None,
        rank: Callable[[Message], float] | None = None,
        enough: Callable[[Mapping[str, Message]], bool] | None = None,
        look_after: float | None = None,
        each: bool = False,
    ) -> list[Message]:
        check_emittable(topic, "a matcher")
        answers_on = answer_topic or topics.answer_topic(topic)
        answers = await self._poll.run(
            message, topic, answers_on, candidates, window, data=data, enough=enough, look_after=look_after, each=each
        )
        found = list(answers.values())
        return found if rank is None else sorted(found, key=rank, reverse=True)

    def _claim(self, name: str, outcome: Outcome, turn: TurnState) -> Match | None:
        """The Match in an outcome, if there is one and nothing speaks against it; the trace says what did."""
        how, why = self._judge(outcome, turn)
        turn.trace.step("match", name, how, outcome.seconds, why)
        if how == "malformed":
            log.warning("the claim of %s is malformed and counts as a decline: %s", name, why)
        return outcome.value if how == "claimed" else None

    def _judge(self, outcome: Outcome, turn: TurnState) -> tuple[str, str]:
        match = outcome.value
        if outcome.error is not None:
            return ("late" if outcome.late else "failed"), outcome.failure
        if match is None:
            return "declined", ""
        kind = type(match)  # not isinstance: it believes what an object says about itself
        if issubclass(kind, Declined):
            reason = _reason_in(match)
            return "declined", sendable_text(reason) if type(reason) is str else "its reason is no text"
        if kind is not Match:
            return "malformed", f"match() returned a {kind.__name__}, not a Match"
        defect = match.defect()
        if defect is not None:
            return "malformed", defect
        if turn.denials:
            if turn.denials.deny("blacklisted_skills", match.skill_id):
                if match.skill_id in self._options().absent:
                    return "denied", f"the program of {match.skill_id} is not connected"
                return "denied", f"the session's blacklisted_skills names {match.skill_id}"
            if turn.denials.deny("blacklisted_intents", match.topic):
                return "denied", f"the session's blacklisted_intents names {match.topic}"
        objection = self._registered.objection(
            match.topic, match.lang, match.slots, turn.session.session_id, turn.pruned, self._runner.clock.wall()
        )
        if objection is not None:
            return "refused", f"{match.topic}: {objection}"
        return "claimed", f"{match.topic}  {sendable_text(match.note)}" if match.note else match.topic
