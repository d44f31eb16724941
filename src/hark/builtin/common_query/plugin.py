"""Common query (COMMON-QUERY-1): asks all skills a question of fact and speaks the best answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from hark.builtin.candidates import is_denied_skill
from hark.intents import words
from hark.intents.locale import Locale, MissingResource, Role
from hark.plugins import Declined, Later, Match, Message, PipelinePlugin, Round, Session, Turn, handles
from hark.spec import topics


def is_question(text: str, lang: str) -> bool:
    """Whether `text` may ask for a fact: it begins like a question, or like a request to be told something."""
    said = words(text, lang)
    if not said:
        return False
    openers = _openers(lang)
    return openers is None or text.rstrip().endswith("?") or said[0] in openers or said[0].split("'")[0] in openers


@lru_cache(maxsize=64)
def _openers(lang: str) -> frozenset[str] | None:
    """The words a question begins with; None in a language nobody wrote them down for."""
    try:
        language = _locale().find(Role.VOCABULARY, "opener", lang)
    except MissingResource:
        return None
    return frozenset(language.samples(Role.VOCABULARY, "opener"))


@cache
def _locale() -> Locale:
    return Locale(Path(__file__).parent / "locale")  # when it is first needed, not when this is imported


_INTENT: Final = "common_query"
_EARLY: Final = 0.001
"""Seconds by which a timer may come before its time."""


class QueryAnswer(NamedTuple):
    """What a skill answered."""

    skill_id: str
    answer: str
    conf: float


class CommonQuery(PipelinePlugin):
    """Asks every skill that might know, takes the best answer, and says it."""

    id = "common_query"
    quick = True

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        poll_window: float = 0.5
        """Seconds in which skills say whether they could answer."""
        window: float = 3.0
        """Seconds in which answers are expected, unless the skills say how long they take."""
        ceiling: float = 5.0
        """Seconds after which no answer is waited for."""
        min_confidence: float = 0.5
        """How sure a skill has to be."""
        fast_win: float | None = None
        """An answer this sure ends the contest at once; none by default, so a better one is waited for."""
        gate: bool = True
        """Whether only questions are asked around, not commands."""

    settings: Settings

    def __init__(self) -> None:
        self._knows: set[str] = set()
        self._may_know: set[str] = set()
        """Those who never said what they can do."""

    async def start(self) -> None:
        """Learn who answers questions."""
        self.host.on(topics.SKILL_LOADED, self._loaded)
        self.host.on(topics.SKILL_DEREGISTER, self._unloaded)

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined | Later | None:
        """As promised by `PipelinePlugin`: the best answer there is, or None."""
        if round is None or not (self._knows or self._may_know):
            return None
        if self.settings.gate and not is_question(utterances[0], lang):
            return Declined("it is no question")
        return Later(lambda: self._contest(round, utterances[0], lang, session))

    @handles(_INTENT)
    def answer(self, turn: Turn) -> str:
        """Say the answer that won."""
        return turn.slots["answer"]

    async def _contest(self, round: Round, question: str, lang: str, session: Session) -> Match | Declined:
        asked = {"utterance": question, "lang": lang}
        claims = await self._claims(round, asked, session)
        if not claims:
            return Declined("nobody could answer that")
        first_look = self._first_look(claims.values())
        answers = await round.poll(
            topics.COMMON_QUERY_REQUEST, asked, list(claims), self.settings.ceiling,
            answer_topic=topics.COMMON_QUERY_RESPONSE, enough=self._is_decided(first_look), look_after=first_look,
            each=True,
        )  # fmt: skip
        best = self._best(answers)
        if best is None:
            return Declined(f"no answer was good enough; asked: {', '.join(list(claims)[:5])}")
        self.host.log.info("%s answers best, with %.2f", best.skill_id, best.conf)
        return Match(self.id, _INTENT, lang, question, {"answer": best.answer})

    async def _claims(self, round: Round, asked: Mapping[str, str], session: Session) -> dict[str, Message]:
        """Who thinks they can answer; nobody who is denied is asked any further."""
        waited_for = {skill_id for skill_id in self._knows if not is_denied_skill(session, skill_id, round)}
        if not waited_for and not self._may_know:
            return {}

        def all_told(so_far: Mapping[str, Message]) -> bool:
            return not self._may_know and waited_for <= so_far.keys()

        # Anybody may answer, but only those who said that they know things are waited for.
        pongs = await round.poll(topics.COMMON_QUERY_PING, asked, None, self.settings.poll_window, enough=all_told)
        claims = {str(pong.data["skill_id"]): pong for pong in pongs if _is_claim(pong)}
        return {one: pong for one, pong in sorted(claims.items()) if not is_denied_skill(session, one, round)}

    def _first_look(self, claims: Iterable[Message]) -> float:
        """When to look whether waiting on is worth it: as long as the slowest says it takes."""
        ceiling = self.settings.ceiling
        hints = [_hint(claim, ceiling) for claim in claims]
        return min(max(self.settings.window if hint is None else hint for hint in hints), ceiling)

    def _is_decided(self, first_look: float) -> Callable[[Mapping[str, Message]], bool]:
        due = self.host.clock.monotonic() + first_look - _EARLY

        def decided(answers: Mapping[str, Message]) -> bool:
            best = self._best(answers.values())
            if best is None:
                return False
            if self.settings.fast_win is not None and best.conf >= self.settings.fast_win:
                return True
            # Whoever is still out has overrun its own estimate, and there is something to say.
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
            self._may_know.add(skill_id)
        elif _INTENT in capabilities:
            self._knows.add(skill_id)

    def _unloaded(self, message: Message) -> None:
        self._forget(str(message.data.get("skill_id")))

    def _forget(self, skill_id: str) -> None:
        self._knows.discard(skill_id)
        self._may_know.discard(skill_id)


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
    return QueryAnswer(str(message.data["skill_id"]), answer, float(conf))
