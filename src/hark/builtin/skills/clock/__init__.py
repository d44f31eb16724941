"""Time and date, here and in other places."""

from hark.builtin.skills.clock.skill import ClockSkill

__all__ = ["ClockSkill"]
