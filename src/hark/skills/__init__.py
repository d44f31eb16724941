"""The skill author's kit."""

from hark.skills.errors import MalformedIntent
from hark.skills.intent import intent
from hark.skills.keywords import keywords
from hark.skills.skill import Skill

__all__ = ["MalformedIntent", "Skill", "intent", "keywords"]
