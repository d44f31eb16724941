"""What several matchers have in common: denied skills, answers to polls, how many words a claim explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hark.intents import words
from hark.plugins import Match, Message, Round, Session
from hark.spec import dispatch_topic


def is_denied(session: Session, skill_id: str, intent_name: str, round: Round | None = None) -> bool:
    """Whether the session, or in `round` the deployment, denies the skill or this intent of it."""
    topic = dispatch_topic(skill_id, intent_name)
    return is_denied_skill(session, skill_id, round) or topic in denied(session, "blacklisted_intents", round)


def is_denied_skill(session: Session, skill_id: str, round: Round | None = None) -> bool:
    """Whether the session, or in `round` the deployment, denies the skill."""
    return skill_id in denied(session, "blacklisted_skills", round)


def is_decided(candidates: Sequence[str], answers: Mapping[str, Message]) -> bool:
    """Whether the answers are enough: a skill accepts and all before it have answered, or all have answered."""
    for candidate in candidates:
        answer = answers.get(candidate)
        if answer is None:
            return False
        if accepts(answer):
            return True
    return True


def accepts(answer: Message) -> bool:
    """Whether a skill accepts; anything but `true` is a no. OVOS skills write `result` instead of `can_handle`."""
    data = answer.data
    return (data["can_handle"] if "can_handle" in data else data.get("result")) is True


def willing(answers: Sequence[Message]) -> list[str]:
    """The skills that accept, in the order of the answers."""
    return [str(answer.data["skill_id"]) for answer in answers if accepts(answer)]


def denied(session: Session, field: str, round: Round | None) -> Sequence[str]:
    own: Sequence[str] = session.get(field) or ()
    return own if round is None else (*own, *round.denied.get(field, ()))


def explained_words(match: Match, lang: str) -> int:
    """The words of the utterance that are in no slot: those of the intent's own sentence."""
    filled = sum(len(words(value, lang)) for slot, value in match.slots.items() if "." not in slot)
    return len(words(match.utterance, lang)) - filled
