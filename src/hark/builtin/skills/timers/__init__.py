"""Timers, alarms and reminders."""

from hark.builtin.skills.timers.skill import TimersSkill

__all__ = ["TimersSkill"]
