"""Telling what can be said."""

from hark.builtin.skills.help.skill import HelpSkill

__all__ = ["HelpSkill"]
