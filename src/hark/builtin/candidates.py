"""What every matcher that asks candidates has to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hark.plugins import Message, Session
from hark.spec import dispatch_topic


def is_denied(session: Session, skill_id: str, intent_name: str) -> bool:
    """Whether the session denies the skill, or this intent of it."""
    topic = dispatch_topic(skill_id, intent_name)
    return skill_id in (session.blacklisted_skills or ()) or topic in (session.blacklisted_intents or ())


def is_decided(candidates: Sequence[str], answers: Mapping[str, Message]) -> bool:
    """Whether a candidate wants it that nobody who is still to answer outranks, or all have answered."""
    for candidate in candidates:
        answer = answers.get(candidate)
        if answer is None:
            return False
        if answer.data.get("can_handle") is True:
            return True
    return True


def willing(answers: Sequence[Message]) -> list[str]:
    """Those who want it, in the order of the answers; anything but `true` is a no."""
    return [str(answer.data["skill_id"]) for answer in answers if answer.data.get("can_handle") is True]
