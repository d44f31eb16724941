"""The skill author's kit."""

from hark.plugins.schedules import scheduled
from hark.skills.decorators import MalformedIntent, intent, keywords
from hark.skills.skill import Skill

__all__ = ["MalformedIntent", "Skill", "intent", "keywords", "scheduled"]
