"""Which day a date is, and how long it is until then."""

from hark.builtin.skills.dates.skill import DatesSkill

__all__ = ["DatesSkill"]
