"""The contest of those who know (COMMON-QUERY-1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from hark.builtin.common_query.gate import is_question
from hark.plugins import Declined, Later, Match, Message, PipelinePlugin, Round, Session, Turn, handles
from hark.spec import topics

_INTENT: Final = "common_query"


class Known(NamedTuple):
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
        denied = session.blacklisted_skills or ()
        waited_for = [skill_id for skill_id in sorted(self._knows) if skill_id not in denied]
        everybody = None if self._may_know else waited_for
        pongs = await round.poll(topics.COMMON_QUERY_PING, asked, everybody, self.settings.poll_window)
        claims = {str(pong.data["skill_id"]): pong for pong in pongs if _is_claim(pong)}
        claimants = [skill_id for skill_id in claims if skill_id not in denied]
        if not claimants:
            return Declined("nobody could answer that")
        first_look = self._first_look(claims[one] for one in claimants)
        enough = self._is_decided(session, first_look)
        answers = await round.poll(
            topics.COMMON_QUERY_REQUEST, asked, claimants, self.settings.ceiling,
            answer_topic=topics.COMMON_QUERY_RESPONSE, enough=enough, look_after=first_look, each=True,
        )  # fmt: skip
        best = self._best(answers, session)
        if best is None:
            return Declined(f"no answer was good enough; asked: {', '.join(claimants[:5])}")
        self.host.log.info("%s answers best, with %.2f", best.skill_id, best.conf)
        return Match(self.id, _INTENT, lang, question, {"answer": best.answer})

    def _first_look(self, claims: Any) -> float:
        """When to look whether waiting on is worth it: as long as the slowest says it takes."""
        ceiling = self.settings.ceiling
        hints = [claim.data.get("latency_ms") for claim in claims]
        plausible = [hint / 1000 for hint in hints if type(hint) in (int, float) and 0 <= hint / 1000 <= ceiling]
        return min(max(plausible) if len(plausible) == len(hints) and plausible else self.settings.window, ceiling)

    def _is_decided(self, session: Session, first_look: float) -> Callable[[Mapping[str, Message]], bool]:
        began = self.host.clock.monotonic()

        def decided(answers: Mapping[str, Message]) -> bool:
            best = self._best(answers.values(), session)
            if best is None:
                return False
            if self.settings.fast_win is not None and best.conf >= self.settings.fast_win:
                return True
            # Whoever is still out has overrun its own estimate, and there is something to say.
            return self.host.clock.monotonic() - began >= first_look

        return decided

    def _best(self, answers: Any, session: Session) -> Known | None:
        denied = session.blacklisted_skills or ()
        known = [found for answer in answers if (found := _known(answer)) is not None]
        known = [one for one in known if one.conf >= self.settings.min_confidence and one.skill_id not in denied]
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


def _known(message: Message) -> Known | None:
    answer: Any = message.data.get("answer")
    conf: Any = message.data.get("conf")
    if not isinstance(answer, str) or not answer or type(conf) not in (int, float) or not 0 <= conf <= 1:
        return None
    return Known(str(message.data["skill_id"]), answer, float(conf))
