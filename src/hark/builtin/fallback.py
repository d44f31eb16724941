"""Fallback (FALLBACK-1): offers utterances that nothing matched to the fallback skills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hark.builtin.candidates import is_decided, is_denied, willing
from hark.plugins import Declined, Later, Match, Message, PipelinePlugin, Round, Session
from hark.plugins.pipeline import ANY_LANGUAGE
from hark.spec import DEFAULT_SESSION_ID, is_skill_id, topics


class Fallback(PipelinePlugin):
    """Asks the registered fallback skills, in order of priority, which of them accepts the utterance.

    A pipeline entry may be for some of them: `min` and `max` are the least and greatest priority; `window` is how many
    seconds they have to decide.
    """

    id = "fallback"
    quick = True

    @dataclass(frozen=True)
    class Settings:
        window: float = 0.5
        """Seconds that skills have to decide; skills that ask a model need more."""

    settings: Settings

    def __init__(self) -> None:
        self._registered: dict[str, dict[str, int]] = {}
        """Priorities by session id and skill."""

    async def start(self) -> None:
        self.host.on(topics.FALLBACK_REGISTER, self._register)
        self.host.on((topics.FALLBACK_DEREGISTER, topics.SKILL_DEREGISTER), self._deregister)

    def match(
        self, utterances: Sequence[str], lang: str, session: Session, round: Round | None = None
    ) -> Match | Declined | Later | None:
        """The first skill that accepts the utterance."""
        if round is None or not self._registered:
            return None
        lowest, highest = _whole(round, "min"), _whole(round, "max")
        pool = [one for one in self._pool(session, lowest, highest) if not is_denied(session, one, "fallback", round)]
        if not pool:
            return None
        window = _seconds(round, self.settings.window)
        return Later(lambda: self._ask(round, pool, utterances, lang, window))

    async def _ask(
        self, round: Round, pool: list[str], utterances: Sequence[str], lang: str, window: float
    ) -> Match | Declined:
        said = {"utterances": list(utterances), "lang": lang}
        answers = await round.poll(
            topics.FALLBACK_PING, said, pool, window, enough=lambda so_far: is_decided(pool, so_far)
        )
        for skill_id in willing(answers):
            return Match(skill_id, "fallback", lang, utterances[0])
        return Declined(f"no fallback skill accepts it; asked: {', '.join(pool[:5])}")

    def _pool(self, session: Session, lowest: int | None, highest: int | None) -> list[str]:
        known = dict(self._registered.get(DEFAULT_SESSION_ID, {}))
        if not session.is_default:
            known |= self._registered.get(session.session_id, {})
        order = sorted(known, key=lambda skill_id: (known[skill_id], skill_id))
        preferred = [skill_id for skill_id in dict.fromkeys(session.fallback_handlers or ()) if skill_id in known]
        ranked = [*preferred, *(skill_id for skill_id in order if skill_id not in preferred)]
        return [
            skill_id
            for skill_id in ranked
            if (lowest is None or known[skill_id] >= lowest) and (highest is None or known[skill_id] <= highest)
        ]

    def _register(self, message: Message) -> None:
        skill_id, priority = message.data.get("skill_id"), message.data.get("priority")
        if not isinstance(skill_id, str) or not is_skill_id(skill_id) or type(priority) is not int:
            self.host.log.warning("%s: rejected: skill_id or priority is malformed: %.100r",
                                  message.type, dict(message.data))  # fmt: skip
            return
        sender = message.context.get("skill_id")
        if sender is not None and sender != skill_id:
            self.host.log.debug("%s: sent by %r for %r", message.type, sender, skill_id)
        self._registered.setdefault(message.session_id, {})[skill_id] = priority

    def _deregister(self, message: Message) -> None:
        registered = self._registered.get(message.session_id, {})
        registered.pop(str(message.data.get("skill_id")), None)
        if not registered:
            self._registered.pop(message.session_id, None)

    def known_intents(self, session_id: str) -> list[dict[str, str]]:
        """The registered skills, in the order they are asked."""
        pool = self._pool(Session(session_id), None, None)
        return [{"skill_id": skill_id, "intent_name": "fallback", "lang": ANY_LANGUAGE} for skill_id in pool]


def _whole(round: Round, key: str) -> int | None:
    value = round.config.get(key)
    if value is None or type(value) is int:
        return value
    raise ValueError(f"[pipeline.{round.entry}] {key} is a whole number, not {value!r}")


def _seconds(round: Round, otherwise: float) -> float:
    value = round.config.get("window", otherwise)
    if type(value) in (int, float) and 0 < value < float("inf"):
        return float(value)
    raise ValueError(f"[pipeline.{round.entry}] window is a number of seconds above 0, not {value!r}")
