"""What the assistant said last, once more."""

from hark.builtin.skills.repeat.skill import RepeatSkill

__all__ = ["RepeatSkill"]
