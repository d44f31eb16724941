"""Greetings, thanks, and questions about the assistant itself."""

from hark.builtin.skills.smalltalk.skill import SmallTalkSkill

__all__ = ["SmallTalkSkill"]
