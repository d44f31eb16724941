"""Examples of what users can say."""

from hark.builtin.skills.help.skill import HelpSkill

__all__ = ["HelpSkill"]
