"""Words letter by letter."""

from hark.builtin.skills.spelling.skill import SpellingSkill

__all__ = ["SpellingSkill"]
