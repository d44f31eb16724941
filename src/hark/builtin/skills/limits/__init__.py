"""What the assistant cannot do, and what would make it possible."""

from hark.builtin.skills.limits.skill import LimitsSkill

__all__ = ["LimitsSkill"]
