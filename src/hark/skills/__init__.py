"""The skill author's kit."""

from hark.skills.intent import MalformedIntent, intent
from hark.skills.skill import Skill

__all__ = ["MalformedIntent", "Skill", "intent"]
