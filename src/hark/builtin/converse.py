"""Converse (CONVERSE-1): answers go to the skill that asked; other utterances are offered to the skills used lately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from hark.builtin.candidates import is_decided, is_denied, willing
from hark.model import converse
from hark.model.session_codec import Handlers
from hark.plugins import Declined, Later, Match, Message, PipelinePlugin, Round, Session
from hark.plugins.pipeline import ANY_LANGUAGE
from hark.spec import topics

_UNANSWERED: Final = 3
"""Polls in a row that a skill may leave unanswered; then it is not waited for. OVOS skills that do not converse do."""
_ASK_AGAIN: Final = 300.0
"""Seconds until it is waited for again."""
_REMEMBERED: Final = 1_000


class Converse(PipelinePlugin):
    """Delivers answers and runs the converse poll (CONVERSE-1 §4). It matches for skills and handles nothing itself."""

    id = "converse"
    quick = True

    @dataclass(frozen=True)
    class Settings:
        window: float = 0.5
        """Seconds that skills have to say whether they accept the utterance."""

    settings: Settings

    def __init__(self) -> None:
        self.silent: set[str] = set()
        """Skills that listed their capabilities, and converse is none: they are not asked."""
        self._unanswered: dict[str, tuple[int, float]] = {}
        """How many polls in a row a skill has not answered, and when it did not last."""

    async def start(self) -> None:
        self.host.on(topics.SKILL_LOADED, self._loaded)
        self.host.on(topics.CONVERSE_PONG, self._answered)

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined | Later | None:
        """The skill that waits for an answer, else the most recent skill that accepts the utterance."""
        if not session.converse_handlers:
            return None
        now = self.host.clock.wall()
        handlers = converse.by_recency(session.converse_handlers)  # without those whose time is over
        waiting = converse.waiting_skill(session, now)
        if waiting is not None:
            if any(one.skill_id == waiting for one in handlers) and not is_denied(session, waiting, "response", round):
                closed = session.without("response_mode")
                return Match(waiting, "response", lang, utterances[0], updated_session=closed)
            self.host.log.warning("%s waits for an answer but may not receive it in this session", waiting)
        candidates = [one.skill_id for one in handlers if one.skill_id not in self.silent]
        candidates = [one for one in candidates if not is_denied(session, one, "converse", round)]
        if not candidates or round is None:
            return Declined("no skill used lately converses")
        awaited = [one for one in candidates if self._is_awaited(one)] if self._unanswered else candidates
        if not awaited:
            return Declined(f"the skills used lately do not answer: {', '.join(candidates[:5])}")
        return Later(lambda: self._ask(round, candidates, awaited, handlers, utterances, lang, session))

    async def _ask(
        self,
        round: Round,
        candidates: list[str],
        awaited: list[str],
        handlers: Handlers,
        utterances: Sequence[str],
        lang: str,
        session: Session,
    ) -> Match | Declined:
        answers = await round.poll(
            topics.CONVERSE_PING,
            {"utterances": list(utterances), "lang": lang},
            candidates,
            self.settings.window,
            enough=lambda so_far: is_decided(awaited, so_far),
        )
        if not willing(answers):  # the whole window has passed for those that did not answer
            self._count(set(awaited).difference(str(one.data["skill_id"]) for one in answers))
        return self._claim(answers, handlers, lang, utterances[0], session)

    def _claim(
        self, answers: list[Message], handlers: Handlers, lang: str, utterance: str, session: Session
    ) -> Match | Declined:
        claimed = willing(answers)
        if not claimed:
            return Declined(f"no skill accepts it: {_listed(answers)}")
        leaving = {str(one.data["skill_id"]) for one in answers if one.data.get("error_code") == "done"} - {claimed[0]}
        updated = session
        if leaving:
            updated = updated.trusted(converse_handlers=tuple(one for one in handlers if one.skill_id not in leaving))
        if session.response_mode is not None:
            updated = updated.without("response_mode")  # the skill that asked is gone
        changed = None if updated is session else updated
        return Match(claimed[0], "converse", lang, utterance, updated_session=changed)

    def _is_awaited(self, skill_id: str) -> bool:
        times, last = self._unanswered.get(skill_id, (0, 0.0))
        return times < _UNANSWERED or self.host.clock.monotonic() - last >= _ASK_AGAIN

    def _count(self, silent: set[str]) -> None:
        for skill_id in silent:
            times = self._unanswered.pop(skill_id, (0, 0.0))[0]
            self._unanswered[skill_id] = times + 1, self.host.clock.monotonic()
        while len(self._unanswered) > _REMEMBERED:
            del self._unanswered[next(iter(self._unanswered))]

    def _answered(self, message: Message) -> None:
        if self._unanswered:
            self._unanswered.pop(str(message.data.get("skill_id")), None)

    def _loaded(self, message: Message) -> None:
        skill_id, capabilities = message.data.get("skill_id"), message.data.get("capabilities")
        if isinstance(skill_id, str):
            self._unanswered.pop(skill_id, None)
        if not isinstance(skill_id, str) or not isinstance(capabilities, tuple):
            return
        if "converse" in capabilities or not capabilities:
            self.silent.discard(skill_id)  # a skill that lists no capabilities may still converse
        else:
            self.silent.add(skill_id)

    def known_intents(self, session_id: str) -> list[dict[str, str]]:  # noqa: ARG002 - the same for all
        """Whose they are is decided when something is said."""
        return [{"skill_id": self.id, "intent_name": name, "lang": ANY_LANGUAGE} for name in ("converse", "response")]


def _listed(answers: list[Message]) -> str:
    listed: list[Any] = [f"{one.data['skill_id']} ({one.data.get('error_code', 'no')})" for one in answers[:5]]
    return ", ".join(listed) or "no answer"
