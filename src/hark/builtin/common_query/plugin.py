"""Common query (COMMON-QUERY-1): asks all skills a question of fact and speaks the best answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from hark.builtin.candidates import is_denied_skill
from hark.intents import words
from hark.intents.locale import Locale, MissingResource
from hark.plugins import Declined, Later, Match, Message, PipelinePlugin, Round, Session, Turn, handles
from hark.spec import topics


def is_question(text: str, lang: str) -> bool:
    """Whether `text` may ask for a fact (COMMON-QUERY-1 §4): it begins like a question or a request for information.

    In a language without a list of such words everything may be a question.
    """
    said = words(text, lang)
    if not said:
        return False
    openers = _openers(lang)
    return openers is None or text.rstrip().endswith("?") or said[0] in openers or said[0].split("'")[0] in openers


@lru_cache(maxsize=64)
def _openers(lang: str) -> frozenset[str] | None:
    """The words a question begins with; None for a language without a list."""
    try:
        return frozenset(phrase[0] for phrase in _locale().phrases("opener", lang) if len(phrase) == 1)
    except MissingResource:
        return None


@cache
def _locale() -> Locale:
    return Locale(Path(__file__).parent / "locale")  # when it is first needed, not when this is imported


_INTENT: Final = "common_query"
_EARLY: Final = 0.001
"""Seconds by which a timer may be early."""
_MOST_SOURCES: Final = 1_000


class QueryAnswer(NamedTuple):
    """The answer of a skill."""

    skill_id: str
    answer: str
    conf: float
    source: str = ""


class CommonQuery(PipelinePlugin):
    """Asks every skill that may have an answer, and speaks the best one."""

    id = "common_query"
    quick = True

    @dataclass(frozen=True)
    class Settings:
        poll_window: float = 0.5
        """Seconds in which skills say whether they could answer."""
        window: float = 3.0
        """Seconds in which answers are expected, unless the skills say how long they take."""
        ceiling: float = 5.0
        """Seconds after which no answer is awaited."""
        min_confidence: float = 0.5
        """The least confidence of an answer."""
        fast_win: float | None = None
        """An answer with this confidence is taken at once; by default a better one is awaited."""
        gate: bool = True
        """Whether only questions are passed to the skills, not commands."""

    settings: Settings

    def __init__(self) -> None:
        self._answering: set[str] = set()
        self._may_answer: set[str] = set()
        """Skills that did not list their capabilities."""
        self._sources: dict[str | None, str] = {}
        """What the answer is from that is about to be spoken, by turn."""

    async def start(self) -> None:
        self.host.on(topics.SKILL_LOADED, self._loaded)
        self.host.on(topics.SKILL_DEREGISTER, self._unloaded)

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined | Later | None:
        """The best answer there is, or None."""
        if round is None or not (self._answering or self._may_answer):
            return None
        if self.settings.gate and not is_question(utterances[0], lang):
            return Declined("it is no question")
        return Later(lambda: self._ask(round, utterances[0], lang, session))

    @handles(_INTENT)
    def answer(self, turn: Turn) -> str:
        """Speak the best answer, and say on the bus where it is from."""
        source = self._sources.pop(turn.message.utterance_id, None)
        if source is not None:
            turn.emit(topics.ANSWER_SOURCES, {"sources": [source]})
        return turn.slots["answer"]

    async def _ask(self, round: Round, question: str, lang: str, session: Session) -> Match | Declined:
        asked = {"utterance": question, "lang": lang}
        claims = await self._claims(round, asked, session)
        if not claims:
            return Declined("no skill could answer that")
        decision = first_decision(claims.values(), self.settings)
        answers = await round.poll(
            topics.COMMON_QUERY_REQUEST, asked, list(claims), self.settings.ceiling,
            answer_topic=topics.COMMON_QUERY_RESPONSE, enough=self._is_decided(decision), look_after=decision,
            each=True,
        )  # fmt: skip
        best = self._best(answers)
        if best is None:
            return Declined(f"no answer was good enough; asked: {', '.join(list(claims)[:5])}")
        self.host.log.info("%s has the best answer, with confidence %.2f", best.skill_id, best.conf)
        if len(self._sources) >= _MOST_SOURCES:  # of turns that ended before they were answered
            self._sources.clear()
        self._sources[round.message.utterance_id] = best.source or _spoken_name(best.skill_id)
        return Match(self.id, _INTENT, lang, question, {"answer": best.answer})

    async def _claims(self, round: Round, asked: Mapping[str, str], session: Session) -> dict[str, Message]:
        """The skills that can answer, without those that are denied."""
        waited_for = {skill_id for skill_id in self._answering if not is_denied_skill(session, skill_id, round)}
        if not waited_for and not self._may_answer:
            return {}

        def all_answered(so_far: Mapping[str, Message]) -> bool:
            return not self._may_answer and waited_for <= so_far.keys()

        # All skills may answer, but only those that listed the capability are awaited.
        pongs = await round.poll(topics.COMMON_QUERY_PING, asked, None, self.settings.poll_window, enough=all_answered)
        claims = {str(pong.data["skill_id"]): pong for pong in pongs if _is_claim(pong)}
        return {one: pong for one, pong in sorted(claims.items()) if not is_denied_skill(session, one, round)}

    def _is_decided(self, decision: float) -> Callable[[Mapping[str, Message]], bool]:
        due = self.host.clock.monotonic() + decision - _EARLY

        def decided(answers: Mapping[str, Message]) -> bool:
            best = self._best(answers.values())
            if best is None:
                return False
            if self.settings.fast_win is not None and best.conf >= self.settings.fast_win:
                return True
            # Skills that have not answered have overrun their own estimates, and there is an answer to speak.
            return self.host.clock.monotonic() >= due

        return decided

    def _best(self, answers: Iterable[Message]) -> QueryAnswer | None:
        known = [found for answer in answers if (found := _known(answer)) is not None]
        known = [one for one in known if one.conf >= self.settings.min_confidence]
        return min(known, key=lambda one: (-one.conf, one.skill_id)) if known else None

    def _loaded(self, message: Message) -> None:
        skill_id, capabilities = message.data.get("skill_id"), message.data.get("capabilities")
        if not isinstance(skill_id, str):
            return
        self._forget(skill_id)
        if not isinstance(capabilities, tuple) or not capabilities:
            self._may_answer.add(skill_id)
        elif _INTENT in capabilities:
            self._answering.add(skill_id)

    def _unloaded(self, message: Message) -> None:
        self._forget(str(message.data.get("skill_id")))

    def _forget(self, skill_id: str) -> None:
        self._answering.discard(skill_id)
        self._may_answer.discard(skill_id)


def first_decision(claims: Iterable[Message], settings: CommonQuery.Settings) -> float:
    """Seconds until it is first decided whether to wait longer: as long as the slowest skill says it takes."""
    hints = [_hint(claim, settings.ceiling) for claim in claims]
    return min(max(settings.window if hint is None else hint for hint in hints), settings.ceiling)


def _spoken_name(skill_id: str) -> str:
    return re.sub(r"[._-]+", " ", skill_id.removesuffix(".skill"))


def _is_claim(pong: Message) -> bool:
    return pong.data.get("can_answer", pong.data.get("can_handle")) is True


def _hint(claim: Message, ceiling: float) -> float | None:
    """How many seconds a skill says it takes, unless that cannot be."""
    hint: Any = claim.data.get("latency_ms")
    return hint / 1000 if type(hint) in (int, float) and 0 <= hint <= ceiling * 1000 else None


def _known(message: Message) -> QueryAnswer | None:
    answer: Any = message.data.get("answer")
    conf: Any = message.data.get("conf")
    if not isinstance(answer, str) or not answer or type(conf) not in (int, float) or not 0 <= conf <= 1:
        return None
    source = message.data.get("source")
    return QueryAnswer(str(message.data["skill_id"]), answer, float(conf), source if isinstance(source, str) else "")
